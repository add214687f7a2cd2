"""python -m experiments NAME: carry out an experiment of the paper, build its page, or both."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .runs import machine

machine.one_thread_each()  # before numpy is loaded, here and in every worker

from tumble.errors import InputError  # noqa: E402

from . import registry  # noqa: E402
from .runs import plans, pool  # noqa: E402
from .runs.plans import BLOCKS, Options  # noqa: E402
from .runs.store import Store  # noqa: E402


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 0, 1 where runs raised, 2 for bad input, 130 when interrupted."""
    options = _parser().parse_args(arguments)
    return pool.exit_status("experiments", lambda: _carry_out(options))


def _carry_out(options: argparse.Namespace) -> int:
    asked = _asked(options)
    if options.name == "report":
        return _report(options)
    return _all(asked, options) if options.name == "all" else _run(options.name, asked, options)


def _asked(options: argparse.Namespace) -> Options:
    """What is asked for, checked before anything is run."""
    asked = Options(
        seeds=options.seeds,
        seed_base=options.seed_base,
        methods=plans.names(options.methods) or None,
        blocks=plans.names(options.blocks),
        trials=options.trials,
    )
    if options.jobs < 1:
        raise InputError(f"--jobs must be at least 1, not {options.jobs}")
    if asked.methods:
        one = options.name in registry.EXPERIMENTS
        among = (options.name,) if one else tuple(registry.EXPERIMENTS)
        specs = [spec for name in among for spec in registry.find(name).plan(Options(seeds=1))]
        where = options.name if one else "the paper"
        plans.check_methods(asked.methods, (spec.method for spec in specs), where)
    return asked


def _all(asked: Options, options: argparse.Namespace) -> int:
    """Every experiment and the page. The trainings need a GPU: without one they are left out, and named."""
    worst = 0
    for name in registry.EXPERIMENTS:
        if name == "compression" and not machine.gpu():
            print("compression: not run, because it trains networks and there is no GPU here")
        elif name != "fig2":  # drawn from the runs of table1
            worst = max(worst, _run(name, asked, options))
    return max(worst, _report(options))


def _run(name: str, asked: Options, options: argparse.Namespace) -> int:
    experiment = registry.find(name)
    specs = experiment.plan(asked)
    store = Store(options.out, name)
    run_all = getattr(experiment, "run_all", pool.run_all)  # an experiment may have a way of its own
    summary = run_all(specs, store, jobs=options.jobs, executor=options.executor, fresh=options.fresh)
    print(f"{name}: {summary.done} runs done, {summary.already} were there already; {store.path}")
    for error in summary.errors:
        print(f"\nfailed: {error}", file=sys.stderr)
    return 1 if summary.errors else 0


def _report(options: argparse.Namespace) -> int:
    from .report import write

    seeds = None
    if options.seeds is not None or options.seed_base:
        seeds = range(options.seed_base, options.seed_base + (options.seeds or 1000))
    for path in write(Store(options.out), options.page, seeds=seeds):
        print(path)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    add = parser.add_argument
    add("name", choices=[*registry.EXPERIMENTS, "report", "all"],
        help="a table or figure of the paper; the page; or all of them and the page")  # fmt: skip
    add("--seeds", type=int, help="how many seeds (20; cart-pole 10, compression 5)")
    add("--seed-base", type=int, default=0, help="the first seed (0; the reported runs start at 1000)")
    add("--methods", default="", help="only these methods, separated by commas")
    add("--blocks", default=",".join(BLOCKS), help="which settings: paper,default")
    add("--trials", type=int, help="another T, for a quick look")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="processes side by side")
    add("--executor", default="", help="dask://HOST:PORT to run on a cluster")
    add("--fresh", action="store_true", help="repeat runs that another version of the code did")
    add("--out", type=Path, default=Path("out/experiments"), help="where the JSON lines are kept")
    add("--page", type=Path, default=Path("docs/paper"), help="where report writes the page")
    return parser


if __name__ == "__main__":
    sys.exit(main())
