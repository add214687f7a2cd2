"""What tumble promises, measured: python -m benchmarks.acceptance {xs,xsf,hartmann,starts,inmodel,cap,foils}

Defaults were chosen on seeds 0-99; these commands report on seeds 1000 and up, once. Each run is a JSON line
under ``--out``, so that a killed command goes on where it stopped; lines of other settings or another version
of the code are never mixed in. ``--set grid=512`` tries other settings.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from experiments.runs import machine

machine.one_thread_each()

import numpy as np  # noqa: E402

from experiments.runs import methods, pool, statistics  # noqa: E402
from experiments.runs.records import Line, Spec  # noqa: E402
from experiments.runs.statistics import Cell  # noqa: E402
from experiments.runs.store import Store  # noqa: E402

from .cap import CLASSES, cap  # noqa: E402
from .command import Command  # noqa: E402
from .tables import number, table, verdict  # noqa: E402

FOILS: dict[str, dict[str, Any]] = {
    "ρ = 0.5": {"rho_0": 0.5, "rho_risk": 0.5, "rho_safe": 0.5, "rho_b": 0.4},
    "ρ = 0.9": {"rho_0": 0.9, "rho_risk": 0.9, "rho_safe": 0.9},
    "ρ = 0.99": {"rho_0": 0.99, "rho_risk": 0.99, "rho_safe": 0.99},
}


def xs(command: Command) -> list[str]:
    """Unconstrained quality: Hartmann 6D and Michalewicz 10D, T = 100: Xs, as printed, and method=None."""
    families, rows = ("hartmann6", "michalewicz10"), (("xs", "default"), ("xs", "paper"), ("ei", "default"))
    specs = [
        command.spec(family, method, seed, block)
        for seed in command.seed_range(40)
        for family in families
        for method, block in rows
    ]
    specs += command.peer_specs(families, 40)
    found = statistics.cells(command.run(specs))
    hartmann, michalewicz = (found[family, "xs", "default"].values("regret") for family in families)
    return [
        quality_table(found.values()),
        verdict(f"Hartmann 6D median {np.median(hartmann):.5f} <= 0.0005", np.median(hartmann) <= 0.0005),
        verdict(
            f"Hartmann 6D above 0.03: {np.sum(hartmann > 0.03)} <= 3 of 40", np.sum(hartmann > 0.03) <= 3
        ),
        verdict(f"Michalewicz 10D mean {michalewicz.mean():.3f} <= 0.40", michalewicz.mean() <= 0.40),
    ]


def xsf(command: Command) -> list[str]:
    """Constrained quality: both benchmarks with B = 10; XsF, and method=None."""
    counts = {"hartmann6-constrained": 40, "michalewicz10-constrained": 20}
    specs = [
        command.spec(family, method, seed)
        for family, count in counts.items()
        for seed in command.seed_range(count)
        for method in ("xsf", "tumble")
    ]
    specs += command.peer_specs(tuple(counts), 20)
    found = statistics.cells(command.run(specs))
    hartmann, michalewicz = (found[family, "xsf", "default"] for family in counts)
    regret, omega, other = hartmann.values("regret"), hartmann.values("omega"), michalewicz.values("regret")
    beyond = int(michalewicz.values("beyond").max())
    return [
        quality_table(found.values()),
        verdict(f"Hartmann 6D median {np.median(regret):.5f} <= 0.0005", np.median(regret) <= 0.0005),
        verdict(f"Hartmann 6D above 0.03: {np.sum(regret > 0.03)} <= 3 of 40", np.sum(regret > 0.03) <= 3),
        verdict(f"Hartmann 6D Ω {omega.mean():.1f} % >= 96 %", omega.mean() >= 96.0),
        verdict(f"Michalewicz 10D mean {other.mean():.3f} <= 0.45", other.mean() <= 0.45),
        verdict(f"Michalewicz 10D failures beyond B: {beyond} = 0", beyond == 0),
    ]


def hartmann(command: Command) -> list[str]:
    """Hartmann 6D with its constraint, from the paper's start: method=None alone."""
    specs = [command.spec("hartmann6-constrained", "tumble", seed) for seed in command.seed_range(40)]
    return [quality_table(statistics.cells(command.run(specs)).values())]


def starts(command: Command) -> list[str]:
    """Hartmann 6D with its constraint, each run from a safe start of its own: method=None, and XsF."""
    family, rows = "hartmann6-constrained?", {"default": {}, "no survey": {"survey": 0.0}}
    specs = [
        command.spec(family, "tumble", seed, block, changes=changes)
        for seed in command.seed_range(40)
        for block, changes in rows.items()
    ]
    specs += [command.spec(family, "xsf", seed) for seed in command.seed_range(40)]
    return [quality_table(statistics.cells(command.run(specs)).values())]


