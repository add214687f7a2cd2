"""Network compression, §5.3: XsF, EIC and PESC, five repetitions, T = 20, B = 5, a network below 15 kB.

    python -m experiments compression
    python -m experiments.compression --data FOLDER [--out DIR] [--minutes M]

train the networks of all runs side by side on a GPU (the second with more to choose); the same command goes
on where it was stopped. Without a GPU the reduced protocol is run, whose numbers are not the paper's.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..runs import machine

machine.one_thread_each()

from tumble.serialize import plain  # noqa: E402

from ..runs import loop, plans, pool  # noqa: E402
from ..runs.plans import Options  # noqa: E402
from ..runs.records import Spec  # noqa: E402
from ..runs.store import Store  # noqa: E402
from . import lockstep  # noqa: E402
from . import problem as nn  # noqa: E402
from .section import section as section  # noqa: E402

METHODS = ("eic", "pesc", "xsf")
REPETITIONS = 5
PROTOCOLS = {"compression": nn.FULL, "compression-reduced": nn.REDUCED}
GPU = "TUMBLE_GPU"  # the variable by which a lockstep tells its runs the name of the GPU


def plan(options: Options) -> list[Spec]:
    """Five repetitions of each method; the paper's settings only where they alone are asked for."""
    block = "default" if "default" in options.blocks else options.blocks[0]
    family = "compression" if machine.gpu() else "compression-reduced"
    specs = plans.grid((family,), METHODS, replace(options, blocks=(block,)), REPETITIONS)
    return [replace(spec, task="experiments.compression.experiment:carry_out") for spec in specs]


def carry_out(spec: Spec) -> dict[str, Any]:
    """One run: in a lockstep its trainings are the parent's, else its own."""
    trained: list[nn.Training] = []

    def trainer(setting: nn.Setting) -> nn.Training:
        done = lockstep.ask_parent(setting) or _trainer(spec.family)([setting])[0]
        trained.append(done)
        return done

    problem = nn.problem_of(trainer, PROTOCOLS[spec.family], int(spec.problem.partition(":")[2]))
    content = loop.run_spec(spec, problem)
    found = {"trainings": [_plain(t) for t in trained], "best": _best(trained)}
    return {**content, **found, "gpu": os.environ.get(GPU)}


def run_all(
    specs: Sequence[Spec], store: Store, *, jobs: int = 1, executor: str = "", fresh: bool = False
) -> pool.Summary:
    """In lockstep on this machine's GPU where there is one, else as any other experiment."""
    if not executor:
        nn.check_there()
    if executor or not machine.gpu():
        return pool.run_all(specs, store, jobs=jobs, executor=executor, fresh=fresh)
    return _in_lockstep(specs, store, fresh=fresh)


def _in_lockstep(
    specs: Sequence[Spec], store: Store, *, folder: Path | None = None,
    minutes: float | None = None, fresh: bool = False,
) -> pool.Summary:  # fmt: skip
    family = specs[0].family
    if machine.gpu():
        os.environ[GPU] = _gpu_name()
    kept = lockstep.Kept(store.folder / "trainings" / "compression.jsonl", PROTOCOLS[family].name)
    return lockstep.run_all(specs, store, kept, _trainer(family, folder), minutes=minutes, fresh=fresh)


def _best(trained: Sequence[nn.Training]) -> dict[str, Any] | None:
    """The run's best network that is small enough."""
    safe = [t for t in trained if not t.diverged and t.constraint <= 0.0]
    return _plain(min(safe, key=lambda t: t.error)) if safe else None


def _plain(training: nn.Training) -> dict[str, Any]:
    """A training for a line; None in place of a number that is not finite."""
    return dict(plain(asdict(training)))


@lru_cache(maxsize=1)
def _trainer(family: str, folder: Path | None = None) -> nn.Trainer:
    return nn.Trainer(nn.load(folder), PROTOCOLS[family])


def _gpu_name() -> str:
    import torch

    return str(torch.cuda.get_device_name())


def main(arguments: list[str] | None = None) -> int:
    """Run the experiment in lockstep.

    The exit status is 0 when all runs are finished, 1 when some are left or raised, 2 for bad input or data
    that are missing, 130 when interrupted.
    """
    options = _parser().parse_args(arguments)
    return pool.exit_status("experiments.compression", lambda: _run(options))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments.compression", description=__doc__)
    add = parser.add_argument
    add("--data", type=Path, help="MNIST's folder (default: $TUMBLE_DATA/mnist or the cache)")
    add("--download", action="store_true", help="fetch MNIST into that folder first")
    add("--out", type=Path, default=Path("out/experiments"), help="where the JSON lines are kept")
    add("--seeds", type=int, help=f"repetitions ({REPETITIONS})")
    add("--seed-base", type=int, default=0, help="the first repetition")
    add("--methods", default="", help="only these methods, separated by commas")
    add("--trials", type=int, help="another T, for a quick look")
    add("--minutes", type=float, help="stop after the lockstep that ends beyond so many minutes")
    return parser


def _run(options: argparse.Namespace) -> int:
    asked = Options(seeds=options.seeds, seed_base=options.seed_base, trials=options.trials)
    asked = replace(asked, methods=plans.names(options.methods) or None)
    plans.check_methods(asked.methods, METHODS, "compression")
    specs = plan(asked)
    if options.download:
        nn.download(options.data)
    nn.check_there(options.data)
    store = Store(options.out, "compression")
    summary = _in_lockstep(specs, store, folder=options.data, minutes=options.minutes)
    print(
        f"{specs[0].family}: {summary.done} runs done, {summary.already} were there already, of {len(specs)}"
    )
    for error in summary.errors:
        print(f"\nfailed: {error}", file=sys.stderr)
    return 0 if summary.done + summary.already == len(specs) else 1
