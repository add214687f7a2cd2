"""`python -m benchmarks.machines`: every figure, one line of JSON each."""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import optuna
from threadpoolctl import threadpool_limits

from .costs import cost_of_ask, cost_of_command
from .kills import Killed, kill_hand, kill_runner
from .outages import restart_server
from .races import race
from .rough import address_of, postgres, postgres_server, write_rough_study


def show(name: str, figure: dict[str, Any] | Killed) -> None:
    """One line of JSON."""
    table = asdict(figure) if isinstance(figure, Killed) else figure
    print(json.dumps({"figure": name, **table}), flush=True)


def main() -> None:
    """Every figure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", nargs="?", choices=("outage",), help="only this")
    parser.add_argument("--restarts", type=int, default=20, help="outage: how often the server goes away")
    parser.add_argument("--workers", type=int, default=4, help="outage: how many commands run the study")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=("kills", "races", "speed", "costs"))
    options = parser.parse_args()
    quick = options.quick
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    threadpool_limits(1, user_api="blas")
    if options.part == "outage":
        _outage(options.workers, options.restarts)
        return
    parts = {"costs": _costs, "speed": _speed, "races": _races, "kills": _kills}
    with tempfile.TemporaryDirectory() as home, postgres() as server:
        for name, part in parts.items():
            if options.only in (None, name):
                part(Path(home), server, quick)


def _folder(home: Path, name: str) -> Path:
    folder = home / name
    folder.mkdir()
    return folder


def _costs(home: Path, server: str, quick: bool) -> None:
    for storage in ("sqlite:///" + str(_folder(home, "cost") / "a.db"), server):
        cost = cost_of_ask(storage, repeats=5 if quick else 21)
        show("ask, milliseconds", asdict(cost))
    show(
        "tumble ask, seconds",
        {"median": cost_of_command(_folder(home, "command"), repeats=3 if quick else 9)},
    )


def _speed(home: Path, server: str, quick: bool) -> None:
    trials = 24 if quick else 48
    seconds = {}
    for workers in (1, 8):
        folder = _folder(home, f"speed-{workers}")
        file = write_rough_study(
            folder, server, trials=trials, failures=trials, stop=True, pause=1.0, safe=True
        )
        seconds[workers] = race(file, workers).seconds
    show(
        "8 workers beside one, 1-second trials",
        {"seconds": seconds, "times": round(seconds[1] / seconds[8], 2)},
    )


def _races(home: Path, server: str, quick: bool) -> None:
    for kind, storage, workers in (("postgresql", server, 8), ("sqlite", "sqlite:///rough.db", 4)):
        for kills in (0, 3):
            runs = []
            for seed in range(2 if quick else 20):
                folder = _folder(home, f"race-{kind}-{kills}-{seed}")
                file = write_rough_study(folder, storage, trials=20, failures=4, stop=True, pause=0.05)
                runs.append(race(file, workers, kills, seed))
            show(
                f"{workers} workers on {kind}, {kills} killed",
                {
                    "repetitions": len(runs),
                    "budget": runs[0].budget,
                    "failures": [run.failures for run in runs],
                    "peak": [run.peak for run in runs],
                    "told": [run.told for run in runs],
                    "left_running": sum(run.left_running for run in runs),
                    "seconds": round(statistics.median(run.seconds for run in runs), 1),
                },
            )


def _outage(workers: int, restarts: int) -> None:
    with tempfile.TemporaryDirectory() as home, postgres_server() as server:
        count = 10_000  # more than are run meanwhile
        file = write_rough_study(
            Path(home), address_of(server), trials=count, failures=count, stop=False, pause=1.0
        )
        show("postgresql, restarted", asdict(restart_server(file, server, workers, restarts)))


def _kills(home: Path, server: str, quick: bool) -> None:
    count = 6 if quick else 50
    for kind, storage in (("sqlite", "sqlite:///rough.db"), ("postgresql", server)):
        folder = _folder(home, f"kill-run-{kind}")
        file = write_rough_study(folder, storage, trials=3 * count, failures=count, stop=False, pause=0.2)
        show(f"tumble run on {kind}, killed", kill_runner(file, count))
        folder = _folder(home, f"kill-hand-{kind}")
        file = write_rough_study(folder, storage, trials=count, failures=count, stop=False)
        show(f"tumble ask and tell on {kind}, killed", kill_hand(file, count))


if __name__ == "__main__":
    main()
