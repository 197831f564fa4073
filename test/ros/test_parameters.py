# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""The parameters on a real node: declared, described, checked at start and at run time."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip('rclpy')

from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import DescribeParameters, SetParametersAtomically
from rclpy.parameter import Parameter

from memory_node.config import Config, NodeConfig
from memory_node.errors import InvalidValueError
from memory_node.ros import parameters
from memory_node.ros.parameters import ROWS

MakeNode = Callable[..., Any]
FLOATS = [name for name, row in ROWS.items() if isinstance(row.default, float)]


@pytest.fixture
def declared(make_node: MakeNode) -> MakeNode:
    """Make a node with the parameters declared, given overrides."""

    def make(overrides: dict[str, Any] | None = None, **more: Any) -> Any:
        node = make_node('spatial_memory', overrides, **more)
        parameters.declare(node)
        return node

    return make


def put(node: Any, name: str, value: Any) -> Any:
    [result] = node.set_parameters([Parameter(name, value=value)])
    return result


def test_defaults_are_those_of_the_table(declared: MakeNode) -> None:
    assert parameters.read(declared()) == (Config(), NodeConfig())


def test_every_parameter_is_described(declared: MakeNode) -> None:
    node = declared()
    for name, row in ROWS.items():
        described = node.describe_parameter(name)
        assert row.meaning in described.description
        assert not row.unit or f'[{row.unit}]' in described.description
        assert described.additional_constraints == row.expected()
        assert described.read_only is row.read_only


def test_c39_whole_numbers_are_accepted_for_decimals(declared: MakeNode) -> None:
    config, _ = parameters.read(declared({'near_m': 1, 'merge_score': 1}))
    assert (config.near_m, config.merge_score) == (1.0, 1.0)
    assert isinstance(config.near_m, float)


@pytest.mark.parametrize(
    ('name', 'value', 'expected'),
    [
        ('merge_score', '1', 'a number from 0 to 1'),
        ('merge_score', True, 'a number from 0 to 1'),
        ('merge_score', math.nan, 'a number from 0 to 1'),
        ('merge_score', -1.0, 'a number from 0 to 1'),
        ('near_m', [1.0, 2.0], 'a number from 0 to 100 [m]'),
        ('confirm_looks', 2.5, 'a whole number from 1 to 100'),
        ('confirm_looks', 0, 'a whole number from 1 to 100'),
        ('durability', 'forever', 'one of process, power'),
        ('autostart', 'yes', 'true or false'),
        ('map_frame', 3, 'a string'),
        ('ignored_labels', 'wall', 'a list of strings'),
        ('ignored_labels', [1, 2], 'a list of strings'),
    ],
)
def test_c39_a_wrong_value_at_start_is_refused_by_name(
    declared: MakeNode, name: str, value: Any, expected: str
) -> None:
    with pytest.raises(InvalidValueError) as error:
        parameters.read(declared({name: value}))
    assert name in str(error.value)
    assert expected in str(error.value)


def test_c39_values_at_start_must_fit_each_other(declared: MakeNode) -> None:
    with pytest.raises(InvalidValueError, match='expected a sum of 1'):
        parameters.read(declared({'label_weight': 0.5}))


@pytest.mark.parametrize(
    ('value', 'accepted'), [(2, True), (0.5, True), (-1.0, False), (math.nan, False), ('a', False)]
)
def test_c39_values_at_run_time(declared: MakeNode, value: Any, accepted: bool) -> None:
    node = declared()
    seen: list[tuple[Config, NodeConfig]] = []
    parameters.on_change(node, lambda config, node_config: seen.append((config, node_config)))
    result = put(node, 'near_m', value)
    assert result.successful is accepted
    if accepted:
        [(config, node_config)] = seen
        assert (config.near_m, node_config) == (float(value), NodeConfig())
        assert node.get_parameter('near_m').type_ == Parameter.Type.DOUBLE
    else:
        assert result.reason == f'near_m: got {value!r}, expected a number from 0 to 100 [m]'
        assert not seen
        assert parameters.read(node)[0] == Config()


