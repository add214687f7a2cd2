"""Reading a study file: what may stand in it, and one clear message for everything that may not.

Reading writes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tumble import methods
from tumble.checks import CRASH
from tumble.errors import InputError
from tumble.parameters import Choice
from tumble.space import Space
from tumble.studies import misplaced, schema, storage_url
from tumble.studies.config import NAME, PLACEHOLDER, StudyConfig
from tumble.studies.errors import StudyFileError
from tumble.studies.keys import FILE
from tumble.studies.limits import Limit, parse_limit
from tumble.studies.parameter_tables import TABLE, exact, read_parameters
from tumble.studies.schema import Wrong
from tumble.studies.toml_file import read_toml

DRIVERS = ("sqlite", "postgresql")
MISWRITTEN = re.compile(  # {x:.3f}, {x!r}, {x[0]} or { x }; neither {x: 1} nor the ${x:-1} of a shell
    rf"(?<!\$)\{{\s*({NAME.pattern})\s*(?:\[[^\[\]{{}}]*\]|![rsa])?(?::[^\s{{}}:\"']*)?\s*\}}"
)
HALF = re.compile(rf"(?<!\$)\{{({NAME.pattern})|(?<![A-Za-z0-9_.-])({NAME.pattern})\}}")  # {x or x}


def read_study_file(path: str | Path) -> StudyConfig:
    """The study that a TOML file describes.

    Parameters
    ----------
    path
        Where the file is.

    Returns
    -------
    StudyConfig
        All that the file says, checked.

    Raises
    ------
    StudyFileError
        If the file can't be used; the message names the file, the key and what to write instead.

    Examples
    --------
    >>> config = read_study_file("drill.toml")  # doctest: +SKIP
    >>> config.result_names  # doctest: +SKIP
    ('cost', 'torque', 'temperature')
    """
    file = Path(path)
    table = read_toml(file)
    try:
        _check_parameters_are_under_their_table(table)
        misplaced.check_no_key_is_a_fixed_parameter(table)
        config = _config(file, SimpleNamespace(**schema.read(table, FILE)))
    except Wrong as wrong:
        message = _with_example(wrong) + misplaced.hint(table, wrong.keys)
        raise _wrong(file, ".".join(wrong.keys), message) from None
    for check in (_check_names, _check_budget, _check_method, _check_command):
        check(config)
    return config


def _config(file: Path, raw: SimpleNamespace) -> StudyConfig:
    """What the keys of the file come to."""
    parameters = read_parameters(raw.parameters)
    space = _with_known(parameters.space, raw.known)
    return StudyConfig(
        path=file,
        name=raw.name,
        objective=raw.objective,
        maximize=raw.maximize,
        trials=raw.trials,
        failures=raw.failures,
        on_exhausted=raw.on_exhausted,
        storage=_storage(file, raw.storage),
        command=None if raw.command is None else tuple(raw.command),
        timeout=None if raw.timeout is None else float(raw.timeout),
        transient_exit_codes=frozenset(raw.transient_exit_codes),
        retries=raw.retries,
        seed=raw.seed,
        method=raw.method,
        settings=raw.settings,
        space=space,
        limits=tuple(_limit(name, text) for name, text in raw.constraints.items()),
        starts=tuple(_start(space, {**parameters.defaults, **start}) for start in raw.start),
        defaults=parameters.defaults,
        implied_integers=parameters.implied,
        min_gain=raw.min_gain,
        boldness=raw.boldness,
        noise=_noise(raw),
        remarks=parameters.remarks,
    )


def _check_parameters_are_under_their_table(table: Mapping[str, Any]) -> None:
    """Refuse parameters at the top of a file: as keys of the file they would be taken for misspelt ones."""
    tables = {name: value for name, value in table.items() if name not in FILE and isinstance(value, dict)}
    found = [name for name, value in tables.items() if value.keys() & TABLE.keys()]
    if found and "parameters" not in table:
        raise Wrong(f"is missing; write [parameters] in a line above {found[0]}", "parameters")


def _wrong(file: Path, key: str, message: str) -> StudyFileError:
    return StudyFileError(f"{file}: {key}: {message}")


def _with_example(wrong: Wrong) -> str:
    """The message, with an example where it says no remedy and points at no place in a text."""
    key, message = FILE.get(wrong.keys[0]), str(wrong)
    if key is None or "\n" in message:
        return message
    if "; " in message and "add it" not in message:
        return message
    join = ", for example: " if "; " in message else "; write for example: "
    return f"{message}{join}{_in_a_line(key.example, wrong.keys, message)}"


def _in_a_line(example: str, keys: Sequence[str], message: str) -> str:
    """An example as one line of TOML: of the file, or of the table where that is there."""
    head, _, line = example.partition("\n")
    if not line:
        return head
    if message == "must not be empty":
        return line
    if len(keys) == 1:
        return f"{head.strip('[]')}.{line}"
    if keys[0] == "parameters" and len(keys) > 2:
        return f"{keys[1]} = {TABLE[keys[2]].example}"
    return f"{keys[-1]} = {line.partition(' = ')[2]}"


def _limit(name: str, text: str) -> Limit:
    with schema.under("constraints"), schema.under(name):
        return parse_limit(name, text)


def _noise(raw: SimpleNamespace) -> dict[str, float]:
    """The standard deviations that are known, each of a result."""
    results = (raw.objective, *raw.constraints)
    for name in raw.noise:
        if name not in results:
            hint = schema.did_you_mean(name, results, "the results are")
            raise Wrong(f"{name!r} is neither the objective nor a result with a limit; {hint}", "noise", name)
    return {name: float(std) for name, std in raw.noise.items()}


def _storage(file: Path, given: str | None) -> str:
    """The URL, with an SQLite path taken relative to the study file's folder."""
    if given is None:
        return _sqlite(file, f"{file.stem}.db")
    try:
        url = storage_url.resolve(given)
    except LookupError as error:
        url = FILE["storage"].example.partition(" = ")[2]
        message = f"{error.args[0]}; set it to a URL, for example: {url}"
        raise _wrong(file, "storage", message) from None
    came = storage_url.shown(url) if url == given else f"the value of {given}"
    scheme = url.partition("://")[0].partition("+")[0]
    if "://" not in url or scheme not in DRIVERS:
        message = f"expected a URL of {', '.join(DRIVERS)}, but {came} came; write for example: "
        raise _wrong(file, "storage", message + FILE["storage"].example)
    if scheme != "sqlite":
        return url
    path = url.removeprefix("sqlite:///")
    if path == url or not path or path == ":memory:":
        example = f"{FILE['storage'].example} (three slashes, then the path)"
        message = f"{came} keeps nothing; write for example: {example}"
        raise _wrong(file, "storage", message)
    return _sqlite(file, path)


