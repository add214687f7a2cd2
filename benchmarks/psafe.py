"""Is P(safe) true? Draws from the model's own prior, and random queries, beside the true hyperparameters.

    python -m benchmarks.psafe [--imported] [--draws 2000] [--queries 500] [--seed 0] [--jobs 1] [--store]

A draw has 2 to 6 parameters, hyperparameters from the default priors of a limit, and a limit g from that
process. Random settings are tried one after the other, as by a user who tries settings of his own: each is
predicted first, then told, then the model is fitted again with the default settings
(warps and calibration are on). With --imported the trials are old data that are told at once: nothing was
predicted, so that nothing is calibrated, and only the models after n trials are fitted. After n trials
P(safe) at random queries is compared with what is measured there. Three rows: hyperparameters integrated;
taken as known (`integrate=False`); and the true ones.

Draws are kept in a file below --out, so that a command that was stopped goes on. With --store the table is
kept in benchmarks/results/psafe.jsonl.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from experiments.runs import machine

machine.one_thread_each()  # before numpy is loaded

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from scipy.special import expit, log_ndtr, ndtr, ndtri  # noqa: E402

from tumble import Settings  # noqa: E402
from tumble.core.history import History  # noqa: E402
from tumble.core.process.covariance import Covariance, Hyper  # noqa: E402
from tumble.core.process.models import Fitted, Models, fit_models  # noqa: E402
from tumble.core.process.priors import LogNormal, ParetoTail, Priors  # noqa: E402

from .tables import table, verdict  # noqa: E402

Array: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Line: TypeAlias = dict[str, Any]

FILE = Path(__file__).parent / "results" / "psafe.jsonl"
RESERVED = 90_000  # seeds from here on are for judging alone
SIZES = (5, 10, 20, 40)
DIMENSIONS = (2, 6)
CLAIMS = {"0.85-0.95": (0.85, 0.95), "0.985-0.995": (0.985, 0.995), ">= 0.9995": (0.9995, 2.0)}
SURE = 0.99  # how many queries reach it is the sharpness
ROWS = {"integrated": "integrated", "known": "taken as known", "true": "the true ones"}
LIMIT = 1.5  # the realised risk, its interval included, over the claimed one
SHARPNESS = {20: 0.7, 40: 0.7}  # of the queries that reach SURE with the true hyperparameters
RESAMPLES = 2000
JITTER = 1e-9  # of the variance, so that a draw can be made


@dataclass(frozen=True)
class Draw:
    """A limit drawn from the prior: settings and queries, and what is measured there."""

    hyper: Hyper
    mean_std: float
    X: Array  # (N, D)
    g: Array  # (N,)
    queries: Array  # (M, D)
    failed: Flags  # (M,)


def draw(priors: Priors, trials: int, queries: int, rng: np.random.Generator) -> Draw:
    """A limit from the prior, measured with noise at random settings and at random queries."""
    dim = int(rng.integers(DIMENSIONS[0], DIMENSIONS[1] + 1))
    assert priors.additive is not None
    assert priors.mean_std is not None
    lengthscales = _drawn(priors.lengthscale, dim, rng)
    (variance,), (noise,) = _drawn(priors.variance, 1, rng), _drawn(priors.noise, 1, rng)
    hyper = Hyper(lengthscales, variance, noise, float(expit(rng.normal(*priors.additive))))
    points = rng.random((trials + queries, dim))
    K = Covariance("matern52", hyper).between(points, points)
    K.flat[:: len(K) + 1] += JITTER * hyper.variance
    g = rng.normal(0.0, priors.mean_std) + np.linalg.cholesky(K) @ rng.standard_normal(len(K))
    g += hyper.noise * rng.standard_normal(len(K))
    return Draw(hyper, priors.mean_std, points[:trials], g[:trials], points[trials:], g[trials:] > 0.0)


def _drawn(law: object, count: int, rng: np.random.Generator) -> tuple[float, ...]:
    """`count` values from a law, with what they have in common."""
    if isinstance(law, ParetoTail):
        return tuple((law.mode * np.exp(_with_tail(law, count, rng))).tolist())
    assert isinstance(law, LogNormal)
    logs = law.sigma * rng.standard_normal(count)
    if law.common:
        logs += law.common * rng.standard_normal()
    return tuple((law.median * np.exp(logs)).tolist())


def _with_tail(law: ParetoTail, count: int, rng: np.random.Generator) -> Array:
    """(count,) logarithms of values of the law over its mode."""
    # What the density has below the knee, where it is normal, and above it, where it is exponential.
    share = ndtr(law.knee / law.sigma)
    below = law.sigma * np.sqrt(2.0 * np.pi) * share
    above = np.exp(-0.5 * (law.knee / law.sigma) ** 2) / law.power
    within = law.sigma * ndtri(rng.random(count) * share)
    tail = law.knee + rng.standard_exponential(count) / law.power
    return np.where(rng.random(count) * (below + above) < below, within, tail)


def log_safe_if_known(drawn: Draw, n: int) -> Array:
    """(M,) log P(safe) of each query from the first n trials, with the true hyperparameters.

    The constant mean is integrated out: its variance is one more covariance of all pairs.
    """
    hyper, X = drawn.hyper, drawn.X[:n]
    covariance = Covariance("matern52", hyper)
    K = covariance.between(X, X) + drawn.mean_std**2
    K.flat[:: n + 1] += hyper.noise**2 + JITTER * hyper.variance
    k = covariance.between(X, drawn.queries) + drawn.mean_std**2
    half = np.linalg.solve(np.linalg.cholesky(K), np.column_stack([k, drawn.g[:n]]))
    var = hyper.variance + drawn.mean_std**2 - np.square(half[:, :-1]).sum(axis=0)
    spread = np.sqrt(np.maximum(var, JITTER * hyper.variance) + hyper.noise**2)
    return np.asarray(log_ndtr(-(half[:, :-1].T @ half[:, -1]) / spread))


class Trials:
    """The trials of a draw, each predicted before it is told."""

    def __init__(self, drawn: Draw, settings: Settings) -> None:
        self.drawn, self.settings = drawn, settings
        self.mean, self.std = np.full((2, len(drawn.g), 1), np.nan)

    def fit(self, n: int, last: Fitted | None) -> Models:
        """The model of the first n."""
        drawn, nothing = self.drawn, np.full(n, np.nan)
        known = History(
            drawn.X[:n], nothing, drawn.g[:n, None], np.zeros(n, dtype=bool), drawn.X[:0],
            self.mean[:n], self.std[:n],
        )  # fmt: skip
        return fit_models(known, self.settings, last)

    def predict(self, n: int, models: Models) -> None:
        """Keep what `models` predict for trial n, where there is one."""
        rows = slice(n, n + 1)
        self.mean[rows], self.std[rows] = models.feasibility.predicted(self.drawn.X[rows])


def answers(
    drawn: Draw, sizes: Sequence[int], settings: Settings, *, imported: bool = False
) -> dict[int, dict[str, Array]]:
    """After each number of trials: log P(safe) (M,) of the queries, by row of the table.

    Fits do not depend on `integrate`: the row "known" starts each fit where that of the default ended, and
    needs none where nothing is calibrated.
    """
    default, known = Trials(drawn, settings), Trials(drawn, replace(settings, integrate=False))
    found: dict[int, dict[str, Array]] = {}
    last: Fitted | None = None
    for n in sizes if imported else range(1, max(sizes) + 1):
        models = default.fit(n, last)
        last = models.fitted
        as_known = replace(models, feasibility=replace(models.feasibility, laws=()))
        if not imported:
            default.predict(n, models)
            known.predict(n, as_known)
        if n in sizes:
            found[n] = {
                "integrated": models.feasibility.log_prob(drawn.queries),
                "known": (as_known if imported else known.fit(n, last)).feasibility.log_prob(drawn.queries),
                "true": log_safe_if_known(drawn, n),
            }
    return found


def counts(log_safe: Array, failed: Flags) -> list[float]:
    """What is kept of a draw: for each of CLAIMS the queries, their claimed risk and their failures; then
    how many queries are SURE, and the sum of the log scores.
    """
    p, risk = np.exp(log_safe), -np.expm1(log_safe)
    kept: list[float] = []
    for low, high in CLAIMS.values():
        inside = (p >= low) & (p <= high)
        kept += [float(inside.sum()), float(risk[inside].sum()), float((inside & failed).sum())]
    score = np.where(failed, np.log(np.maximum(risk, 1e-12)), np.maximum(log_safe, np.log(1e-12)))
    return [*kept, float((p >= SURE).sum()), float(score.sum())]


def one(number: int, seed: int, queries: int, sizes: tuple[int, ...], imported: bool) -> Line:
    """The counts of one draw."""
    settings = Settings()
    drawn = draw(settings.constraint, max(sizes), queries, np.random.default_rng([seed, number]))
    found = answers(drawn, sizes, settings, imported=imported)
    kept = {str(n): {row: counts(p, drawn.failed) for row, p in rows.items()} for n, rows in found.items()}
    return {"draw": number, "dimension": drawn.X.shape[1], "counts": kept}


def run(options: argparse.Namespace) -> list[Line]:
    """The lines of all draws; those that are missing are made first."""
    told = "imported" if options.imported else "predicted"
    parts = (machine.code_hash(), told, options.seed, options.queries, *options.sizes)
    file = Path(options.out) / "psafe" / ("-".join(map(str, parts)) + ".jsonl")
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.loads(text) for text in file.read_text().splitlines()] if file.exists() else []
    done = {line["draw"] for line in lines}
    missing = [number for number in range(options.draws) if number not in done]
    work = partial(
        one, seed=options.seed, queries=options.queries, sizes=options.sizes, imported=options.imported
    )
    with file.open("a") as out:
        for i, line in enumerate(_mapped(work, missing, options.jobs)):
            out.write(json.dumps(line) + "\n")
            lines.append(line)
            if i % 50 == 49:
                out.flush()
                print(f"{len(lines)} of {options.draws} draws", file=sys.stderr, flush=True)
    return sorted((line for line in lines if line["draw"] < options.draws), key=lambda line: line["draw"])


def _mapped(work: Callable[[int], Line], numbers: Sequence[int], jobs: int) -> Iterable[Line]:
    if jobs == 1:
        yield from map(work, numbers)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(work, numbers, chunksize=5)


@dataclass(frozen=True)
class Claim:
    """The queries of one size and row whose P(safe) lies within one range."""

    queries: int
    claimed: float  # mean risk
    realised: float
    low: float  # ends of its 95 % interval
    high: float

    @property
    def held(self) -> bool:
        """Whether no more than LIMIT times the claimed risk is realised, the interval included."""
        return self.queries == 0 or self.high <= LIMIT * self.claimed

    def cells(self) -> list[str]:
        """Of a table."""
        if self.queries == 0:
            return ["0", "-", "-"]
        shown = f"{100 * self.realised:.3g} [{100 * self.low:.3g}, {100 * self.high:.3g}]"
        return [str(self.queries), f"{100 * self.claimed:.3g}", shown]


def claim(kept: Array, at: int, weights: Array) -> Claim:
    """Of the counts (draws, …), those of the range `at`; weights (RESAMPLES, draws) resample the draws."""
    count, risk, failures = kept[:, 3 * at : 3 * at + 3].T
    if count.sum() == 0:
        return Claim(0, 0.0, 0.0, 0.0, 0.0)
    realised = (weights @ failures) / np.maximum(weights @ count, 1.0)
    low, high = np.quantile(realised, [0.025, 0.975])
    total = count.sum()
    return Claim(int(total), risk.sum() / total, failures.sum() / total, float(low), float(high))


def report(lines: Sequence[Line], queries: int) -> list[str]:
    """A table for each size, and a verdict for each promise."""
    sizes = sorted(map(int, lines[0]["counts"]))
    share = np.full(len(lines), 1.0 / len(lines))
    weights = np.random.default_rng(0).multinomial(len(lines), share, RESAMPLES).astype(float)
    parts, verdicts = [], []
    for n in sizes:
        kept = {row: np.array([line["counts"][str(n)][row] for line in lines]) for row in ROWS}
        sure = {row: float(values[:, -2].sum()) for row, values in kept.items()}
        score = {row: float(values[:, -1].mean()) / queries for row, values in kept.items()}
        rows = []
        for row, label in ROWS.items():
            claims = [claim(kept[row], at, weights) for at in range(len(CLAIMS))]
            cells = [cell for found in claims for cell in found.cells()]
            rows.append([label, *cells, f"{sure[row] / max(sure['true'], 1.0):.2f}", f"{score[row]:.4f}"])
            if row == "integrated":
                for name, found in zip(CLAIMS, claims, strict=True):
                    text = f"n = {n}, P(safe) {name}: risk {100 * found.realised:.3g} % up to"
                    text += (
                        f" {100 * found.high:.3g} %, claimed {100 * found.claimed:.3g} % (at most 1.5 times)"
                    )
                    verdicts.append(verdict(text, found.held))
        if n in SHARPNESS:
            ratio = sure["integrated"] / max(sure["true"], 1.0)
            text = f"n = {n}: {ratio:.2f} times as many queries reach 0.99 (at least {SHARPNESS[n]})"
            verdicts.append(verdict(text, ratio >= SHARPNESS[n]))
        text = f"n = {n}: log score {score['integrated']:.4f} (at least {score['known']:.4f})"
        verdicts.append(verdict(text, score["integrated"] >= score["known"]))
        ranges = [f"{name}: {what}" for name in CLAIMS for what in ("queries", "risk %", "realised %")]
        parts.append(table((f"n = {n}", *ranges, "reach 0.99", "log score"), rows))
    return [*parts, *verdicts]


def main(arguments: list[str] | None = None) -> int:
    """Print the tables; 0 when every promise held."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.psafe", description=__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--sizes", type=lambda text: tuple(map(int, text.split(","))), default=SIZES)
    parser.add_argument("--seed", type=int, default=0, help="below 90,000; to choose constants, below 1000")
    parser.add_argument("--imported", action="store_true", help="trials are told at once")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", default="out", help="where finished draws are kept")
    parser.add_argument("--store", action="store_true", help="keep the table with the repository")
    options = parser.parse_args(arguments)
    if options.seed >= RESERVED:
        parser.error(f"seeds from {RESERVED} on are reserved for judging")
    answer = report(run(options), options.queries)
    print("\n\n".join(answer[: len(options.sizes)]) + "\n\n" + "\n".join(answer[len(options.sizes) :]))
    if options.store:
        store(options, answer)
    return 1 if any(line.startswith("MISSED") for line in answer) else 0


