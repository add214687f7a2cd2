"""Figures of the manual, drawn while it is built (a hook of MkDocs): the numbers come from tumble itself."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import tumble
from tumble import plots, problems
from tumble.core import budget, minimum
from tumble.core.crossings import log_intensity
from tumble.core.process.covariance import Hyper
from tumble.core.process.gp import condition
from tumble.core.process.slopes import slopes_at
from tumble.problems import figure1

BLUE, ORANGE, GREY = plots.SAFE, plots.FAILED, "#888888"
STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "tumble",
    "savefig.transparent": True,
}
INK = "#d7dae0"
ON_DARK: dict[Any, Any] = dict.fromkeys(
    ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK
)


def _ink() -> Any:
    """The colour of text, which a page in the dark has light."""
    return mpl.rcParams["text.color"]


def _process() -> Any:
    problem = problems.get("figure1")
    y = np.array([e.value for e in problem.initial_evaluations])
    return condition("se", Hyper((figure1.LENGTHSCALE,), 1.0, 0.01), problem.initial, y), y


def crossings() -> Figure:
    """A process, two thresholds, and where each is likely to be crossed (the paper's Figure 1)."""
    gp, y = _process()
    x = np.linspace(0.0, 1.0, 400)[:, None]
    mean, var = gp.predict(x)
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    top.fill_between(x[:, 0], mean - 2 * np.sqrt(var), mean + 2 * np.sqrt(var), color=BLUE, alpha=0.15, lw=0)
    top.plot(x[:, 0], mean, color=BLUE)
    top.plot(gp.X[:, 0], y, "o", color=_ink(), ms=4)
    for u, colour in zip(figure1.THRESHOLDS, (GREY, ORANGE), strict=True):
        top.axhline(u, color=colour, ls="--", lw=1)
        top.annotate(
            f"u = {u:g}", (1.0, u), xytext=(-2, 3), textcoords="offset points", ha="right", color=colour
        )
        intensity = np.exp(log_intensity(slopes_at(gp, x), np.array([u]))[:, 0])
        bottom.plot(x[:, 0], intensity / intensity.max(), color=colour)
    top.set_ylabel("f(x)")
    bottom.set(xlabel="x", ylabel="crossings of u\n(largest = 1)")
    return figure


def minima() -> Figure:
    """Where f* is believed to be: joint draws against the independent grid of the Fréchet law."""
    gp, y = _process()
    grid = np.linspace(0.0, 1.0, 400)[:, None]
    rng = np.random.default_rng(0)
    mean, var = gp.predict(grid)
    laws = {
        "joint draws (default)": minimum.joint(gp, grid, 4000, rng).samples,
        "Fréchet, as printed": minimum.frechet(mean, var, float(y.min()), 4000, rng).samples,
    }
    figure = Figure(figsize=(7.2, 2.6), layout="constrained")
    axes = figure.subplots()
    for (name, samples), colour in zip(laws.items(), (BLUE, ORANGE), strict=True):
        heights, _, _ = axes.hist(samples, bins=80, range=(-5.0, -1.0), density=True, color=colour, alpha=0.5)
        at = -1.4 if name.startswith("joint") else -4.1
        _label(axes, at, float(np.max(heights)) * 0.45, name, colour)
    for value, name, style, offset, align in (
        (float(y.min()), "smallest observation", "-", 4, "left"),
        (problems.get("figure1").f_min, "true minimum", ":", -4, "right"),
    ):
        axes.axvline(value, color=_ink(), ls=style, lw=1)
        axes.annotate(name, (value, 0.95), xycoords=("data", "axes fraction"), xytext=(offset, 0),
                      textcoords="offset points", ha=align, va="top")  # fmt: skip
    axes.set(xlabel="f*", ylabel="density", xlim=(-4.6, -0.5))
    return figure


def _label(axes: Any, x: float, y: float, text: str, colour: Any) -> None:
    """A word beside what it names, in its colour."""
    axes.annotate(text, (x, y), xytext=(5, 0), textcoords="offset points", color=colour)


def controller() -> Figure:
    """What the controller asks for over 40 trials, for three fates."""
    settings = tumble.Settings().for_space(continuous=True, choices=False)
    fates = {
        "nothing fails": (set(), BLUE),
        "failures early": ({0, 1, 2, 3}, ORANGE),
        "failures spread": ({2, 10, 18, 26, 34}, GREY),
    }
    figure = Figure(figsize=(7.2, 2.8), layout="constrained")
    axes = figure.subplots()
    for name, (failing, colour) in fates.items():
        state = budget.start(40, 5, settings)
        asked = []
        for trial in range(40):
            asked.append(budget.required(state, settings))
            state = budget.step(state, trial in failing, settings)
        axes.step(range(40), asked, where="post", color=colour)
        at = {"nothing fails": 14, "failures early": 8, "failures spread": 36}[name]
        _label(axes, at, asked[at] + 0.04, name, colour)
        axes.plot(sorted(failing), [asked[t] for t in sorted(failing)], "x", color=colour)
    axes.axhline(settings.rho_b, color=_ink(), lw=0.8, ls=":")
    axes.annotate("bold below, careful above", (5, settings.rho_b), xytext=(0, 3),
                  textcoords="offset points", fontsize=8)  # fmt: skip
    axes.set(xlabel="trial (× a failure); 40 trials, 5 failures", ylabel="P(safe) asked for", ylim=(0, 1.1))
    axes.set_xlim(-1, 42)
    return figure


@cache
def _searched() -> Any:
    problem = problems.get("gardner-cosine")
    return problem, tumble.minimize(problem, problem.bounds, trials=40, failures=6, seed=1)


def study() -> Figure:
    """A finished search in two dimensions: safe and failed trials over the true safe area."""
    problem, result = _searched()
    side = np.linspace(0.0, 6.0, 200)
    points = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    value = np.array([problem.objective(p) for p in points]).reshape(200, 200)
    assert problem.constraints is not None
    g = np.array([problem.constraints(p)[0] for p in points]).reshape(200, 200)
    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    axes, right = figure.subplots(1, 2)
    axes.contourf(side, side, value, levels=12, cmap="Greys", alpha=0.5)
    axes.contourf(side, side, g, levels=[0.0, 10.0], colors=[ORANGE], alpha=0.2)
    x = np.array([t.x for t in result.trials])
    failed = np.array([t.failed for t in result.trials])
    axes.plot(*x[~failed].T, "o", color=BLUE, ms=4)
    axes.plot(*x[failed].T, "x", color=ORANGE, ms=6)
    axes.plot(*result.x, "*", color=_ink(), ms=11)
    axes.set(xlabel="x₁", ylabel="x₂", aspect="equal")
    words = (("● safe", BLUE), ("× failed", ORANGE), ("★ best safe", _ink()))
    for place, (word, colour) in enumerate(words):
        axes.text(0.36 * place, 1.03, word, color=colour, transform=axes.transAxes)
    best = problem.regret([t.value for t in result.trials], ~failed)
    right.semilogy(np.maximum(best, 1e-6), color=BLUE)
    for trial in np.flatnonzero(failed):
        right.axvline(trial, color=ORANGE, lw=0.8)
    right.set(xlabel="trial (lines: failures)", ylabel="regret of the best safe trial")
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {  # drawn once for a light page and once for a dark one
    "assets/how/crossings.svg": crossings,
    "assets/how/minima.svg": minima,
    "assets/how/controller.svg": controller,
    "assets/how/study.svg": study,
}


def draw(name: str, *, dark: bool = False) -> bytes:
    """The figure of that address as SVG, for a light or for a dark page."""
    buffer = io.BytesIO()
    with mpl.rc_context(STYLE | (ON_DARK if dark else {})):
        FIGURES[name]().savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def for_the_dark(name: str) -> str:
    """The address of the figure for a dark page."""
    return name.replace(".svg", "-dark.svg")


def on_files(files: Any, config: Any) -> Any:
    """Add the figures to the site (MkDocs calls this)."""
    from mkdocs.structure.files import File

    for name in FIGURES:
        files.append(File.generated(config, name, content=draw(name)))
        files.append(File.generated(config, for_the_dark(name), content=draw(name, dark=True)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Show each figure twice, of which the page shows the one that suits it (MkDocs calls this)."""
    for name in FIGURES:
        image = re.compile(rf"!\[([^\]]*)\]\(((?:\.\./)*){re.escape(name)}\)")
        both = rf"![\1](\2{name}#only-light)![\1](\2{for_the_dark(name)}#only-dark)"
        markdown = image.sub(both, markdown)
    return markdown