def _sqlite(file: Path, path: str) -> str:
    where = str((file.parent / path).absolute())
    if "?" in where or "%" in where:
        before = path.partition("?")[0]  # what follows may be options with a password
        named = where if before == path else str((file.parent / before).absolute())
        raise _wrong(file, "storage", f"{named}: ? and % mean something else in a URL; use another name")
    return f"sqlite:///{where}"


def _start(space: Space, given: Mapping[str, Choice]) -> dict[str, Choice]:
    """A setting that is tried first; a fixed parameter need not be named, nor one that has a default."""
    with schema.under("start"):
        for name in given:
            if name not in space.names:
                known = f"known are {', '.join(space.names)}"
                hint = known if name in FILE else schema.did_you_mean(name, space.names, "known are")
                raise Wrong(f"is not a parameter; {hint}", name)
        whole = {**space.fixed, **given}
        missing = [name for name in space.names if name not in whole]
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            raise Wrong(
                f"{', '.join(missing)} {verb} missing; give a value here, or, where trials were run without "
                "it, a default under [parameters]"
            )
        try:
            setting = exact(space, whole)
        except InputError as error:
            raise InputError(f"{error}; give a setting inside the parameters' ranges") from None
        space.check_known(setting)
        return setting


def _with_known(space: Space, texts: Sequence[str]) -> Space:
    """The space with the constraints between parameters that are known beforehand."""
    with schema.under("known"):
        try:
            return space.with_known(list(texts))
        except InputError as error:
            raise InputError(str(error).removeprefix("known: ")) from None


