"""What tumble promises, measured: python -m benchmarks.acceptance {xs,xsf,inmodel,cap,foils} [--jobs N]

Defaults were chosen on seeds 0-99; these commands report on seeds 1000 and up, once. Each run is a JSON line
under ``--out``, so that a killed command goes on where it stopped; lines of other settings or another version
of the code are never mixed in. ``--set grid=512`` tries other settings.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.runs import machine

machine.one_thread_each()

import numpy as np  # noqa: E402

from experiments.runs import methods, pool, settings, statistics  # noqa: E402
from experiments.runs.records import Spec  # noqa: E402
from experiments.runs.statistics import Cell  # noqa: E402
from experiments.runs.store import Store  # noqa: E402
from tumble import Settings, problems  # noqa: E402

from .tables import table, verdict  # noqa: E402

# (problem, T, B): budgets small enough that they are spent; each class has at least three problems.
CLASSES: dict[str, tuple[tuple[str, int, int], ...]] = {
    "easy": (
        ("branin-disk", 40, 2),
        ("gardner-cosine", 40, 2),
        ("gramacy", 40, 2),
        ("hartmann6-constrained", 80, 3),
    ),
    "rough": (("in-model", 100, 15), ("in-model", 80, 5), ("in-model", 60, 10)),
    "misspecified": (
        ("cliff", 60, 3),
        ("staircase", 60, 3),
        ("chirp", 60, 4),
        ("stalling", 60, 3),
        ("corrugated-bulkhead", 60, 4),
        ("cliff!", 60, 4),
    ),
}
FOILS: dict[str, dict[str, Any]] = {
    "ρ = 0.5": {"rho_0": 0.5, "rho_risk": 0.5, "rho_safe": 0.5, "rho_b": 0.4},
    "ρ = 0.9": {"rho_0": 0.9, "rho_risk": 0.9, "rho_safe": 0.9},
    "ρ = 0.99": {"rho_0": 0.99, "rho_risk": 0.99, "rho_safe": 0.99},
}


@dataclass(frozen=True)
class Command:
    """What the command line asked for."""

    seeds: int | None
    seed_base: int
    changes: dict[str, Any]
    peers: tuple[str, ...]
    run: Callable[[Sequence[Spec]], list[dict[str, Any]]]

    def seed_range(self, default: int) -> range:
        """So many seeds, from the base."""
        return range(self.seed_base, self.seed_base + (self.seeds or default))

    def spec(self, family: str, method: str, seed: int, block: str = "default", **rules: Any) -> Spec:
        """One run with the problem's own T and B unless ``rules`` say otherwise."""
        problem = f"{family}:{seed}" if family.startswith("in-model") else family
        known = problems.get(problem)
        own = {"trials": known.trials, "failures": known.failures, "on_exhausted": "safe"}
        chosen = methods.settings_of(method, "default", problem)
        if block == "paper":
            chosen = settings.paper_settings(problem).to_dict()
        elif method not in methods.PEERS:
            chosen = Settings.from_dict({**chosen, **self.changes, **rules.pop("changes", {})}).to_dict()
        return Spec(problem, method, seed, block=block, settings=chosen, **{**own, **rules})


def xs(command: Command) -> list[str]:
    """Unconstrained quality: Hartmann 6D and Michalewicz 10D, T = 100, tumble's default and the paper's."""
    families, blocks = ("hartmann6", "michalewicz10"), ("default", "paper")
    specs = [
        command.spec(family, "xs", seed, block)
        for seed in command.seed_range(40)
        for family in families
        for block in blocks
    ]
    specs += _peer_specs(command, families, 40)
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
    """Constrained quality: both benchmarks with B = 10."""
    counts = {"hartmann6-constrained": 40, "michalewicz10-constrained": 20}
    specs = [
        command.spec(family, "xsf", seed)
        for family, count in counts.items()
        for seed in command.seed_range(count)
    ]
    specs += _peer_specs(command, tuple(counts), 20)
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


def inmodel(command: Command) -> list[str]:
    """In-model draws with learned hyperparameters, B = 15, beside BoTorch and Optuna on the same draws."""
    specs = [command.spec("in-model", "xsf", seed) for seed in command.seed_range(20)]
    specs += _peer_specs(command, ("in-model",), 20)
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


