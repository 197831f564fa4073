# Copyright 2026 The spatial_memory authors
# SPDX-License-Identifier: Apache-2.0

"""Small line charts as SVG, side by side, over a logarithmic x axis; no library needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 300, 200
LEFT, TOP, RIGHT, BOTTOM = 50, 30, 50, 40
COLOURS = ('#0b6e99', '#c2571a', '#4f7f3a')


@dataclass(frozen=True)
class Line:
    """One series of (x, y), named at its last point."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Panel:
    """One chart; its y axis starts at zero, or is logarithmic too."""

    title: str
    lines: Sequence[Line]
    log: bool = False


def figure(panels: Sequence[Panel], x_title: str) -> str:
    """The panels as one SVG document."""
    step = LEFT + WIDTH + RIGHT
    width, height = step * len(panels), TOP + HEIGHT + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="11" fill="#333">',
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    for k, panel in enumerate(panels):
        parts += [f'<g transform="translate({LEFT + k * step} {TOP})">']
        parts += [*_panel(panel, x_title), '</g>']
    return '\n'.join([*parts, '</svg>', ''])


def _panel(panel: Panel, x_title: str) -> list[str]:
    xs = [x for line in panel.lines for x, _ in line.points]
    ys = [y for line in panel.lines for _, y in line.points]
    low, high = math.log10(min(xs)), math.log10(max(xs))
    ticks = _decades(ys) if panel.log else _steps(max(ys))
    bottom, top = _scaled(ticks[0], panel), _scaled(ticks[-1], panel)

    def across(x: float) -> float:
        return WIDTH * (math.log10(x) - low) / ((high - low) or 1.0)

    def down(y: float) -> float:
        return HEIGHT * (1.0 - (_scaled(y, panel) - bottom) / (top - bottom))

    parts = [_text(0, -12, panel.title, 'start', 'font-weight="bold"')]
    for y in ticks:
        parts.append(f'<path d="M0 {down(y):.1f}H{WIDTH}" stroke="#ddd"/>')
        parts.append(_text(-6, down(y) + 4, f'{y:,g}', 'end'))
    for x in sorted(set(xs)):
        parts.append(_text(across(x), HEIGHT + 16, f'{x:,g}', 'middle'))
    parts.append(_text(WIDTH / 2, HEIGHT + 32, x_title, 'middle'))
    for line, colour in zip(panel.lines, COLOURS):
        at = [(across(x), down(y)) for x, y in sorted(line.points)]
        path = 'L'.join(f'{x:.1f} {y:.1f}' for x, y in at)
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in at]
        parts.append(_text(at[-1][0] + 8, at[-1][1] + 4, line.name, 'start', f'fill="{colour}"'))
    return parts


def _scaled(y: float, panel: Panel) -> float:
    return math.log10(y) if panel.log else y


def _decades(values: Sequence[float]) -> list[float]:
    """Powers of ten around the values, at least two."""
    first = math.floor(math.log10(min(values)))
    last = max(first + 1, math.ceil(math.log10(max(values))))
    return [10.0**k for k in range(first, last + 1)]


def _steps(largest: float) -> list[float]:
    """Zero to just above the largest, in four to eight round steps."""
    size = 10.0 ** math.floor(math.log10(largest))
    step = next(s * size for s in (0.2, 0.5, 1.0, 2.0) if largest / (s * size) <= 8)
    return [step * k for k in range(math.ceil(largest / step) + 1)]


def _text(x: float, y: float, words: str, anchor: str, more: str = '') -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{escape(words)}</text>'