def _check_names(config: StudyConfig) -> None:
    for name in config.result_names:
        if not NAME.fullmatch(name):
            message = (
                f"{name!r} can't be the name of a result; use letters from a to z, digits and _ . - only"
            )
            raise _wrong(config.path, "objective" if name == config.objective else "constraints", message)
        if name in config.space.names:
            message = f"{name!r} is a parameter and a result at once; rename one of them"
            raise _wrong(
                config.path, "objective" if name == config.objective else f"constraints.{name}", message
            )
    if CRASH in config.limited_names:
        message = "is the name for trials with no measurement; rename it, for example: crash_force"
        raise _wrong(config.path, f"constraints.{CRASH}", message)
    if config.objective in config.limited_names:
        message = "is the objective too; report it a second time under another name to limit it"
        raise _wrong(config.path, f"constraints.{config.objective}", message)


def _check_budget(config: StudyConfig) -> None:
    if config.failures is not None and config.failures > config.trials:
        message = f"must be at most trials = {config.trials}, but {config.failures} came; lower it or drop it"
        raise _wrong(config.path, "failures", message)
    if config.on_exhausted == "stop" and config.failures is None:
        raise _wrong(config.path, "on_exhausted", '"stop" needs a budget; write for example: failures = 6')
    if config.on_exhausted == "stop" and config.failures == 0:
        message = '0 with on_exhausted = "stop" lets no trial start; write "safe" there, or failures = 1'
        raise _wrong(config.path, "failures", message)


def _check_method(config: StudyConfig) -> None:
    if config.boldness is not None and config.settings == "paper":
        message = 'does not go with settings = "paper", which has constants of its own; drop one of the two'
        raise _wrong(config.path, "boldness", message)
    if config.method is None:
        return
    if config.method not in methods.FREE + methods.CONSTRAINED:
        hint = schema.did_you_mean(config.method, methods.FREE + methods.CONSTRAINED, "known are")
        raise _wrong(config.path, "method", f"unknown method {config.method!r}; {hint}")
    if config.limits and config.method in methods.FREE:
        message = f"{config.method!r} takes no constraints; use one of {', '.join(methods.CONSTRAINED)}"
        raise _wrong(config.path, "method", message)


def _check_command(config: StudyConfig) -> None:
    if config.command is None:
        return
    if not config.command[0].strip():
        raise _wrong(
            config.path, "command", "its first word is empty; write for example: " + FILE["command"].example
        )
    used = {name for word in config.command for name in PLACEHOLDER.findall(word)}
    known = (*config.space.names, "trial")
    for word in config.command:
        _check_braces(config.path, word, known)
    unknown = sorted(used - set(known))
    if unknown:
        hint = schema.did_you_mean(unknown[0], known, "known are")
        raise _wrong(config.path, "command", f"{{{unknown[0]}}} is not a parameter; {hint}")
    unused = [name for name in config.space.names if name not in used and name not in config.fixed]
    if used - {"trial"} and unused:
        message = f"parameter {unused[0]} is never passed on; add {{{unused[0]}}}, or drop the parameter"
        raise _wrong(config.path, "command", message)


def _check_braces(file: Path, word: str, known: Sequence[str]) -> None:
    """Refuse what was meant for a placeholder and is none; other braces are the command's own."""
    for match in MISWRITTEN.finditer(PLACEHOLDER.sub("", word)):
        if match[1] in known:
            message = f"{match[0]} is no placeholder, which is a name in braces only; write {{{match[1]}}}"
            raise _wrong(file, "command", message)
    bare = PLACEHOLDER.sub(r"\1", word)
    halves = [name for match in HALF.finditer(bare) for name in match.groups() if name in known]
    if halves and word.count("{") != word.count("}"):
        message = f"one brace has no partner beside {halves[0]} in {word!r}; write {{{halves[0]}}}"
        raise _wrong(file, "command", message)