def store(options: argparse.Namespace, answer: list[str], file: Path = FILE) -> None:
    """Keep the answer of a command; it takes the place of the same command's earlier one."""
    command = f"python -m benchmarks.psafe --draws {options.draws} --queries {options.queries}"
    command += f" --sizes {','.join(map(str, options.sizes))} --seed {options.seed}"
    command += " --imported" * options.imported
    lines = [line for line in stored(file) if line["command"] != command]
    lines.append({"command": command, "code": machine.code_hash(), "answer": answer})
    file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


def stored(file: Path = FILE) -> list[Line]:
    """The answers that were kept; none where there is no file."""
    return [json.loads(text) for text in file.read_text().splitlines()] if file.exists() else []


def manual_part(file: Path = FILE) -> str:
    """The part of docs/benchmarks.md: each stored command, its tables, and what held."""
    shown = "\n\n".join(_shown(line) for line in stored(file))
    return shown or "*Nothing is stored yet: `python -m benchmarks.psafe --store`.*"


def _shown(line: Line) -> str:
    tables = [part for part in line["answer"] if part.startswith("|")]
    verdicts = [part for part in line["answer"] if not part.startswith("|")]
    parts = [f"`{line['command']}`, sources `{line['code']}`:", *tables]
    return "\n\n".join([*parts, "```text\n" + "\n".join(verdicts) + "\n```"])


if __name__ == "__main__":
    sys.exit(main())
