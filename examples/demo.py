"""A drill is tuned in at most 60 trials of which 6 may fail, live in the terminal: `make run`.

    python examples/demo.py [--seed N] [--out FOLDER]

Seconds a hole are minimised over spindle speed, feed and pecks; torque and temperature have limits, and in a
band of resonance the bit breaks with no measurement at all. A search that knows no budget runs beside it.
"""

import argparse
import io
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from tumble import BudgetExhausted, Failure, Optimizer, Outcome, Trial, plots
from tumble.shown import percent, safety

Array = NDArray[np.float64]

TRIALS, FAILURES = 60, 6
ENOUGH = 0.05  # seconds a hole: the search ends when the trials left gain less
MOST = 45  # failures that a picture has room for
NAMES = ("speed", "feed", "pecks")
UNITS = ("rpm", "mm/rev", "a hole")
BOUNDS = np.array([[500.0, 4000.0], [0.05, 0.40], [1.0, 6.0]])
START = np.array([900.0, 0.08, 3.0])  # a setting known to work
CONSTRAINTS = ("torque - 12 N m", "temperature - 80 °C")
PRINTED: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
INK = "#d7dae0"
ON_DARK: dict[Any, Any] = {
    "figure.facecolor": "#1e2129", "axes.facecolor": "#1e2129", "savefig.facecolor": "#1e2129",
    "text.color": INK, "axes.edgecolor": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
}  # fmt: skip


def drill(x: Array) -> Outcome:
    """Seconds a hole, with torque and temperature less their limits; raises Failure where the bit breaks."""
    speed, feed, pecks = x
    resonance = abs(speed - 2300.0) / 450.0 + max(0.0, 0.17 - feed) / 0.06
    if resonance < 1.0:
        raise Failure("bit broke")
    clogging = 1.0 + 1.6 * (feed / 0.4) ** 2 / pecks
    seconds = 60.0 * 30.0 / (speed * feed) * (1.0 + 0.02 * pecks**2) + 1.1 * pecks
    torque = 3.0 + 24.0 * feed**0.8 * clogging + 1.2 * np.sin(speed / 310.0)
    temperature = 24.0 + 0.022 * speed**0.93 * (1.0 + 2.2 * feed) * clogging / (1.0 + 0.12 * pecks)
    return Outcome(float(seconds), (float(torque - 12.0), float(temperature - 80.0)))


def search(method: Literal["tumble", "eic"], seed: int, *, live: bool, trials: int = TRIALS) -> Optimizer:
    """One search from the known setting; ``live`` prints every trial with what was asked for.

    With a budget it ends when little is left to gain or no trial may start; the other search can't tell.
    """
    opt = Optimizer(BOUNDS, trials, FAILURES if method == "tumble" else None, CONSTRAINTS, seed, method)
    first = drill(START)
    opt.tell(START, first.value, constraints=first.constraints, billed=False)
    while opt.trials_left and not (method == "tumble" and is_done(opt)):
        try:
            suggestion = opt.ask()
        except BudgetExhausted as end:
            print(end)
            break
        try:
            outcome = drill(suggestion.x)
            trial = opt.tell(suggestion, outcome.value, constraints=outcome.constraints)
        except Failure as failure:
            trial = opt.tell(suggestion, failed=True, reason=failure.reason)
        if live:
            print(line(trial, opt), flush=True)
    return opt


def is_done(opt: Optimizer) -> bool:
    """Whether the trials left gain less than ENOUGH."""
    return opt.gain is not None and opt.gain.bound < ENOUGH


def line(trial: Trial, opt: Optimizer) -> str:
    """One trial in one line: where, what was asked for, what came of it, and the budget."""
    assert trial.suggestion is not None
    mark = "✗" if trial.failed else "✓"
    where = f"{trial.x[0]:6.0f} rpm {trial.x[1]:5.3f} mm {trial.x[2]:4.1f} pecks"
    asked = f"{trial.suggestion.mode:7} P(safe) {percent(trial.suggestion.p_safe):>8}"
    best = "" if opt.best is None else f"best {opt.best.value:5.2f} s"
    came = came_of_it(trial)
    return f"{trial.number:3} {mark} {where}  {asked}  {came:22} {best}  failures left {opt.failures_left}"


