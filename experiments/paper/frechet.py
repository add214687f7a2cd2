"""App. B: samples of f* from a Gumbel and a Fréchet law, and how many lie above η, the best observation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..reporting import figures
from ..reporting.page import Assets, Section, Table
from ..runs.plans import Options
from ..runs.records import Line, Spec
from ..runs.statistics import mean_and_std, newest
from . import printed as paper

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TASK = "experiments.paper.frechet:compute"
# App. B: unit variance, 20 observations of the prior, 200 points, 100 posteriors; App. E's lengthscale.
SETTINGS = {"kernel": "se", "lengthscale": 0.1, "variance": 1.0, "noise": 1e-3, "observations": 20,
            "grid": 200, "posteriors": 100, "samples": 1000}  # fmt: skip


def plan(options: Options) -> list[Spec]:
    """One line: 100 posteriors."""
    return [Spec("figure1", "xs", options.seed_base, 1, settings=SETTINGS, block="figure", task=TASK)]


def compute(spec: Spec) -> dict[str, Any]:
    """Shares of samples above η over the posteriors, fallbacks, and one posterior in full for the figure."""
    posteriors = [_posterior(spec, index) for index in range(spec.settings["posteriors"])]
    fitted = [p for p in posteriors if not p["gumbel_fallback"]]
    both = [p for p in fitted if not p["frechet_fallback"]]
    seen = [p for p in both if p["gumbel_above"] > 1.0] or both  # a Gumbel that is seen above η
    example = max(seen, key=lambda p: p["eta"] - p["levels"][0])
    return {
        "gumbel_above": [p["gumbel_above"] for p in fitted],
        "frechet_above": [p["frechet_above"] for p in posteriors],
        "gumbel_fallbacks": len(posteriors) - len(fitted),
        "frechet_fallbacks": sum(bool(p["frechet_fallback"]) for p in posteriors),
        "frechet_lowest": min(p["frechet_lowest"] for p in posteriors),
        "example": {name: example[name] for name in _DRAWN},
    }


_DRAWN = ("x", "mean", "std", "eta", "observed", "gumbel", "frechet", "levels", "survival")


def _posterior(spec: Spec, index: int) -> dict[str, Any]:
    from tumble.core import minimum
    from tumble.core.process.covariance import Hyper
    from tumble.core.process.gp import condition

    s, rng = spec.settings, np.random.default_rng([spec.seed, index])
    hyper = Hyper((s["lengthscale"],), s["variance"], s["noise"])
    points = rng.random((s["observations"], 1))
    prior = np.exp(-0.5 * ((points - points.T) / s["lengthscale"]) ** 2) + 1e-8 * np.eye(len(points))
    values = np.linalg.cholesky(prior) @ rng.standard_normal(len(points))
    gp = condition(s["kernel"], hyper, points, values)
    grid = np.linspace(0.0, 1.0, s["grid"])[:, None]
    mean, var = gp.predict(grid)
    eta = float(values.min())
    gumbel = minimum.gumbel(mean, var, eta, s["samples"], rng)
    frechet = minimum.frechet(mean, var, eta, s["samples"], rng)
    low = float(np.quantile(frechet.samples, 0.03))
    levels = np.linspace(low, eta + 0.25 * (eta - low), 120)
    return {
        "gumbel_above": float(100.0 * np.mean(gumbel.samples > eta)),
        "frechet_above": float(100.0 * np.mean(frechet.samples > eta)),
        "gumbel_fallback": gumbel.fallback,
        "frechet_fallback": frechet.fallback,
        "frechet_lowest": float(frechet.samples.min()),
        "x": grid[:, 0].tolist(),
        "mean": mean.tolist(),
        "std": np.sqrt(var).tolist(),
        "eta": eta,
        "observed": [points[:, 0].tolist(), values.tolist()],
        "gumbel": np.sort(gumbel.samples)[::20].tolist(),
        "frechet": np.sort(frechet.samples)[::20].tolist(),
        "levels": levels.tolist(),
        "survival": {
            name: [float(np.mean(found.samples >= level)) for level in levels]
            for name, found in (("gumbel", gumbel), ("frechet", frechet))
        },
    }


def section(lines: Sequence[Line], assets: Assets) -> Section | None:
    """The share above η beside the paper's, and the figure."""
    line = newest(lines, TASK)
    if line is None:
        return None
    gumbel, frechet = np.array(line["gumbel_above"]), np.array(line["frechet_above"])
    rows = [
        ["Gumbel", mean_and_std(gumbel, "{:.2f}".format), "{:.2f} ± {:.2f}".format(*paper.GUMBEL_ABOVE),
         str(line["gumbel_fallbacks"])],
        ["Fréchet", mean_and_std(frechet, "{:.2f}".format), f"{paper.FRECHET_ABOVE:.2f}",
         str(line["frechet_fallbacks"])],
    ]  # fmt: skip
    header = (
        "law of f*",
        "samples above η in %",
        "paper",
        "posteriors in which the fit is degenerate, of 100",
    )
    caption = (
        "A posterior from 20 observations (mean, two standard deviations, η dashed), and below it the "
        "survival functions Pr(f* >= a) of both laws with samples: Gumbel (crosses) reaches above η, Fréchet "
        "(circles) never. Fréchet's samples end at the lowest level that the grid of points allows."
    )
    return Section(
        "Appendix B: Fréchet or Gumbel",
        [Table("100 posteriors of one-dimensional processes", header, rows),
         assets.save(figure(line["example"]), "frechet", caption)],
    )  # fmt: skip


def figure(example: dict[str, Any]) -> Figure:
    """The posterior above, the survival functions below."""
    drawing = figures.new_figure(7.0, 5.2)
    top, bottom = drawing.subplots(2, 1, height_ratios=(3, 2))
    x, mean, std = (np.array(example[name]) for name in ("x", "mean", "std"))
    eta = example["eta"]
    top.fill_between(x, mean - 2 * std, mean + 2 * std, color="#cccccc", linewidth=0, label="mean ± 2 std")
    top.plot(x, mean, color="black", linewidth=1.5)
    top.plot(*example["observed"], "o", color="black", markersize=4, label="observation")
    top.axhline(eta, color="#a61c00", linestyle="--", linewidth=1.2, label="η")
    figures.finish(top, "$f(x)$", xlabel="$x$", title="posterior")
    top.legend(frameon=False, fontsize=8, ncols=3)
    survival = example["survival"]
    levels = example["levels"][1:]  # the first has all samples beyond the grid's lowest level on it
    for name, label, style, marker in (("gumbel", "Gumbel", "--", "x"), ("frechet", "Fréchet", "-", "o")):
        bottom.plot(levels, survival[name][1:], color="black", linestyle=style, linewidth=1.4, label=label)
        samples = np.array(example[name])
        heights = np.full(len(samples), -0.08 if name == "gumbel" else -0.18)
        bottom.plot(
            samples, heights, marker, color="black", markersize=4, markerfacecolor="white", linestyle=""
        )
    bottom.axvline(eta, color="#a61c00", linestyle="--", linewidth=1.2)
    bottom.set_xlim(levels[0], levels[-1])
    figures.finish(bottom, "$Pr(f_* \\geq a)$", xlabel="$a$")
    bottom.legend(frameon=False, fontsize=9)
    return drawing