def cap(command: Command) -> list[str]:
    """The budget by class of problem: never above B with "stop"; "safe" over the runs that reach ΔB = 0.

    "safe" is judged as users run it: `minimize` and `tumble run` stop with one failure more than B. Here the
    search goes on, and where it made more of them a line says so.
    """
    specs = [
        command.spec(family, "xsf", seed, trials=trials, failures=failures, on_exhausted=rule)
        for seed in command.seed_range(24)
        for members in CLASSES.values()
        for family, trials, failures in members
        for rule in ("safe", "stop")
    ]
    lines = command.run(specs)
    rows, verdicts, stop_runs, stop_beyond = [], [], 0, 0
    further: list[str] = []
    for name, members in CLASSES.items():
        group = [line for line in lines if (line["family"], line["trials"], line["failures"]) in members]
        stop = [line for line in group if line["on_exhausted"] == "stop"]
        safe = [line for line in group if line["on_exhausted"] == "safe"]
        worst = max((line["beyond"] for line in safe), default=0)
        if worst > 1:
            further.append(f"{name}: left to go on, the search made up to {worst} failures more than B")
        safe = [_as_driven(line) for line in safe]
        stop_runs, stop_beyond = stop_runs + len(stop), stop_beyond + sum(line["beyond"] > 0 for line in stop)
        row, told = _cap_row(name, stop, safe)
        rows.append(row)
        verdicts += told
    header = ("class", "stop: runs", "beyond B", "safe: runs", "ΔB = 0", "beyond B", "most",
              "regret at ΔB = 0", "at T", "improved", "P(safe) ≥ 0.99", "were safe")  # fmt: skip
    verdicts.insert(
        0, verdict(f'"stop": {stop_beyond} of {stop_runs} runs (>= 200) above B', not stop_beyond)
    )
    return [table(header, rows), *verdicts, *further]


def _as_driven(line: dict[str, Any]) -> dict[str, Any]:
    """The run up to its first failure beyond B, where `minimize` and `tumble run` stop."""
    if line["beyond"] <= 1:
        return line
    end = int(np.flatnonzero(line["failed"])[line["failures"]]) + 1
    cut = {name: line[name][:end] for name in ("failed", "p_safe", "regret_curve")}
    return {**line, **cut, "beyond": 1, "regret": line["regret_curve"][end - 1]}


def _cap_row(
    name: str, stop: list[dict[str, Any]], safe: list[dict[str, Any]]
) -> tuple[list[str], list[str]]:
    spent = [line for line in safe if (statistics.exhausted_at(line) or line["trials"]) < line["trials"]]
    beyond = [line["beyond"] for line in spent]
    over, most = sum(b > 0 for b in beyond), max(beyond, default=0)
    then = np.array([line["regret_curve"][(statistics.exhausted_at(line) or 1) - 1] for line in spent])
    end = np.array([line["regret"] for line in spent])
    claims, kept = statistics.claimed_and_kept(safe + stop)
    story = ["-", "-", "-"]
    if spent:
        story = [_number(np.median(then)), _number(np.median(end)), f"{np.mean(end < then):.0%}"]
    hit = kept / claims if claims else 1.0
    row = [name, str(len(stop)), str(sum(line["beyond"] > 0 for line in stop)), str(len(safe)),
           str(len(spent)), str(over), str(most), *story, str(claims), f"{hit:.2%}"]  # fmt: skip
    share = over / len(spent) if spent else 0.0
    text = f"{name}: {over} of {len(spent)} (>= 40) runs with ΔB = 0 went beyond B (<= 5 %), by {most} (<= 1)"
    return row, [
        verdict(text, share <= 0.05 and most <= 1 and len(spent) >= 40),
        verdict(f"{name}: P(safe) >= 0.99 was safe in {hit:.2%} >= 98 % of {claims}", hit >= 0.98),
    ]


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


def quality_table(found: Any) -> str:
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
        statistics.mean_and_std(regret, _number),
        _number(np.median(regret)),
        str(int(np.sum(regret > 0.03))),
        f"{cell.values('omega').mean():.1f}",
        f"{failures.mean():.1f}",
        str(int(failures.max())),
        str(int(np.sum(cell.values("beyond") > 0))),
        f"{trials.mean():.0f}",
        f"{seconds:.3f}",
    ]


def _number(value: float) -> str:
    return f"{value:.4g}" if abs(value) >= 1.0 else f"{value:.5f}"


def _peer_specs(command: Command, families: Sequence[str], count: int) -> list[Spec]:
    return [
        command.spec(family, peer, seed, on_exhausted="stop")
        for seed in command.seed_range(count)
        for family in families
        for peer in command.peers
    ]


SUBCOMMANDS = {"xs": xs, "xsf": xsf, "inmodel": inmodel, "cap": cap, "foils": foils}


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

    def carry_out(specs: Sequence[Spec]) -> list[dict[str, Any]]:
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
