"""Figure 1: a posterior from seven observations, and the intensity of crossings of two thresholds (7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..reporting import figures
from ..reporting.page import Assets, Section
from ..runs.plans import Options
from ..runs.records import Line, Spec
from ..runs.statistics import newest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TASK = "experiments.paper.fig1:compute"
SETTINGS = {"kernel": "se", "variance": 1.0, "noise": 1e-3, "grid": 401, "realisations": 2}


def plan(options: Options) -> list[Spec]:
    """One line: the curves themselves."""
    return [Spec("figure1", "xs", 0, 1, settings=SETTINGS, block="figure", task=TASK)]


def compute(spec: Spec) -> dict[str, Any]:
    """Posterior, two realisations and the two intensities on a grid over [0, 1]."""
    from tumble.core.crossings import log_intensity
    from tumble.core.process.covariance import Hyper
    from tumble.core.process.gp import condition
    from tumble.core.process.slopes import slopes_at
    from tumble.problems import figure1

    settings = spec.settings
    observed = figure1.OBSERVED[:, None]
    values = np.array([figure1.wave(x) for x in observed])
    hyper = Hyper((figure1.LENGTHSCALE,), settings["variance"], settings["noise"])
    gp = condition(settings["kernel"], hyper, observed, values)
    grid = np.linspace(0.0, 1.0, settings["grid"])[:, None]
    mean, cov = gp.predict_joint(grid)
    factor = np.linalg.cholesky(cov + 1e-8 * np.eye(len(grid)))
    normal = np.random.default_rng(spec.seed).standard_normal((settings["realisations"], len(grid)))
    intensity = np.exp(log_intensity(slopes_at(gp, grid), np.array(figure1.THRESHOLDS)))
    return {
        "x": grid[:, 0].tolist(),
        "mean": mean.tolist(),
        "std": np.sqrt(np.diag(cov)).tolist(),
        "realisations": (mean + normal @ factor.T).tolist(),
        "intensity": (intensity / intensity.max(axis=0)).T.tolist(),
        "thresholds": list(figure1.THRESHOLDS),
        "observed": [observed[:, 0].tolist(), values.tolist()],
    }


def section(lines: Sequence[Line], assets: Assets) -> Section | None:
    """The figure."""
    latest = newest(lines, TASK)
    if latest is None:
        return None
    caption = (
        "(a) Posterior given seven observations (mean, two standard deviations), two realisations (dashed) "
        "and two thresholds u. (b) Intensity of expected crossings of each threshold, scaled to the same "
        "maximum: near the data for the threshold among them, where the variance is large for the other."
    )
    return Section(
        "Figure 1: crossings of a Gaussian process", [assets.save(figure(latest), "fig1", caption)]
    )


def figure(line: Line) -> Figure:
    """The posterior above, the intensities below."""
    drawing = figures.new_figure(7.0, 5.2)
    top, bottom = drawing.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    x, mean, std = (np.array(line[name]) for name in ("x", "mean", "std"))
    top.fill_between(x, mean - 2 * std, mean + 2 * std, color="#cccccc", linewidth=0, label="mean ± 2 std")
    top.plot(x, mean, color="black", linewidth=1.6)
    for i, path in enumerate(line["realisations"]):
        top.plot(
            x, path, color="#555555", linewidth=1.0, linestyle="--", label="realisation" if i == 0 else None
        )
    top.plot(*line["observed"], "o", color="black", markersize=5, label="observation")
    for u, curve, style in zip(line["thresholds"], line["intensity"], ("-", "-."), strict=True):
        top.axhline(u, color="#0b5394", linestyle=style, linewidth=1.3)
        top.annotate(
            f"u = {u:g}", (1.0, u), xytext=(4, 0), textcoords="offset points", va="center", fontsize=9
        )
        bottom.plot(x, curve, color="#0b5394", linestyle=style, linewidth=1.6, label=f"u = {u:g}")
    figures.finish(top, "$f(x)$", title="(a) posterior")
    figures.finish(bottom, "crossings (largest = 1)", xlabel="$x$", title="(b) $E[N_u(x)]$")
    top.legend(frameon=False, fontsize=8, ncols=3)
    bottom.legend(frameon=False, fontsize=9)
    top.set_xlim(0.0, 1.0)
    return drawing