def inmodel(command: Command) -> list[str]:
    """In-model draws with learned hyperparameters, B = 15, beside BoTorch and Optuna on the same draws."""
    specs = [command.spec("in-model", "xsf", seed) for seed in command.seed_range(20)]
    specs += command.peer_specs(("in-model",), 20)
    found = statistics.cells(command.run(specs))
    ours = found["in-model", "xsf", "default"]
    omega = ours.values("omega").mean()
    lines = [quality_table(found.values()), verdict(f"Ω {omega:.1f} % >= 84 %", omega >= 84.0)]
    for (_, method, _), cell in found.items():
        if method != "xsf":
            test = statistics.paired(ours, cell)
            text = f"mean regret {test.mean:.3f} < {test.other_mean:.3f} of {methods.LABELS[method]}"
            lines.append(verdict(f"{text} (n = {test.n}, p = {test.p:.2g})", test.mean < test.other_mean))
    return lines


def foils(command: Command) -> list[str]:
    """The controller beside a fixed ρ, with EI in place of Xs, and beside EIC, on problems of every class."""
    members = [("hartmann6-constrained", 100, 10), *(m[0] for m in CLASSES.values())]
    specs = []
    for family, trials, failures in dict.fromkeys(members):
        for seed in command.seed_range(10):
            rules: dict[str, Any] = {"trials": trials, "failures": failures}
            specs.append(command.spec(family, "xsf", seed, **rules))
            specs.append(command.spec(family, "xsf-ei", seed, **rules))
            specs.append(command.spec(family, "eic", seed, on_exhausted="stop", **rules))
            for name, changes in FOILS.items():
                specs.append(command.spec(family, "xsf", seed, block=name, changes=changes, **rules))
    return [quality_table(statistics.cells(command.run(specs)).values())]


def quality_table(found: Iterable[Cell]) -> str:
    """Regret, Ω, failures and seconds of each cell."""
    header = ("problem, method, settings", "n", "mean ± std", "median", "> 0.03", "Ω %", "failures", "most",
              "beyond B", "trials", "s/ask")  # fmt: skip
    ordered = sorted(found, key=lambda cell: (cell.family, cell.method, cell.block))
    return table(header, [_quality_row(cell) for cell in ordered])


def _quality_row(cell: Cell) -> list[str]:
    regret, failures, trials = (cell.values(name) for name in ("regret", "n_failures", "n_trials"))
    seconds = cell.values("seconds_total").sum() / max(1.0, trials.sum())
    return [
        f"{cell.family}, {methods.LABELS[cell.method]}, {cell.block}",
        str(len(regret)),
        statistics.mean_and_std(regret, number),
        number(np.median(regret)),
        str(int(np.sum(regret > 0.03))),
        f"{cell.values('omega').mean():.1f}",
        f"{failures.mean():.1f}",
        str(int(failures.max())),
        str(int(np.sum(cell.values("beyond") > 0))),
        f"{trials.mean():.0f}",
        f"{seconds:.3f}",
    ]


SUBCOMMANDS = {part.__name__: part for part in (xs, xsf, hartmann, starts, inmodel, cap, foils)}


def main(arguments: list[str] | None = None) -> int:
    """Run one subcommand; 0 when every promise held."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.acceptance", description=__doc__)
    parser.add_argument("name", choices=SUBCOMMANDS)
    parser.add_argument("--seeds", type=int, help="instead of the number the promise speaks of")
    parser.add_argument("--seed-base", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--peers", default="", help="beside these: botorch,scbo,optuna")
    parser.add_argument("--set", dest="changes", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--out", type=Path, default=Path("out/acceptance"))
    options = parser.parse_args(arguments)
    store = Store(options.out, options.name)

    def carry_out(specs: Sequence[Spec]) -> list[Line]:
        summary = pool.run_all(specs, store, jobs=options.jobs, fresh=True)
        for error in summary.errors:
            print(f"failed: {error}", file=sys.stderr)
        wanted = {spec.key: spec.block for spec in specs}
        return [{**line, "block": wanted[line["key"]]} for line in store.lines() if line["key"] in wanted]

    command = Command(
        options.seeds,
        options.seed_base,
        dict(map(_change, options.changes)),
        _split(options.peers),
        carry_out,
    )
    answer = SUBCOMMANDS[options.name](command)
    print("\n".join(answer))
    return 1 if any(line.startswith("MISSED") for line in answer) else 0


def _change(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    words = {"none": None, "true": True, "false": False}
    if value.lower() in words:
        return name, words[value.lower()]
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value


def _split(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(",") if part)


if __name__ == "__main__":
    sys.exit(main())