def came_of_it(trial: Trial) -> str:
    """The time of a hole, or what went wrong."""
    if trial.crashed:
        return trial.reason
    limits = zip(CONSTRAINTS, trial.constraints, strict=True)
    over = [name.split(" - ")[0] for name, g in limits if g is not None and g > 0]
    return f"{', '.join(over)} too high" if over else f"{trial.value:6.2f} s"


def until_failure(opt: Optimizer, count: int) -> list[Trial]:
    """The trials of a search up to its billed failure number ``count``; all of them where it made fewer."""
    failed = [trial.number for trial in opt.trials if trial.billed and trial.failed]
    last = failed[count - 1] if len(failed) >= count else opt.trials[-1].number
    return [trial for trial in opt.trials if trial.number <= last]


def summary(ours: Optimizer, other: Optimizer, budget: int = FAILURES) -> str:
    """The result, in the user's units, beside the search that knows no budget."""
    best, recommended = ours.best, ours.recommend()
    assert best is not None
    assert other.best is not None
    assert recommended is not None
    stopped = until_failure(other, budget)
    by_then = min((t.value for t in stopped if t.safe and t.value is not None), default=np.nan)
    setting = ", ".join(f"{n} {v:.4g} {u}" for n, v, u in zip(NAMES, best.x, UNITS, strict=True))
    gain = ""
    if ours.trials_left and ours.gain is not None:
        gain = f"; the {ours.trials_left} left gain at most {ours.gain.bound:.2f} s"
    return "\n".join([
        f"best safe setting   {setting}: {best.value:.2f} s a hole (trial {best.number})",
        f"recommended         {recommended.mean:.2f} ± {recommended.std:.2g} s, "
        f"{safety(recommended.p_safe)}",
        f"failures            {ours.n_failures} of {budget} in {ours.n_told - 1} trials{gain}",
        f"without a budget    EIC breaks {other.n_failures} in {other.max_trials} trials for "
        f"{other.best.value:.2f} s; stopped at its failure {budget} (trial {stopped[-1].number}) it had "
        f"{by_then:.2f} s",
    ])  # fmt: skip


