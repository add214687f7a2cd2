"""Running one trial's command: no shell, a time limit, and a last line of JSON or of name=value.

What a command may say, and what it means:

====================================  =======================================================================
ends with 0, last line usable         `Measured`: a value and whatever else it printed
ends with 0, a result not finite      `Crashed` ("returned nan"): a failure, with what else was measured
ends with another code                `Crashed`: a failure; a last line of JSON may carry measured constraints
                                      and the last line of the error stream is the reason
ends with a transient code            `Transient`: a fault of the infrastructure, to be tried again
runs longer than the limit            `Crashed` ("ran longer than 600 s"): a failure, and the command is ended
ends with 0, last line unusable       `Unusable`: the command does not fit the study file; nothing is billed
can't be started                      `Unusable`
====================================  =======================================================================
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeAlias

from tumble import checks
from tumble.parameters import Choice
from tumble.studies import processes
from tumble.studies.config import NAME, PLACEHOLDER, StudyConfig
from tumble.studies.errors import StudyFileError
from tumble.studies.results import is_usable
from tumble.studies.values import number_hint, read_number

KEPT = 2**20  # bytes of an output that are looked at
TAIL = 4000  # characters of output that are kept for a message
TWICE = "given twice"  # what a name says that stands twice in a result
LONGEST_NAME = 200  # characters of the name of a result
LONGEST_PATH = 4096  # bytes of the first line of a script
LAST = 300  # characters of the last line of the error stream that are part of a reason
COMMA = re.compile(  # within a number; a name is read from its beginning only: one may have a million letters
    rf"(?<![A-Za-z0-9_.-])({NAME.pattern})=([-+]?\d*,\d+(?:[eE][-+]?\d+)?)(?=[\s;]|$)"
)
INTERPRETER = re.compile(r"(python|pypy)[\d.]*|(ba|da|z)?sh|Rscript|julia|node|perl|ruby|lua|octave")
SCRIPT = re.compile(r"[^-\s{}][^\s{}]*\.(py|sh|[rR]|jl|js|pl|rb|lua|m)")


@dataclass(frozen=True)
class Measured:
    """The trial ran: results by name, the objective among them."""

    results: dict[str, float]


@dataclass(frozen=True)
class Crashed:
    """The trial failed; what was measured before it did may be here."""

    reason: str
    results: dict[str, float] = field(default_factory=dict)
    output: str = ""


@dataclass(frozen=True)
class Transient:
    """The infrastructure failed; nothing is known about the setting."""

    reason: str
    output: str = ""


@dataclass(frozen=True)
class Unusable:
    """The command can't be started, or its output can't be understood: a person has to look at it."""

    reason: str
    output: str = ""


Verdict: TypeAlias = Measured | Crashed | Transient | Unusable


def check(config: StudyConfig) -> None:
    """Refuse a command that can't be started, or whose script does not exist, before there is a trial."""
    if config.command is None:
        return
    folder = config.path.absolute().parent
    wrong = _unstartable(config.command[0], folder) or _without_script(config.command, folder)
    if wrong:
        raise StudyFileError(f"{config.path}: command: {wrong}")


def _unstartable(program: str, folder: Path) -> str:
    """What is wrong with the program; empty where that depends on the setting of a trial."""
    if PLACEHOLDER.search(program):
        return ""
    if "/" not in program:
        places = os.pathsep.join(str(folder / place) for place in os.get_exec_path())
        known = shutil.which(program, path=places)
        return "" if known else f"there is no program {program!r} on the PATH; install it, or give its path"
    file = folder / program
    if not file.is_file():
        return f"there is no file {file}; write it, or correct the path"
    return "" if os.access(file, os.X_OK) else f"{file} may not be executed; run: chmod +x {file}"


def _without_script(command: tuple[str, ...], folder: Path) -> str:
    """What is wrong with the script of an interpreter; empty where nothing is.

    The script is the first word after the options, unless an option says that code or a module follows (-c,
    -lc, -m, -e).
    """
    script = next((word for word in command[1:] if not re.fullmatch(r"-\w*[^cme]", word)), "")
    if not INTERPRETER.fullmatch(Path(command[0]).name) or not SCRIPT.fullmatch(script):
        return ""
    file = folder / script
    return "" if file.exists() else f"there is no script {file}; write it, or correct the path"


