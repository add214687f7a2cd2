"""What a notebook shows: sentences, settings and a figure, as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from . import svg
from .shown import FAILED, SAFE

MOST = 12  # parameters that are listed
LEGEND = (
    f'<small><span style="color: {SAFE}">●</span> safe, '
    f'<span style="color: {FAILED}">✕</span> failed, '
    f'<span style="color: {FAILED}">┊</span> failed without a value, line: best safe value so far</small>'
)


def by_name(x: Any) -> dict[str, Any]:
    """A setting by name; the coordinates of an array are called x0, x1, …"""
    return (
        dict(x)
        if isinstance(x, Mapping)
        else {f"x{j}": value for j, value in enumerate(np.atleast_1d(x).tolist())}
    )


def short(value: object) -> str:
    """A value as a reader wants it."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def in_line(x: Any, most: int = 8) -> str:
    """A setting in one line."""
    pairs = [f"{name} = {short(value)}" for name, value in by_name(x).items()]
    rest = f", … {len(pairs) - most} more" if len(pairs) > most else ""
    return ", ".join(pairs[:most]) + rest


def table(x: Any) -> str:
    """A setting as a table."""
    pairs = list(by_name(x).items())
    rows = "".join(
        f'<tr><td style="text-align: left">{escape(name)}</td>'
        f'<td style="text-align: right">{escape(short(value))}</td></tr>'
        for name, value in pairs[:MOST]
    )
    rest = f"<p>… {len(pairs) - MOST} more</p>" if len(pairs) > MOST else ""
    return f"<table>{rows}</table>{rest}"


def search(lines: Iterable[str], points: Sequence[svg.Point], best: Any) -> str:
    """A search: what there is to say, the values over trials, and the best setting.

    Parameters
    ----------
    lines
        Sentences; the first one is the headline.
    points
        The trials that were told.
    best
        The best safe setting; None where there is none.
    """
    head, *others = (escape(line) for line in lines)
    text = f"<p><b>{head}</b></p>" + "".join(f"<p>{line}</p>" for line in others)
    figure = f"{svg.progress(points)}<p>{LEGEND}</p>" if points else ""
    setting = "" if best is None else f"<p>The best safe setting:</p>{table(best)}"
    return f"<div>{text}{figure}{setting}</div>"


def suggestion(sentence: str, x: Any, p_each: Sequence[tuple[str, float]], rho: float) -> str:
    """A suggestion: why, the setting, and P(safe) beside what was asked for.

    Parameters
    ----------
    sentence
        Why it was chosen.
    x
        The setting.
    p_each
        Names and probabilities of safety; the first one is that of all together.
    rho
        The probability that was asked for; NaN where none was.
    """
    known = [(name, p) for name, p in p_each if np.isfinite(p)]
    figure = svg.bars(known, rho) if known else ""
    return f"<div><p>{escape(sentence)}</p>{table(x)}{figure}</div>"
