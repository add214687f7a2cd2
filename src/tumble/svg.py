"""Small figures as SVG, from plain numbers: they need no other library, and take the colours of the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from .shown import FAILED, NEUTRAL, SAFE, percent

WIDTH, HEIGHT = 560, 210
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 14, 34  # margins; the left one grows with its labels
DIGIT = 7  # width of a digit
BAR, ROW = 300, 20  # length and height of a bar
FAR = 8.0  # values that lie so many times further above the median than the lowest does below it are cut off


@dataclass(frozen=True)
class Point:
    """A trial of a figure: its number, its value where it has one, and whether it failed."""

    number: int
    value: float | None
    failed: bool


def progress(points: Sequence[Point]) -> str:
    """Values over trials: safe ones as dots, failed ones as crosses, and the best safe value as a line.

    A failed trial without a value is a dotted line. A value beyond the figure stands at its edge.
    """
    known = [p.value for p in points if p.value is not None]
    safe = [p.value for p in points if p.value is not None and not p.failed] or known or [0.0, 1.0]
    low, high = _ends(safe)
    last = max([p.number for p in points], default=1)
    first = min([p.number for p in points], default=0)
    labels = {value: f"{value:.12g}" for value in _ticks(low, high, 5)}
    left = max(LEFT, 12 + DIGIT * max(map(len, labels.values()), default=0))
    across = _Axis(first - 0.5, max(last, first + 1) + 0.5, left, WIDTH - RIGHT)
    up = _Axis(low, high, HEIGHT - BOTTOM, TOP)
    parts = [
        *_frame(across, up, labels),
        *_crashes(points, across),
        *_best(points, across, up),
        *_marks(points, across, up),
    ]
    title = f"The values of {len(points)} trials, and the best safe value so far"
    return _svg(WIDTH, HEIGHT, title, parts)


def bars(rows: Sequence[tuple[str, float]], level: float | None) -> str:
    """Probabilities as bars, and the level that was asked for as a line.

    Parameters
    ----------
    rows
        A name and a probability for each bar.
    level
        The level; None for no line.
    """
    start, parts = 120, []
    for k, (name, p) in enumerate(rows):
        y = 4 + k * ROW
        short = name if len(name) <= 16 else name[:15] + "…"
        parts.append(_text(start - 8, y + 12, short, "end"))
        parts.append(f'<rect x="{start}" y="{y}" width="{BAR}" height="14" fill="{NEUTRAL}" opacity="0.12"/>')
        parts.append(f'<rect x="{start}" y="{y}" width="{BAR * p:.1f}" height="14" fill="{SAFE}"/>')
        parts.append(_text(start + BAR + 8, y + 12, percent(p)))
    bottom = 4 + len(rows) * ROW
    if level is not None and level > 0.0:
        x = start + BAR * level
        line = f'x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{bottom}"'
        parts.append(f'<line {line} stroke="{FAILED}" stroke-width="1.5"><title>asked for</title></line>')
    listed = ", ".join(f"{name} {percent(p)}" for name, p in rows)
    return _svg(start + BAR + 90, bottom + 2, f"P(safe): {listed}", parts)


@dataclass(frozen=True)
class _Axis:
    """From values between `low` and `high` to pixels between `start` and `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """The lowest and the highest value that a figure shows."""
    ordered = sorted(values)
    low, middle, high = ordered[0], ordered[len(ordered) // 2], ordered[-1]
    if middle > low:
        high = min(high, middle + FAR * (middle - low))
    room = 0.06 * (high - low) or 0.5 * abs(low) or 0.5
    return low - room, high + room


def _ticks(low: float, high: float, most: int) -> Iterator[float]:
    """Round numbers between two ends."""
    step = 10.0 ** math.floor(math.log10((high - low) / most))
    step *= next(f for f in (1.0, 2.0, 5.0, 10.0) if (high - low) / (f * step) <= most)
    for k in range(math.ceil(low / step), math.floor(high / step) + 1):
        yield k * step


def _frame(across: _Axis, up: _Axis, labels: Mapping[float, str]) -> Iterator[str]:
    for value, label in labels.items():
        y = up.at(value)
        line = f'x1="{across.start}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"'
        yield f'<line {line} stroke="currentColor" opacity="0.15"/>'
        yield _text(across.start - 8, y + 4, label, "end")
    for value in _ticks(across.low, across.high, 8):
        if value == round(value):
            yield _text(across.at(value), HEIGHT - BOTTOM + 16, f"{value:.0f}", "middle")
    yield _text((across.start + across.end) / 2, HEIGHT - 3, "trial", "middle")


def _crashes(points: Sequence[Point], across: _Axis) -> Iterator[str]:
    for p in points:
        if p.failed and p.value is None:
            x = f"{across.at(p.number):.1f}"
            line = f'x1="{x}" x2="{x}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"'
            title = f"<title>trial {p.number}: failed</title>"
            yield f'<line {line} stroke="{FAILED}" stroke-dasharray="2 3">{title}</line>'


def _best(points: Sequence[Point], across: _Axis, up: _Axis) -> Iterator[str]:
    steps: list[str] = []
    best = math.inf
    for p in points:
        if p.value is not None and not p.failed and p.value < best:
            if steps:
                steps.append(f"H {across.at(p.number):.1f}")
            steps.append(f"{'V' if steps else f'M {across.at(p.number):.1f}'} {up.at(p.value):.1f}")
            best = p.value
    if steps:
        path = f"{' '.join(steps)} H {across.at(points[-1].number):.1f}"
        yield f'<path d="{path}" fill="none" stroke="currentColor" opacity="0.6" stroke-width="1.5"/>'


def _marks(points: Sequence[Point], across: _Axis, up: _Axis) -> Iterator[str]:
    for p in points:
        if p.value is None:
            continue
        x, y = across.at(p.number), up.at(p.value)
        title = f"<title>trial {p.number}: {p.value:.6g}{', failed' if p.failed else ''}</title>"
        if p.failed:
            cross = f"M {x - 3.5:.1f} {y - 3.5:.1f} l 7 7 m 0 -7 l -7 7"
            yield f'<path d="{cross}" stroke="{FAILED}" stroke-width="2" fill="none">{title}</path>'
        else:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{SAFE}">{title}</circle>'


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="currentColor">{escape(text)}</text>'


def _svg(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    style = 'style="font: 11px sans-serif; max-width: 100%; height: auto"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} {style}>'
    return f"{head}<title>{escape(title)}</title>{''.join(parts)}</svg>"
