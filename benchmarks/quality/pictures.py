"""The figures of the page: data profiles, and claimed against realised risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .curves import Claim, Profile

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#999999",
    "#000000",
    "#882255",
    "#117733",
)


def draw_profiles(profiles: Mapping[str, Mapping[str, Profile]], path: Path) -> None:
    """One panel for each reading (its title -> method -> profile); each line carries its name at its end."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    panels = figure.subplots(1, len(profiles), sharey=True, squeeze=False)[0]
    top = max(float(p.solved.max()) for methods in profiles.values() for p in methods.values())
    top = min(1.0, np.ceil(10.0 * top + 0.5) / 10.0)
    for panel, (title, methods) in zip(panels, profiles.items(), strict=True):
        ends = _apart([(float(p.solved[-1]), name) for name, p in methods.items()], 0.035 * top)
        for colour, (name, p) in zip(COLOURS, methods.items(), strict=False):
            panel.plot(p.at, p.solved, color=colour, linewidth=2.4 if name == "tumble" else 1.3)
            panel.annotate(name, (1.0, ends[name]), (1.02, ends[name]), color=colour, fontsize=8, va="center",
                           annotation_clip=False)  # fmt: skip
        panel.set(title=title, xlabel="share of the trials", xlim=(0, 1), ylim=(0, top))
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("share of problems and targets solved")
    _save(figure, path)


def draw_claims(claims: Sequence[Claim], path: Path) -> None:
    """Realised against claimed risk on logarithmic axes, with intervals; a colour for each age of a study.

    A ring at the bottom says that none failed.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.6, 4.6), layout="constrained")
    axes = figure.subplots()
    for k, (colour, age) in enumerate(zip(COLOURS, dict.fromkeys(c.age for c in claims), strict=False)):
        label = f"after {age[0]} to {age[1]} trials" if age[1] < 1000 else f"after {age[0]} trials and more"
        for claim in claims:
            if claim.age == age and claim.claimed_risk > 0.0:
                x, share = claim.claimed_risk * ASIDE**k, claim.realised
                axes.plot([x, x], [max(share.low, FLOOR), share.high], color=colour, linewidth=1)
                filled = colour if share.mean > 0.0 else "white"
                axes.plot(x, max(share.mean, FLOOR), "o", markersize=5, color=colour, markerfacecolor=filled)
        axes.plot([], [], "o-", markersize=5, linewidth=1, color=colour, label=label)
    axes.plot([FLOOR, 1], [FLOOR, 1], color="grey", linestyle=":", linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="claimed risk 1 - P(safe)", ylabel="share that failed")
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    _save(figure, path)


ASIDE = 1.12  # points of another age are drawn so far to the right, so that none covers another
FLOOR = 1e-4  # where a share of zero is drawn


def _apart(ends: Sequence[tuple[float, str]], gap: float) -> dict[str, float]:
    """Heights for the names at the ends of lines, so that none covers another."""
    placed: dict[str, float] = {}
    height = -1.0
    for value, name in sorted(ends):
        height = max(value, height + gap)
        placed[name] = height
    return placed


def _save(figure: Figure, path: Path) -> None:
    """Write a figure; the same bytes for the same numbers."""
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "tumble"}):
        figure.savefig(path, metadata={"Date": None})
