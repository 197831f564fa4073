# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""ROS parameters made from the tables in `memory_node.config` and `perception.settings`.

Single values are declared with dynamic typing and checked by the table, at start and at run time
alike: rclpy itself refuses `1` for a decimal, and skips ranges under dynamic typing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.exceptions import InvalidParameterTypeException
from rclpy.node import Node
from rclpy.parameter import Parameter

from memory_node.config import Config, NodeConfig, Tunable, tunables
from memory_node.errors import InvalidValueError
from memory_node.perception.settings import EncoderConfig

ROWS: Mapping[str, Tunable] = {
    row.name: row for cls in (Config, NodeConfig, EncoderConfig) for row in tunables(cls)
}
"""Every parameter of the memory node by its name."""

OnChange = Callable[[Config, NodeConfig], None]


def declare(node: Node, *tables: type) -> None:
    """Declare every parameter with its description; call `read` next, which checks the values.

    Args:
        node: whose they are. tables: configuration classes; none: those of the memory node.

    Raises:
        InvalidValueError: a list was given as something else; names the parameter.
    """
    for row in [row for cls in tables for row in tunables(cls)] or ROWS.values():
        if isinstance(row.default, tuple):
            _declare_list(node, row)
        else:
            node.declare_parameter(row.name, row.default, _descriptor(row, dynamic_typing=True))


def read(node: Node) -> tuple[Config, NodeConfig]:
    """Return what the parameters of the first two tables say at present.

    Raises:
        InvalidValueError: a value of the wrong type or out of range; names the parameter.
    """
    return _configs({name: node.get_parameter(name).value for name in ROWS})


def read_as(node: Node, table: type) -> Any:
    """Return a configuration as the parameters say, of a class that was declared.

    Raises:
        InvalidValueError: a value of the wrong type or out of range; names the parameter.
    """
    return table(**{row.name: node.get_parameter(row.name).value for row in tunables(table)})


def on_change(node: Node, callback: OnChange) -> None:
    """Check parameters that are set at run time, and tell of those that were changed.

    A value that the table or `Config` refuses is refused with what was given and what is expected;
    the old value stays. Whole numbers for decimals are converted.

    Args:
        node: one on which `declare` was called.
        callback: called with everything after a change; it is not called for refused ones.
    """

    def check(parameters: list[Parameter]) -> SetParametersResult:
        given = {p.name: p.value for p in parameters if p.name in ROWS}
        if not given:
            return SetParametersResult(successful=True)
        try:
            for name, value in given.items():
                ROWS[name].checked(value)
        except InvalidValueError as error:
            return SetParametersResult(successful=False, reason=str(error))
        try:
            _configs({n: given.get(n, node.get_parameter(n).value) for n in ROWS})
        except InvalidValueError as error:
            hint = 'values that hang together are set together: set_parameters_atomically'
            return SetParametersResult(successful=False, reason=f'{error}; {hint}')
        return SetParametersResult(successful=True)

    def tell(parameters: list[Parameter]) -> None:
        if any(p.name in ROWS for p in parameters):
            callback(*read(node))

    node.add_pre_set_parameters_callback(lambda parameters: [_retyped(p) for p in parameters])
    node.add_on_set_parameters_callback(check)
    node.add_post_set_parameters_callback(tell)


def _configs(values: Mapping[str, Any]) -> tuple[Config, NodeConfig]:
    return (
        Config(**{row.name: values[row.name] for row in tunables(Config)}),
        NodeConfig(**{row.name: values[row.name] for row in tunables(NodeConfig)}),
    )


def _declare_list(node: Node, row: Tunable) -> None:
    """Declare a list with its type: an empty one has none, neither here nor in YAML."""
    kind = Parameter.Type.STRING_ARRAY
    try:
        declared = node.declare_parameter(row.name, kind, _descriptor(row, read_only=False))
    except InvalidParameterTypeException as error:
        raise InvalidValueError(f'{error}, expected {row.expected()}') from error
    if declared.value is None:
        node.set_parameters([Parameter(row.name, kind, list(row.default))])
    if row.read_only:
        node.set_descriptor(row.name, _descriptor(row, type=kind.value))


def _descriptor(row: Tunable, **more: Any) -> ParameterDescriptor:
    unit = f' [{row.unit}]' if row.unit else ''
    return ParameterDescriptor(
        **{
            'description': f'{row.meaning}{unit}',
            'additional_constraints': row.expected(),
            'read_only': row.read_only,
            **more,
        }
    )


def _retyped(parameter: Parameter) -> Parameter:
    """Return a whole number for a decimal as a decimal, and an empty list as one of strings."""
    row = ROWS.get(parameter.name)
    if row is None:
        return parameter
    value = parameter.value
    if isinstance(row.default, float) and type(value) is int:
        return Parameter(row.name, value=float(value))
    empty = isinstance(value, Sequence) and not isinstance(value, str) and not value
    if isinstance(row.default, tuple) and empty:
        return Parameter(row.name, Parameter.Type.STRING_ARRAY, [])
    return parameter
