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

from benchmarks.attacks import store_lines

from .costs import cost_of_ask, cost_of_command
from .kills import Killed, kill_hand, kill_runner
from .outages import restart_server
from .races import race
from .rough import address_of, postgres, postgres_server, write_rough_study
from .scale import measure_studies, run_scale
from .soak import soak


def show(name: str, figure: dict[str, Any] | Killed) -> None:
    """One line of JSON."""
    table = asdict(figure) if isinstance(figure, Killed) else figure
    print(json.dumps({"figure": name, **table}), flush=True)


def main() -> None:
    """Every figure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", nargs="?", choices=("outage", "soak", "scale"), help="only this")
    parser.add_argument("--kills", type=int, default=1000, help="soak: how many workers are killed")
    parser.add_argument("--restarts", type=int, help="how often the server goes away (outage 20, soak 50)")
    parser.add_argument("--workers", type=int, help="how many at once (outage 4, soak 8, scale 64)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="soak: kill nobody after that")
    parser.add_argument("--trials", type=int, default=2000, help="scale: of the study")
    parser.add_argument("--studies", type=int, default=1000, help="scale: in one database")
    parser.add_argument("--store", action="store_true", help="keep the figures of these parts for the page")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=("kills", "races", "speed", "costs"))
    options = parser.parse_args()
    quick = options.quick
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    threadpool_limits(1, user_api="blas")
    if options.part is not None:
        {"outage": _outage, "soak": _soak, "scale": _scale}[options.part](options)
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


def _outage(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as home, postgres_server() as server:
        count = 10_000  # more than are run meanwhile
        file = write_rough_study(
            Path(home), address_of(server), trials=count, failures=count, stop=False, pause=1.0
        )
        found = restart_server(file, server, options.workers or 4, options.restarts or 20)
    _keep(options, "outage", asdict(found))


def _soak(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as home, postgres_server() as server:
        file = write_rough_study(
            Path(home), address_of(server), trials=100_000, failures=3, stop=True, pause=0.2, safe=True
        )
        counts = (options.workers or 8, options.kills, options.restarts or 50)
        found = soak(file, server, *counts, seconds=options.seconds)
    _keep(options, "soak", asdict(found))


def _scale(options: argparse.Namespace) -> None:
    """A few workers first, so that it is seen where the throughput bends."""
    most = options.workers or 64
    with tempfile.TemporaryDirectory() as home, postgres(max_connections=4 * most + 50) as server:
        for workers in sorted({min(count, most) for count in (1, 8, 32, most)}):
            trials = options.trials if workers == most else min(options.trials, 10 * workers)
            folder = _folder(Path(home), f"scale-{workers}")
            budget = max(workers * 3 // 4, 1)
            found = run_scale(folder, server, workers, trials, budget, pause=1.0)
            _keep(options, "scale", asdict(found))
        counts = sorted({min(count, options.studies) for count in (1, 10, 100, 1000)})
        for studies in measure_studies(_folder(Path(home), "studies"), server, counts):
            _keep(options, "studies", {"what": str(studies.studies), **asdict(studies)})


def _keep(options: argparse.Namespace, attack: str, figures: dict[str, Any]) -> None:
    show(attack, figures)
    if options.store:
        line = {"attack": attack, "storage": "postgresql", **figures}
        store_lines([line | {"command": f"python -m benchmarks.machines {options.part}"}])


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