def test_weights_change_together_or_not_at_all(declared: MakeNode) -> None:
    node = declared()
    parameters.on_change(node, lambda *_: None)
    result = put(node, 'label_weight', 0.2)
    assert not result.successful
    assert 'expected a sum of 1; values that hang together are set together' in result.reason
    together = [Parameter('label_weight', value=0.2), Parameter('feature_weight', value=0.4)]
    assert node.set_parameters_atomically(together).successful
    assert parameters.read(node)[0].feature_weight == 0.4


def test_what_is_read_only_stays(declared: MakeNode) -> None:
    node = declared({'durability': 'power'})
    parameters.on_change(node, lambda *_: None)
    result = put(node, 'durability', 'process')
    assert not result.successful
    assert 'durability' in result.reason
    assert parameters.read(node)[0].durability == 'power'


def test_no_parameter_can_be_taken_away(declared: MakeNode) -> None:
    node = declared()
    parameters.on_change(node, lambda *_: None)
    for name in ROWS:
        node.set_parameters([Parameter(name, Parameter.Type.NOT_SET, None)])
    assert parameters.read(node) == (Config(), NodeConfig())


def test_lists_of_labels(declared: MakeNode) -> None:
    node = declared({'ignored_labels': ['wall', 'floor']})
    parameters.on_change(node, lambda *_: None)
    assert parameters.read(node)[0].ignored_labels == ('wall', 'floor')
    assert put(node, 'ignored_labels', []).successful  # rclpy takes this for a list of bytes
    assert parameters.read(node)[0].ignored_labels == ()
    assert put(node, 'ignored_labels', ['tree']).successful
    assert not put(node, 'ignored_labels', [1.5]).successful
    assert parameters.read(node)[0].ignored_labels == ('tree',)
    assert declared().get_parameter('ignored_labels').type_ == Parameter.Type.STRING_ARRAY


def test_parameters_of_others_pass(declared: MakeNode) -> None:
    node = declared()
    seen: list[Any] = []
    parameters.on_change(node, lambda *both: seen.append(both))
    node.declare_parameter('of_another', 1)
    assert put(node, 'of_another', 2).successful
    assert put(node, 'use_sim_time', True).successful
    assert not seen


@pytest.mark.parametrize('namespace', ['', 'robot1'])
def test_c39_a_parameter_file(declared: MakeNode, tmp_path: Path, namespace: str) -> None:
    path = tmp_path / 'memory.yaml'
    path.write_text(
        '/**:\n  ros__parameters:\n    near_m: 1\n    ignored_labels: []\n    database: "~/a.db"\n'
    )
    node = declared(namespace=namespace, cli_args=['--ros-args', '--params-file', str(path)])
    config, node_config = parameters.read(node)
    assert (config.near_m, config.ignored_labels) == (1.0, ())
    assert node_config.database == '~/a.db'


def test_the_shipped_file_holds_the_defaults(declared: MakeNode) -> None:
    path = Path(__file__).parents[2] / 'config' / 'memory.yaml'
    node = declared(cli_args=['--ros-args', '--params-file', str(path)])
    assert parameters.read(node) == (Config(), NodeConfig())
    assert set(node._parameter_overrides) == set(ROWS)


def test_over_the_services(
    declared: MakeNode, make_node: MakeNode, spin_until: Callable[..., bool]
) -> None:
    node, asking = declared(), make_node('asking')
    seen: list[Config] = []
    parameters.on_change(node, lambda config, _: seen.append(config))
    describe = asking.create_client(DescribeParameters, '/spatial_memory/describe_parameters')
    change = asking.create_client(
        SetParametersAtomically, '/spatial_memory/set_parameters_atomically'
    )
    assert spin_until(lambda: describe.service_is_ready() and change.service_is_ready())
    described = describe.call_async(DescribeParameters.Request(names=FLOATS))
    assert spin_until(described.done)
    types = {d.type for d in described.result().descriptors}
    assert types == {ParameterType.PARAMETER_DOUBLE}
    for value, accepted in ((1, True), (-1, False)):
        request = SetParametersAtomically.Request()
        request.parameters = [Parameter('near_m', value=value).to_parameter_msg()]
        changed = change.call_async(request)
        assert spin_until(changed.done)
        assert changed.result().result.successful is accepted
    assert [config.near_m for config in seen] == [1.0]
