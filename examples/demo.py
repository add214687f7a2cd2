"""A drill is tuned in 60 trials of which 6 may fail, live in the terminal: `make run`.

    python examples/demo.py [--seed N] [--out FOLDER]

Seconds a hole are minimised over spindle speed, feed and pecks; torque and temperature have limits, and in a
band of resonance the bit breaks with no measurement at all. A search that knows no budget runs beside it.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from tumble import Failure, Optimizer, Outcome, Trial, plots

Array = NDArray[np.float64]

TRIALS, FAILURES = 60, 6
NAMES = ("speed", "feed", "pecks")
UNITS = ("rpm", "mm/rev", "a hole")
BOUNDS = np.array([[500.0, 4000.0], [0.05, 0.40], [1.0, 6.0]])
START = np.array([900.0, 0.08, 3.0])  # a setting known to work
CONSTRAINTS = ("torque - 12 N m", "temperature - 80 °C")


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
    """One search from the known setting; ``live`` prints every trial with what was asked for."""
    opt = Optimizer(BOUNDS, trials, FAILURES if method == "tumble" else None, CONSTRAINTS, seed, method)
    first = drill(START)
    opt.tell(START, first.value, constraints=first.constraints, billed=False)
    while opt.trials_left:
        suggestion = opt.ask()
        try:
            outcome = drill(suggestion.x)
            trial = opt.tell(suggestion, outcome.value, constraints=outcome.constraints)
        except Failure as failure:
            trial = opt.tell(suggestion, failed=True, reason=failure.reason)
        if live:
            print(line(trial, opt), flush=True)
    return opt


def line(trial: Trial, opt: Optimizer) -> str:
    """One trial in one line: where, what was asked for, what came of it, and the budget."""
    assert trial.suggestion is not None
    mark = "✗" if trial.failed else "✓"
    where = f"{trial.x[0]:6.0f} rpm {trial.x[1]:5.3f} mm {trial.x[2]:4.1f} pecks"
    asked = f"{trial.suggestion.mode:7} P(safe) {trial.suggestion.p_safe:6.1%}"
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
    return "\n".join([
        f"best safe setting   {setting}: {best.value:.2f} s a hole (trial {best.number})",
        f"recommended         {recommended.mean:.2f} ± {recommended.std:.2g} s, "
        f"P(safe) {recommended.p_safe:.2%}",
        f"failures            {ours.n_failures} of {budget} in {ours.max_trials} trials",
        f"without a budget    EIC breaks {other.n_failures} in {other.max_trials} trials for "
        f"{other.best.value:.2f} s; stopped at its failure {budget} (trial {stopped[-1].number}) it had "
        f"{by_then:.2f} s",
    ])  # fmt: skip


def pictures(opt: Optimizer, other: Optimizer, folder: Path) -> list[Path]:
    """Draw the story of the budget and the crossings of Figure 1; returns where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / "budget.png", folder / "crossings.png"]
    for figure, path in zip((story(opt, other), crossings(opt)), paths, strict=True):
        figure.savefig(path, dpi=130)
    return paths


def story(opt: Optimizer, other: Optimizer) -> Figure:
    """Progress and budget of our search, and the failures of both."""
    figure = Figure(figsize=(9, 8), layout="constrained")
    top, middle, bottom = figure.subplots(3, 1, sharex=True)
    plots.draw_progress(top, plots.progress_data(opt), "seconds a hole")
    plots.draw_budget(middle, plots.budget_data(opt))
    both = ((opt, "-", "tumble, which knows its budget"), (other, "--", "EIC, which knows none"))
    for searched, style, name in both:
        billed = [t for t in searched.trials if t.billed]
        failed = np.cumsum([t.failed for t in billed])
        bottom.step([t.number for t in billed], failed, style, where="post", label=name, color="black")
    bottom.axhline(FAILURES, color="black", linewidth=0.8, linestyle=":")
    bottom.set(xlabel="trial", ylabel="failures so far")
    bottom.legend(frameon=False)
    return figure


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
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("out"))
    options = parser.parse_args(arguments)
    print(f"Tuning a drill: at most {TRIALS} trials, at most {FAILURES} failures.\n")
    ours = search("tumble", options.seed, live=True)
    print("\nThe same drill, searched without a budget ...", flush=True)
    other = search("eic", options.seed, live=False)
    print("\n" + summary(ours, other))
    for path in pictures(ours, other, options.out):
        print(f"picture             {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