def _why_not(error: Exception, file: Path) -> str:
    """Why a command can't be started; of a script that is there, what is wrong with its first line."""
    why = getattr(error, "strerror", None) or str(error)
    if not isinstance(error, OSError) or error.errno not in (errno.ENOEXEC, errno.ENOENT):
        return why
    if error.errno == errno.ENOEXEC:
        line = "begin it with a line such as #!/usr/bin/env python3"
        other = f'command = ["python3", "{file.name}", ...]'
        return f"{why}; if it is a script, {line}, or name the program that reads it first: {other}"
    with contextlib.suppress(OSError), file.open("rb") as script:
        first = script.readline(LONGEST_PATH).removesuffix(b"\n").decode(errors="replace")
        if first.startswith("#!"):
            ends = ", where the end of a line as Windows writes it counts" if first.endswith("\r") else ""
            return f"there is no such program as its first line names, {first!r}{ends}; correct that line"
    return why


def command_line(command: tuple[str, ...], parameters: Mapping[str, Choice], trial: int) -> list[str]:
    """The words to run: every {name} is replaced by its value, once, and a value never becomes two words."""
    values = {name: _text(value) for name, value in parameters.items()} | {"trial": str(trial)}
    return [PLACEHOLDER.sub(lambda match: values[match[1]], word) for word in command]


def run(
    config: StudyConfig,
    parameters: Mapping[str, Choice],
    trial: int,
    beat: Callable[[], None] = lambda: None,
    beat_seconds: float = 1.0,
    mark: str = "",
) -> Verdict:
    """Run the study's command for one trial, and say what came of it.

    The command starts in the folder of the study file and in a session of its own, so that Ctrl-C on the
    terminal does not reach it.  The environment variables TUMBLE_TRIAL and TUMBLE_PARAMETERS hold the number
    of the trial and the setting as JSON.  All that it started ends with it.

    Parameters
    ----------
    config
        The study; it must have a command.
    parameters, trial
        The setting, and the number of the trial.
    beat
        Called every `beat_seconds` while the command runs, in a thread of its own.  If it raises, the command
        is ended.
    mark
        What the environment variable TUMBLE_RUN holds, by which all that the command starts can be found.

    Returns
    -------
    Measured, Crashed, Transient or Unusable
        See the table above.
    """
    assert config.command is not None
    words = command_line(config.command, parameters, trial)
    environment = {"TUMBLE_TRIAL": str(trial), "TUMBLE_PARAMETERS": json.dumps(dict(parameters))}
    folder = config.path.absolute().parent
    with contextlib.ExitStack() as files:
        try:
            out, err = (files.enter_context(tempfile.TemporaryFile()) for _ in range(2))
            process = processes.start(words, folder, environment | {processes.MARK: mark}, out, err)
        except (OSError, ValueError) as error:
            return Unusable(
                f"the command {words[0]!r} can't be started: {_why_not(error, folder / words[0])}"
            )
        timed_out = processes.wait(process, config.timeout, beat, beat_seconds)
        text, errors = _content(out), _content(err)
    if timed_out:
        return Crashed(f"ran longer than {config.timeout:g} s", _partial(text), errors[-TAIL:])
    return judge(process.returncode, text, config, errors)


def judge(code: int, text: str, config: StudyConfig, errors: str = "") -> Verdict:
    """What an exit code, an output and an error stream (`errors`) mean.

    A reason ends with the last line of the error stream, because most programs say there what happened.
    """
    how = f"exit code {code}" if code >= 0 else f"ended by signal {-code} ({_signal_name(-code)})"
    reason = ": ".join(filter(None, (how, _last_words(errors))))
    if code in config.transient_exit_codes:
        return Transient(reason, errors[-TAIL:])
    if code != 0:
        return Crashed(reason, _partial(text), errors[-TAIL:])
    try:
        results = parse_results(text, config)
    except ValueError as error:
        return Unusable(str(error), (text + errors)[-TAIL:])
    finite = {name: x for name, x in results.items() if is_usable(x)}
    broken = next((name for name in config.result_names if name not in finite), None)
    if broken is None:
        return Measured(finite)
    which = "" if broken == config.objective else f" as {broken}"
    return Crashed(f"returned {results[broken]:g}{which}", finite)


