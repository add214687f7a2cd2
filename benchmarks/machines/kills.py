"""Commands that are killed at random moments: what becomes of their study?"""

from __future__ import annotations

import contextlib
import random
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file

from .rough import Started, start_tumble


@dataclass(frozen=True)
class Killed:
    """What became of a study whose commands were killed `kills` times."""

    kills: int
    trials: int
    told: int
    lost: int  # told trials that were gone, or had another result, after a kill
    twice: int  # trials that stand in the ledger twice, or in vain
    failures: int
    failures_measured: int  # counted anew from the raw results
    rerun: int  # trials that the rig ran more than once
    seconds: float


def kill_runner(
    file: Path,
    kills: int,
    seed: int = 0,
    longest: float = 4.0,
    start_command: Callable[..., Started] = start_tumble,
) -> Killed:
    """`tumble run`, killed at random moments, then left to end."""
    rng, start, lost, done = random.Random(seed), time.monotonic(), 0, 0
    known: dict[int, dict[str, float]] = {}
    while done < kills and (not known or len(known) < read_study_file(file).trials):
        process = start_command("run", file)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(rng.uniform(0.0, longest))
        done += _kill(process)
        lost += _compare(known, file)
    assert start_command("run", file).wait() == 0
    lost += _compare(known, file)
    return _judge(file, done, lost, time.monotonic() - start)


def kill_hand(
    file: Path,
    kills: int,
    seed: int = 0,
    longest: float = 4.0,
    start_command: Callable[..., Started] = start_tumble,
) -> Killed:
    """`tumble ask` and `tumble tell` by hand, each killed at random moments, until every trial is told."""
    rng, start, lost, done = random.Random(seed), time.monotonic(), 0, 0
    known: dict[int, dict[str, float]] = {}
    config = read_study_file(file)
    while len(known) < config.trials:
        with Ledger(config) as ledger:
            pending = [e for e in ledger.entries() if e.outcome == "running" and len(e.parameters) == 2]
        owned = [e for e in pending if e.owner is not None and e.owner.kind == "hand"]
        words: list[object] = ["ask", file, "--json"]
        if owned:
            words = ["tell", file, owned[0].trial, *_measure(owned[0].parameters)]
        process = start_command(*words)
        if done < kills:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(rng.uniform(0.0, longest))
            done += _kill(process)
        process.wait()
        lost += _compare(known, file)
    return _judge(file, done, lost, time.monotonic() - start)


def _measure(parameters: dict[str, Any]) -> list[str]:
    x, y = float(parameters["x"]), float(parameters["y"])
    load_ = np.sin(37 * x + 11 * y) + np.sin(53 * y - 29 * x) - 0.3
    return [f"cost={(x - 0.4) ** 2 + (y - 0.6) ** 2:.12f}", f"load={load_:.12f}"]


def _kill(process: Started) -> bool:
    """Kill it; whether it was still there."""
    alive = process.poll() is None
    process.kill()
    process.wait()
    return alive


def _compare(known: dict[int, dict[str, float]], file: Path) -> int:
    """Add what is told now to what was known; how much of what was known is gone."""
    with Ledger(read_study_file(file)) as ledger:
        now = {e.trial: e.results for e in ledger.entries() if e.reading.phase == "told"}
    gone = sum(now.get(number) != results for number, results in known.items())
    known.update(now)
    return gone


def _judge(file: Path, kills: int, lost: int, seconds: float) -> Killed:
    with Ledger(read_study_file(file)) as ledger:
        entries, status = ledger.entries(), ledger.status()
    told = [e for e in entries if e.reading.phase == "told"]
    log = file.parent / "events.log"
    lines = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
    starts = [words[1] for words in lines if words[0] == "start"]
    return Killed(
        kills=kills,
        trials=ledger.config.trials,
        told=status.trials,
        lost=lost,
        twice=len(entries) - len({e.trial for e in told}),
        failures=status.failures,
        failures_measured=sum(e.results["load"] > 0 for e in told),
        rerun=len(starts) - len(set(starts)),
        seconds=round(seconds, 1),
    )
