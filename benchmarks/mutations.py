"""Damaged input, mutated at random: files, saved searches, output of rigs, URLs, requests, known constraints.

Run ``python -m benchmarks.mutations``. Every mutation must end in a clean error (a `TumbleError`, or the
verdict that the output of a rig is unusable) or in a right reading. Anything else is a failure: it is shown
with the number that makes it again, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, TypeAlias, cast

import sqlalchemy

import tumble
from tumble.cli.example import EXAMPLE
from tumble.errors import TumbleError
from tumble.parameters import Parameter
from tumble.space import Categorical, Float, Int, Space
from tumble.studies import rig, storage_url
from tumble.studies.csv_io import import_csv
from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file

from . import http_client, plain_python
from .attacks import Line, store_lines
from .damage import mutate_bytes, mutate_json, mutate_known
from .tables import table

Reading: TypeAlias = Literal["error", "read"]
SHOWN = 5  # failures of one kind that are shown
QUICK = 5.0  # seconds of computing in which a known constraint is read, or refused


# -- reading -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Subject:
    """One kind of input: whole examples of it, how one is damaged, and how a damaged one is read.

    Parameters
    ----------
    name
        What it is.
    examples
        Good ones.
    mutate
        Makes a damaged one.
    read
        Says whether it was refused in good order or read; an exception is a failure.
    """

    name: str
    examples: Sequence[Any]
    mutate: Callable[[Any, random.Random], Any]
    read: Callable[[Any], Reading]


class WrongReading(Exception):
    """Something was read that is not so."""


def _claim(holds: bool, what: str) -> None:
    if not holds:
        raise WrongReading(what)


def study_files(folder: Path) -> Subject:
    """Study files, read from the disk."""
    file = folder / "drill.toml"

    def read(data: bytes) -> Reading:
        file.write_bytes(data)
        try:
            config = read_study_file(file)
        except TumbleError:
            return "error"
        _claim(config.trials >= 1 and 0 <= (config.failures or 0) <= config.trials, "a budget out of range")
        bounds = [bound for limit in config.limits for bound in (limit.low, limit.high) if bound is not None]
        _claim(all(map(math.isfinite, bounds)), "a limit that is not finite")
        for start in config.starts:
            _claim(set(config.space.decode(config.space.encode(start))) == set(start), "another start")
        return "read"

    return Subject("study file", [_example().encode()], mutate_bytes, read)


def saved_searches(folder: Path) -> Subject:
    """Saved searches: what `Optimizer.to_dict` gave."""
    space = Space({"x": Float(0.1, 1.0, log=True), "n": Int(1, 9),
                          "c": Categorical(("a", "b", True))})  # fmt: skip
    mixed = tumble.Optimizer(space, trials=9, failures=3, constraints=["g"], seed=1, on_exhausted="stop")
    boxed = tumble.Optimizer([(0.0, 1.0), (-2.0, 3.0)], trials=9, seed=2)
    for i in range(3):
        suggestion = mixed.ask()
        mixed.tell(suggestion.number, float(i), [i - 1.5])
        boxed.tell(boxed.ask().number, float(-i))
    mixed.tell(mixed.ask().number, failed=True)
    mixed.ask()

    def read(data: Any) -> Reading:
        try:
            found = tumble.Optimizer.from_dict(data)
        except TumbleError:
            return "error"
        saved = json.dumps(found.to_dict())
        again = tumble.Optimizer.from_dict(json.loads(saved))
        _claim(json.dumps(again.to_dict()) == saved, "another search when saved again")
        return "read"

    plain = [json.loads(json.dumps(each.to_dict())) for each in (mixed, boxed)]
    return Subject("saved search", plain, mutate_json, read)


def csv_files(folder: Path) -> Subject:
    """CSV files of old trials."""
    (folder / "study.toml").write_text(_example())
    config, file = read_study_file(folder / "study.toml"), folder / "old.csv"

    def read(data: bytes) -> Reading:
        file.write_bytes(data)
        added: list[Any] = []
        store = SimpleNamespace(add=added.append)
        try:
            count = import_csv(cast(Ledger, SimpleNamespace(config=config, entries=list, store=store)), file)
        except TumbleError:
            _claim(not added, "a part of a file that was refused")
            return "error"
        _claim(count.read == len(added), "another number of trials")
        for trial in added:
            config.space.encode(trial.params)
            _claim(all(map(math.isfinite, trial.user_attrs.get("results", {}).values())), "not finite")
        return "read"

    head, row = "speed,flutes,bit,feed,cost,torque,temperature", "900.0,4,carbide,0.1,3.1,11.5,55"
    failed = f'{head},failed,reason\r\n{row},0,\r\n901.5,2,hss,0.05,,14.9,,1,"broke, twice"\r\n'
    return Subject("CSV file", [f"{head}\n{row}\n{row}\n".encode(), failed.encode()], mutate_bytes, read)


def rig_outputs(folder: Path) -> Subject:
    """The output of a rig, with an exit code as its first byte says."""
    (folder / "rig.toml").write_text(_example())
    config = read_study_file(folder / "rig.toml")

    def read(data: bytes) -> Reading:
        code, text = (
            {48: 0, 49: 1, 50: 75, 51: -9}.get(data[0] if data else 0, 0),
            data[1:].decode(errors="replace"),
        )
        verdict = rig.judge(code, text, config, text)
        if isinstance(verdict, rig.Unusable | rig.Transient):
            _claim(len(verdict.reason) < 2000 and len(verdict.output) <= rig.TAIL, "too long a story")
            return "error"
        _claim(all(map(math.isfinite, verdict.results.values())), "a result that is not finite")
        _claim(
            isinstance(verdict, rig.Crashed) or set(config.result_names) <= set(verdict.results), "too few"
        )
        json.dumps(verdict.results, allow_nan=False).encode()
        return "read"

    line = '{"cost": 3.1, "torque": 11.2, "temperature": 55, "power": 1e3}'
    return Subject(
        "rig output", [f"{code}warming up\n{line}\n".encode() for code in "0123"], mutate_bytes, read
    )


def storage_urls(folder: Path) -> Subject:
    """Storage URLs, in a study file; what SQLAlchemy takes for a password may not be shown."""
    file = folder / "url.toml"

    def read(data: bytes) -> Reading:
        url = data.decode(errors="surrogateescape")
        reading, said = _said_of(url, file)
        heard = [piece for piece in _pieces(url) if piece in said]
        _claim(not any(_is_heard(piece, url, file) for piece in heard), "a piece of a password")
        return reading

    examples = [
        "postgresql+psycopg://drill:hunter2secret@db.example.org:5432/rig",
        "postgresql://drill@db/rig?password=hunter2secret&sslmode=require",
        "mysql://:hunter2%40x@db/rig",
        "sqlite:///drill.db",
    ]
    return Subject("storage URL", [url.encode() for url in examples], mutate_bytes, read)


def _said_of(url: str, file: Path) -> tuple[Reading, str]:
    """Whether a URL is taken, and all that is said about it."""
    file.write_text(_example().replace('storage = "sqlite:///drill.db"', f"storage = {json.dumps(url)}"))
    reading: Reading = "read"
    said = [storage_url.shown(url), storage_url.scrub(url, url)]
    try:
        said.append(repr(read_study_file(file)))
    except TumbleError as error:
        said, reading = [*said, str(error)], "error"
    return reading, "\n".join(said).replace(str(file.parent), "")


def _pieces(url: str) -> set[str]:
    """Four characters in a row of what SQLAlchemy takes for the password."""
    try:
        found = sqlalchemy.make_url(url)
    except (ValueError, TypeError, sqlalchemy.exc.ArgumentError):
        return set()
    if found.drivername.startswith("sqlite"):
        return set()
    query = found.query.get("password", "")
    secrets = [str(found.password or ""), *([query] if isinstance(query, str) else query)]
    return {secret[i : i + 4] for secret in secrets for i in range(len(secret) - 3)}


def _is_heard(piece: str, url: str, file: Path) -> bool:
    """Whether a piece comes from the URL: what is said all the same without it in the URL is said by us.

    A damaged password may contain words of our own, such as the scheme or the example in the message.
    """
    scheme, colon, rest = url.partition(":")
    other = next(letter for letter in "zqxjk" if letter not in piece) * len(piece)
    return piece not in _said_of(scheme + colon + rest.replace(piece, other), file)[1]


def _example() -> str:
    return EXAMPLE.format(file="drill.toml", name="drill")


def http_requests(folder: Path) -> Subject:
    """Requests to the HTTP door, byte by byte; many of them change its study."""
    file = folder / "served.toml"
    file.write_text(_example().replace('name = "drill"', 'name = "served"'))
    client = http_client.Client(file)
    tell = {"trial": 0, "results": {"cost": 3.2, "torque": 9.4, "temperature": 41}}
    bodies: dict[str, dict[str, Any]] = {
        "/ask": {},
        "/tell": tell,
        "/skip": {"trial": 1, "reason": "power cut"},
        "/void": {"trial": 0, "reason": "sensor"},
        "/amend": {"trial": 0, "results": {"cost": 3.1}, "failed": "broke"},
        "/try": {"parameters": {"speed": 900.0, "flutes": 4, "bit": "hss", "feed": 0.1}},
    }

    def read(data: bytes) -> Reading:
        if data.startswith(b"GET /events"):  # a stream, which has no end
            return "error"
        answer = client.send(data)
        if not answer.code:
            return "error"
        _claim(answer.code in (200, 400, 401, 403, 404, 405, 409, 413, 415, 422), f"code {answer.code}")
        _claim("default-src 'none'" in answer.headers["content-security-policy"], "no policy")
        if answer.headers["content-type"].startswith("application/json"):
            found = answer.json()
            _claim(answer.code == 200 or len(found["error"]) > 10, "no sentence")
        return "read" if answer.code == 200 else "error"

    keys = ("", "4f1c")
    changes = [http_client.request("POST", path, body, key) for path, body in bodies.items() for key in keys]
    looks = [http_client.request("GET", path) for path in ("/", "/status", "/trials", "/openapi.json")]
    return Subject("HTTP request", [*changes, *looks], mutate_bytes, read)


def known_constraints(folder: Path) -> Subject:
    """Known constraints between parameters, compared with what Python says of them; hostile ones, too."""
    parameters: dict[str, Parameter] = {
        "speed": Float(500.0, 1500.0), "feed": Float(0.01, 0.3, log=True), "flutes": Int(2, 6),
        "bit": Categorical(("hss", "carbide", "7")), "dry": Categorical((True, False)),
    }  # fmt: skip
    settings = random.Random(0)
    points = [[settings.random() for _ in range(Space(parameters).dim)] for _ in range(8)]

    def read(data: bytes) -> Reading:
        text, began = data.decode(errors="replace"), time.process_time()
        try:
            space = Space(parameters, known=[text])
            inside = [space.decode(point) for point in points]
            kept = [not space.broken(setting) for setting in inside]
        except TumbleError as error:
            _claim(len(str(error)) < 3000, "too long a story")
            return "error"
        finally:
            _claim(time.process_time() - began < QUICK, "it took too long")
        for setting, is_kept in zip(inside, kept, strict=True):
            with contextlib.suppress(plain_python.Unclear):
                _claim(plain_python.holds(text, setting) == is_kept, f"another meaning of {text[:150]!a}")
        return "read"

    examples = [
        "speed * feed <= 90",
        '100 <= speed * feed / flutes + 20 * flutes < 2 ** 8 or bit == "hss" and dry == True',
        "min(speed, 900, 100 * flutes) - -feed ** 2 >= sqrt(abs(log10(feed))) * 300",
        "(speed <= 900 or flutes != 4) and bit != 'carbide' and exp(feed) + sin(pi * feed) > 0.1",
    ]
    return Subject("known constraint", [text.encode() for text in examples], mutate_known, read)


SUBJECTS = (
    study_files, saved_searches, csv_files, rig_outputs, storage_urls, http_requests, known_constraints
)  # fmt: skip


# -- counting ------------------------------------------------------------------------------------------------


@dataclass
class Count:
    """What came of the mutations of one subject."""

    tried: int = 0
    error: int = 0
    read: int = 0
    failures: list[str] = field(default_factory=list)


def run(subject: Subject, numbers: range, seed: int = 0) -> Count:
    """Mutate and read; the same seed and number make the same mutation."""
    count = Count()
    for number in numbers:
        rng = random.Random(f"{seed}:{subject.name}:{number}")
        damaged = subject.mutate(rng.choice(subject.examples), rng)
        count.tried += 1
        try:
            reading = subject.read(damaged)
        except Exception as error:  # whatever it is, it is what we look for
            count.failures.append(f"{subject.name} {number}: {type(error).__name__}: {str(error)[:200]!a}")
        else:
            count.error += reading == "error"
            count.read += reading == "read"
    return count


def main(arguments: list[str] | None = None) -> int:
    """Print the table and the first failures; 1 where there was one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutations", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="mutations of each subject")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="the name of one subject")
    parser.add_argument("--store", action="store_true", help="keep the counts for the page of guarantees")
    chosen = parser.parse_args(arguments)
    rows, failures = [], list[str]()
    with tempfile.TemporaryDirectory() as folder:
        for make in SUBJECTS:
            subject = make(Path(folder))
            if chosen.only in (None, subject.name):
                found = run(subject, range(chosen.first, chosen.first + chosen.count), chosen.seed)
                counts = (found.tried, found.error, found.read, len(found.failures))
                rows.append([subject.name, *map(str, counts)])
                failures += found.failures[:SHOWN]
                if chosen.store:
                    store_lines([_line(subject.name, found)])
    print(table(("what", "tried", "clean error", "read", "failures"), rows))
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


def _line(name: str, found: Count) -> Line:
    lost = len(found.failures)
    counts = {"tried": found.tried, "survived": found.tried - lost, "lost": lost}
    readings = {"error": found.error, "read": found.read}
    keys = {"attack": "mutation", "what": name, "command": "python -m benchmarks.mutations"}
    return keys | counts | readings


if __name__ == "__main__":
    sys.exit(main())