def parse_results(text: str, config: StudyConfig) -> dict[str, float]:
    """The numbers in the last line; `ValueError` says what is wrong with it."""
    wanted = config.result_names
    example = f"{json.dumps(dict.fromkeys(wanted, 1.5))}, or {' '.join(f'{name}=1.5' for name in wanted)}"
    table = _last_line(text)
    if table is None:
        line = "the last line of the output" if text.strip() else "there was no output; its last line"
        raise ValueError(_with_comma(text) or f"{line} must be JSON like {example}")
    for name in wanted:
        if name not in table:
            raise ValueError(f"the last line of the output lacks {name!r}; expected JSON like {example}")
    results = _numbers(table)
    for name in wanted:
        if table[name] is TWICE:
            raise ValueError(f"{name!r} is given twice in the last line of the output; print it once")
        if name not in results:
            raise ValueError(_no_number(name, table[name]))
    return results


def _no_number(name: str, value: object) -> str:
    """What is said of a result that is no number, with the way to write one with a decimal comma."""
    said = f"{name!r} in the last line of the output must be a number, but is {checks.show(value)}"
    return said + number_hint(value.strip()) if isinstance(value, str) else said


def _with_comma(text: str) -> str:
    """What is said of a last line of name=value with a decimal comma; empty for any other."""
    found = COMMA.search(_lines(text)[-1]) if text.strip() else None
    return _no_number(found[1], found[2]) if found else ""


def _partial(text: str) -> dict[str, float]:
    """What a failed trial still measured: the finite results of its last line."""
    return {name: x for name, x in _numbers(_last_line(text) or {}).items() if is_usable(x)}


def _content(file: IO[bytes]) -> str:
    """The end of an output; what is longer than `KEPT` loses its beginning."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - KEPT, 0))
    return file.read().decode(errors="replace")


def _last_words(errors: str) -> str:
    lines = errors.split("\n")
    return next((line.strip()[-LAST:] for line in reversed(lines) if line.strip()), "")


def _last_line(text: str) -> dict[str, Any] | None:
    """What the last line says, as JSON or as name=value; None where it says neither."""
    lines = _lines(text)
    if not lines:
        return None
    try:
        table = json.loads(lines[-1], object_pairs_hook=_each_once)
    except (ValueError, RecursionError):  # no JSON, or nested too deep
        return _pairs(lines[-1])
    return table if isinstance(table, dict) else None


def _lines(text: str) -> list[str]:
    """The lines that are not empty; JSON may hold other separators than ends of lines."""
    return [line for line in re.split(r"[\r\n]", text) if line.strip()]


def _pairs(line: str) -> dict[str, Any] | None:
    """A line of cost=3.1 torque=11.2, with blanks, commas or semicolons between."""
    words = [word for word in re.split(r"[\s,;]+", line) if word]
    pairs = [word.partition("=") for word in words]
    if not pairs or not all(equals and NAME.fullmatch(name) for name, equals, _ in pairs):
        return None
    return _each_once([(name, _read_number(value)) for name, _, value in pairs])


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A table; a name that stands twice has no number, but says so."""
    table: dict[str, Any] = {}
    for name, value in pairs:
        table[name] = TWICE if name in table else value
    return table


def _read_number(text: str) -> Any:
    """A number where it is one, else the text."""
    number = read_number(text)
    return text if number is None else number


def _numbers(table: Mapping[str, Any]) -> dict[str, float]:
    """The numbers by name; a name that can't be shown and stored in one line is passed over."""
    numbers = {k: v for k, v in table.items() if isinstance(v, (int, float)) and not isinstance(v, bool)}
    return {k: _float(v) for k, v in numbers.items() if k.isprintable() and len(k) <= LONGEST_NAME}


def _float(number: float) -> float:
    """An integer beyond every float is infinite."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _text(value: Choice) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
