"""How things look on a terminal, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tumble import shown
from tumble.shown import count

if TYPE_CHECKING:
    from tumble.studies.config import StudyConfig
    from tumble.studies.csv_io import Imported
    from tumble.studies.prediction import Prediction
    from tumble.studies.records import Entry, Found, Status
    from tumble.trials import Expected, Recommended, Suggestion

MOST_NAMED = 10  # columns in one line
LESS = ", less than the recommended one"


def as_json(value: object) -> str:
    """One line of JSON; what is not finite becomes null."""
    from tumble.serialize import plain

    return json.dumps(plain(value), ensure_ascii=False)


def number(value: object) -> str:
    """A value with five digits, and never with fewer than stand before its point."""
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    return shown.number(value) if isinstance(value, float) else str(value)


def percent(p: float | None) -> str:
    """A probability; a dash where none is known."""
    return "-" if p is None else shown.percent(p)


def printable(text: str) -> str:
    """Text that a terminal only shows: what would move its cursor or change its colours is written out."""
    return "".join(c if c.isprintable() or c in "\n\t" else _written_out(c) for c in text)


def in_line(text: str) -> str:
    """As `printable`, and in one line: the end of a line within the text is written out, too."""
    return "".join(c if c.isprintable() else _written_out(c) for c in text)


def _written_out(letter: str) -> str:
    """A letter as Python writes it; where it stands for a byte of a path that is no letter, that byte."""
    byte = ord(letter) - 0xDC00
    return f"\\x{byte:02x}" if 0x80 <= byte <= 0xFF else ascii(letter)[1:-1]


def pairs(values: Mapping[str, object]) -> str:
    """The values as name=value, in one line."""
    return "  ".join(f"{name}={number(value)}" for name, value in values.items())


def setting(entry: Entry, config: StudyConfig) -> str:
    """The setting of a trial; one whose runner still decides, or died before it did, has none."""
    is_decided = all(name in entry.parameters for name in config.space.names)
    return pairs(config.in_words(entry.parameters)) if is_decided else "its setting is not decided yet"


def suggestion(found: Suggestion, config: StudyConfig) -> str:
    """A trial to run by hand, and how to tell it."""
    results = " ".join(f"{name}=..." for name in config.result_names)
    values = [f"  {name} = {value}" for name, value in config.in_words(found.x).items()]
    lines = [f"trial {found.number}", *values, found.why]
    lines += [] if found.alarm is None else [f"alarm: {found.alarm}"]
    tell = f"tumble tell {shown.as_word(config.path)} {found.number}"
    lines += ["", f"then: {tell} {results}", f'  or: {tell} --failed "why"']
    return "\n".join(lines)


def line(entry: Entry, config: StudyConfig) -> str:
    """One trial in one line."""
    why = entry.reason(config)
    reason = f" ({why})" if why else ""
    mode = str(entry.decision.get("mode", "own"))
    amended = " amended" if entry.is_amended else ""
    if entry.retries:
        amended += f" after {count(len(entry.retries), 'retry', 'retries')}"
    outcome = f"{entry.outcome} " if entry.results else entry.outcome
    head = f"{entry.trial:>4}  {mode:<8}{percent(entry.p_safe):>9}  {outcome:<9}"
    text = f"{head}{pairs(entry.results)}{reason}{amended}  <-  {pairs(config.in_words(entry.parameters))}"
    return in_line(text.rstrip())


def status(found: Status, config: StudyConfig, likely: Expected | None = None) -> str:
    """Where a study stands; `likely` is the safe trial that is expected to be best, under noise."""
    budget = "no limit" if config.failures is None else f"{found.failures_left} left of {config.failures}"
    lines = [
        f"{config.name}: {'maximise' if config.maximize else 'minimise'} {config.objective}",
        f"  trials    {found.trials} told, {found.pending} in flight, "
        f"{found.trials_left} left of {config.trials}",
        f"  failures  {found.failures}, {budget}",
        f"  best      {best(found.best, config)}",
    ]
    if likely is not None:
        lines.append(f"  expected  {expected(likely, config)}")
    if found.gain_bound is not None and found.trials_left:
        gain = f"{number(found.expected_gain)} expected of the trials left (latest suggestion)"
        bound = f"at most {number(found.gain_bound)} (90 %, largest of the last five)"
        lines.append(f"  to gain   {gain}, {bound}")
    if found.alarm is not None:
        lines.append(f"  alarm     {found.alarm}")
    if found.imported:
        lines.append(f"  old data  {count(found.imported, 'trial')} imported, not billed")
    if found.never:
        lines.append(f"  never     {count(found.never, 'setting is', 'settings are')} never to be tried")
    if found.voided or found.amended:
        lines.append(f"  changed   {found.voided} voided, {found.amended} amended")
    lines += [f"  note      {remark}" for remark in (*config.remarks, *found.remarks)]
    return "\n".join(lines)


def best(found: Found | None, config: StudyConfig) -> str:
    """The best safe trial."""
    if found is None:
        return "nothing safe was seen yet"
    setting = pairs(config.in_words(found.parameters))
    return f"{config.objective} = {number(found.value)} in trial {found.trial}:  {setting}"


def expected(found: Expected, config: StudyConfig) -> str:
    """The safe trial that is expected to be best, noise apart."""
    value = f"{config.objective} = {number(found.mean)} ± {found.std:.2g}"
    return f"{value} in trial {found.number}, noise averaged:  {pairs(config.in_words(found.x))}"


def recommended(found: Recommended | None, config: StudyConfig) -> str:
    """The setting to use."""
    if found is None:
        return "nothing yet: tell a trial first"
    sure = shown.safety(found.p_safe)
    if not found.reached:
        sure += ", less than asked for: the safest point that is known"
    value = f"{config.objective} = {number(found.mean)} ± {found.std:.2g} expected"
    if found.mean != found.mean:
        value = shown.NOT_SEEN
    return f"{pairs(config.in_words(found.x))}  ({value}, {sure})"


def is_better(found: Found, choice: Recommended, config: StudyConfig) -> bool:
    """Whether the best safe trial is another setting and better than what the recommended one should give."""
    gain = found.value - choice.mean if config.maximize else choice.mean - found.value
    return gain > choice.std and choice.x != found.parameters


def because(found: Found, choice: Recommended, predicted: Prediction, config: StudyConfig) -> str:
    """Why the best safe trial is not recommended, although it was better."""
    broken = config.space.broken({name: found.parameters[name] for name in config.space.names})
    if broken:
        return f'the setting of trial {found.trial} does not keep "{broken[0]}", which is known'
    if predicted.p_safe < predicted.needed:
        safe = f"trial {found.trial} was safe, but by the model its setting has P(safe) = "
        needs = f"and a recommendation needs {percent(predicted.needed)}"
        return f"{safe}{percent(predicted.p_safe)}{f', {needs}' if choice.reached else LESS}"
    return (
        f"by the model the setting of trial {found.trial} has {config.objective} = {number(predicted.mean)} "
        f"± {predicted.std:.2g}: one measurement is partly noise"
    )


def imported(found: Imported) -> Iterator[str]:
    """What came of reading old trials: rows taken, rows passed over, and columns of no use."""
    if not found.rows:
        yield "0 trials read: the table has no row below its first line"
        return
    were = count(found.known, "was there already and is", "were there already and are")
    again = f"; {were} passed over" if found.known else ""
    voids = ", ".join(f"{n} {outcome}" for outcome, n in found.passed_over.items())
    void = f"; passed over by their outcome: {voids}" if voids else ""
    yield f"{count(found.read, 'trial')} read as evidence; none is billed{again}{void}"
    if found.unused:
        yield f"nothing was read from {_columns(found.unused)}"


def _columns(names: Sequence[str]) -> str:
    """Columns by name, the first `MOST_NAMED` of them."""
    listed = printable(", ".join(" ".join(name.split()) for name in names[:MOST_NAMED]))
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{'column' if len(names) == 1 else 'columns'} {listed}{more}"
