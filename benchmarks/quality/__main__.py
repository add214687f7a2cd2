"""python -m benchmarks.quality: carry out the runs of a table that are missing, and print it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from experiments.runs import machine

machine.one_thread_each()  # before numpy is loaded, here and in every worker

from benchmarks.families import FAMILIES, optima  # noqa: E402
from experiments.runs import pool  # noqa: E402
from experiments.runs.records import Line  # noqa: E402
from experiments.runs.store import Store  # noqa: E402

from . import ablation, manual, page, plan, results  # noqa: E402
from .plan import Row  # noqa: E402

NEEDS = {
    "botorch": "botorch", "qlognei": "botorch", "scbo": "botorch", "optuna": "optuna", "tpe": "optuna",
    "bayesian-optimization": "bayes_opt",
}  # fmt: skip
QUICK_TRIALS = 30
TABLES: dict[str, tuple[Row, ...]] = {
    "verdict": (plan.OURS, *plan.BASELINES, *plan.PEERS),
    "ours": (plan.OURS, *plan.BASELINES),
    "peers": plan.PEERS,
    "ablation": (plan.OURS, *ablation.SWITCHES),
    "foils": (plan.OURS, *ablation.FOILS),
}


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 done, 1 where runs raised, 2 for bad input, 130 when interrupted."""
    options = _parser().parse_args(arguments)
    return pool.exit_status("quality", lambda: _rebuild() if options.table == "page" else _run(options))


def _rebuild() -> int:
    for path in manual.rebuild():
        print(path)
    return 0


def _run(options: argparse.Namespace) -> int:
    os.environ.setdefault(optima.FOLDER, str(options.out.resolve() / "optima"))
    specs = plan.specs(_rows(options), _problems(options))
    store = Store(options.out, f"quality-{options.block}")
    _take_published(store, options.table, options.block)
    summary = pool.run_all(specs if not options.finished else [], store, jobs=options.jobs, fresh=True)
    for error in summary.errors:
        print(f"failed: {error}", file=sys.stderr)
    wanted = {spec.key for spec in specs}
    lines = [line for line in store.lines() if line["key"] in wanted]
    if options.publish:
        for path in results.publish_table(lines, options.table, options.block):
            print(path)
    _show(lines, options.table, options.pictures)
    return 1 if summary.errors else 0


def _problems(options: argparse.Namespace) -> list[list[plan.Problem]]:
    families = options.families.split(",") if options.families else FAMILIES
    if options.quick:
        return plan.rounds(options.block, 1, families, QUICK_TRIALS)
    return plan.rounds(options.block, options.seeds, families, options.trials)


def _rows(options: argparse.Namespace) -> list[Row]:
    """The rows that were asked for and can be run here; the others are named."""
    names = options.rows.split(",") if options.rows else ()
    rows = [row for row in TABLES[options.table] if not names or row.name in names]
    if options.quick and any(row in plan.SLOW_PEERS for row in rows):
        slow = ", ".join(row.name for row in rows if row in plan.SLOW_PEERS)
        print(f"left out of a quick look: {slow} (1 to 20 seconds a suggestion)", file=sys.stderr)
        rows = [row for row in rows if row not in plan.SLOW_PEERS]
    missing = [row for row in rows if row.method in NEEDS and not find_spec(NEEDS[row.method])]
    for row in missing:
        print(f"left out: {row.name} needs the package {NEEDS[row.method]}", file=sys.stderr)
    return [row for row in rows if row not in missing]


def _take_published(store: Store, table: str, block: int) -> None:
    """Lines that came with the repository are not run again."""
    here = store.keys()
    for name in results.names(table, block):
        for line in results.published(name):
            if line["key"] not in here:
                store.append(line)


def _show(lines: Sequence[Line], kind: str, folder: Path | None) -> None:
    if kind in ("ablation", "foils"):
        print(manual.rows(lines))
        return
    print(manual.verdict(lines))
    if folder is not None:
        for path in manual.draw(page.runs_of(lines), folder):
            print(path)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    add = parser.add_argument
    add(
        "table",
        nargs="?",
        choices=[*TABLES, "page"],
        default="verdict",
        help='which rows; "page" rebuilds the manual\'s page',
    )
    add(
        "--block", type=int, default=plan.TUNING, help="the first seed: 0 to tune, 10000 and up for a verdict"
    )
    add("--seeds", type=int, default=plan.PER_FAMILY, help="problems of each family")
    add("--families", default="", help="only these, separated by commas")
    add("--rows", default="", help="only these rows of the table, separated by commas")
    add("--trials", type=int, help="only problems with so many trials: the first such seeds of the block")
    add("--finished", action="store_true", help="run nothing: show or publish what is finished")
    add("--quick", action="store_true", help="one problem of 30 trials of each family, without slow peers")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="processes side by side")
    add("--out", type=Path, default=Path("out/quality"), help="where the lines are kept")
    add("--publish", action="store_true", help="keep the lines with the repository")
    add("--pictures", type=Path, help="a folder for the figures")
    return parser


if __name__ == "__main__":
    sys.exit(main())