def pictures(opt: Optimizer, other: Optimizer, folder: Path) -> list[Path]:
    """Draw the story of the budget, for light and for dark pages, and the crossings of Figure 1."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / name for name in ("budget.png", "budget-dark.png", "crossings.png")]
    with mpl.rc_context(PRINTED):
        story(opt, other).savefig(paths[0], dpi=200)
        crossings(opt).savefig(paths[2], dpi=130)
    with mpl.rc_context(PRINTED | ON_DARK):
        story(opt, other).savefig(paths[1], dpi=200)
    return paths


def story(ours: Optimizer, other: Optimizer) -> Figure:
    """Both searches side by side: what each trial cost, how safe it was, and the failures so far."""
    figure = Figure(figsize=(7.4, 6.0), layout="constrained")
    axes = figure.subplots(3, 2, sharex=True, sharey="row", height_ratios=[3, 2, 2])
    titles = (f"tumble, told that {FAILURES} may fail", "EIC, which can't be told")
    for column, opt, title in zip(axes.T, (ours, other), titles, strict=True):
        column[0].set_title(title, loc="left", fontweight="bold")
        draw_trials(column[0], opt)
        draw_safety(column[1], opt)
        draw_failures(column[2], opt)
        column[2].set_xlabel("trial")
    name_marks(axes[0, 0])
    for row, label in zip(axes, ("seconds a hole", "P(safe)", "failures so far"), strict=True):
        row[0].set_ylabel(label)
    return figure


def name_marks(ax: Axes) -> None:
    """What the marks mean, in their colours."""
    words = (("• safe", plots.SAFE), ("× over a limit", plots.FAILED), ("× bit broke", plots.CRASHED))
    for place, (word, colour) in enumerate(words):
        ax.text(0.98, 0.82 - 0.09 * place, word, color=colour, ha="right", transform=ax.transAxes)


def draw_trials(ax: Axes, opt: Optimizer) -> None:
    """Seconds of each hole, on a logarithmic axis, and the best safe one so far."""
    data = plots.progress_data(opt)
    trials = list(zip(data.number, data.value, data.failed, strict=True))
    safe = [(n, v) for n, v, failed in trials if not failed]
    broke = [(n, v) for n, v, failed in trials if failed and v is not None]
    crashed = [n for n, v, _ in trials if v is None]
    ax.plot(*zip(*safe, strict=True), "o", color=plots.SAFE, ms=3.5, alpha=0.8, mew=0)
    if broke:
        ax.plot(*zip(*broke, strict=True), "x", color=plots.FAILED, ms=5)
    ax.plot(
        crashed, [0.95] * len(crashed), "x", color=plots.CRASHED, ms=5, transform=ax.get_xaxis_transform()
    )
    best = [np.nan if value is None else value for value in data.best]
    ax.step(data.number, best, where="post", color=mpl.rcParams["text.color"], lw=1.4)
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter("")
    ax.set_yticks([10, 20, 50, 100])
    ax.set_ylim(3.0, 110.0)
    ax.annotate(f"best safe {best[-1]:.2f} s", (data.number[-1], best[-1]), xytext=(0, -12),
                textcoords="offset points", ha="right")  # fmt: skip


def draw_safety(ax: Axes, opt: Optimizer) -> None:
    """The P(safe) of each suggestion, and the one that was asked for where a controller asks."""
    asked = [(t.number, t.suggestion, t.failed) for t in opt.trials if t.suggestion is not None]
    for failed, marker, colour in ((False, "o", plots.SAFE), (True, "x", plots.FAILED)):
        shown = [(n, s.p_safe) for n, s, f in asked if f == failed]
        if shown:
            ax.plot(*zip(*shown, strict=True), marker, color=colour, ms=3.5 if marker == "o" else 5, mew=1.2)
    if opt.max_failures is not None:
        numbers, levels = zip(*[(n, s.rho) for n, s, _ in asked], strict=True)
        ax.step(numbers, levels, where="mid", color=mpl.rcParams["text.color"], lw=1.0)
        lowest = int(np.argmin(levels))
        ax.annotate(
            "asked for", (numbers[lowest], levels[lowest]), xytext=(5, -2), textcoords="offset points"
        )
    ax.set(ylim=(-0.04, 1.06), yticks=[0, 0.5, 1])


def draw_failures(ax: Axes, opt: Optimizer) -> None:
    """Failures so far, and the budget."""
    billed = [t for t in opt.trials if t.billed]
    failed = np.cumsum([t.failed for t in billed])
    numbers = [t.number for t in billed]
    ax.axhspan(FAILURES, MOST, color=plots.FAILED, alpha=0.12, lw=0)
    ax.step(numbers, failed, where="post", color=plots.FAILED, lw=1.6)
    ax.annotate(f"{failed[-1]}", (numbers[-1], failed[-1]), xytext=(4, 0), textcoords="offset points",
                va="center", color=plots.FAILED, fontweight="bold", annotation_clip=False)  # fmt: skip
    ax.text(0, MOST - 2, f"more than the {FAILURES} that may fail", va="top", color=plots.FAILED)
    ax.set(ylim=(0, MOST), yticks=[0, FAILURES, 20, 40])


def crossings(opt: Optimizer) -> Figure:
    """Prediction, safety and crossings along each parameter through the best setting."""
    figure = Figure(figsize=(13, 6), layout="constrained")
    columns = figure.subplots(2, len(NAMES), sharex="col").T
    for column, data, name, unit in zip(columns, plots.slices_data(opt), NAMES, UNITS, strict=True):
        named = replace(data, name=f"{name} [{unit}]")
        plots.draw_crossings(column[0], column[1], named, opt.settings.rho_safe, "seconds a hole")
    return figure


def main(arguments: list[str] | None = None) -> int:
    """Search with and without a budget, print both, and draw them."""
    parser = argparse.ArgumentParser(prog="python examples/demo.py", description=__doc__.split("\n\n")[0])
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--out", type=Path, default=Path("out"))
    options = parser.parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal may not know the marks
    print(f"Tuning a drill: at most {TRIALS} trials, at most {FAILURES} failures.")
    print(f"Known beforehand: a safe setting that takes {drill(START).value:.2f} s a hole.\n")
    ours = search("tumble", options.seed, live=True)
    print("\nThe same drill, searched without a budget ...", flush=True)
    other = search("eic", options.seed, live=False)
    print("\n" + summary(ours, other))
    for path in pictures(ours, other, options.out):
        print(f"picture             {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
