"""A CSV file as it comes: commas, semicolons or tabs, points or commas in numbers, with or without a BOM."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tumble.errors import InputError

SEPARATORS = (",", ";", "\t")
SEP_LINE = re.compile(r"sep=(.)\r?\n")  # what a spreadsheet may write first
DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?")
DECIMAL_POINT = re.compile(r"[-+]?\d*\.\d+(?:[eE][-+]?\d+)?")
THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")  # or three decimals
WORKBOOK = b"PK\x03\x04"  # how .xlsx and .ods begin
BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True)
class CsvTable:
    """The cells of a file.

    Parameters
    ----------
    columns
        The names in the first line.
    rows
        The cells of the other lines by column, with the number of the line, which is the first one where a
        cell has line ends in it; None where a line ends early.
    decimal_comma
        Whether numbers are written with a comma: 3,2 rather than 3.2.
    comma_is_sure
        Whether no comma stands between thousands: a number such as 0,5 says so, unless others have a point.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str | None]], ...]
    decimal_comma: bool
    comma_is_sure: bool


def read_csv(path: Path, expected: Sequence[str]) -> CsvTable:
    """The table in a file.

    Parameters
    ----------
    path
        The file.
    expected
        Names of columns, by which the separator and the sign before decimals are recognised.

    Raises
    ------
    InputError
        If it can't be read.
    """
    try:
        text = _decoded(path.read_bytes())
    except FileNotFoundError:
        raise InputError(f"there is no file {path}; correct its name, or name its folder too") from None
    except OSError as error:
        raise InputError(f"{path}: can't be read ({error.strerror}); give a CSV file in UTF-8") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is no text; save the table as CSV in UTF-8, and give that file") from None
    given = SEP_LINE.match(text)
    text = text[given.end() :] if given else text
    if not text.strip():
        raise InputError(f"{path}: the file is empty; its first line must name every column")
    if _is_json(text):
        raise InputError(f"{path}: is JSON, and a table is read as CSV; export it to a name with .csv")
    separator, before = (given[1], 1) if given else (_separator(text, expected), 0)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        columns = tuple(name.strip() for name in next(filter(None, reader), ()))
        found = list(_numbered(reader, before))
    except csv.Error as error:
        line = before + reader.line_num
        raise InputError(f"{path}: line {line}: {error}; save it as plain CSV") from None
    rows = tuple((line, _by_column(columns, cells, f"{path}: line {line}")) for line, cells in found)
    cells = [cell.strip() for _, row in rows for cell in row.values() if cell]
    with_comma = [cell for cell in cells if separator != "," and DECIMAL_COMMA.fullmatch(cell)]
    numbers = [(row.get(name) or "").strip() for _, row in rows for name in expected]
    has_points = any(DECIMAL_POINT.fullmatch(number) for number in numbers)
    sure = not has_points and any(not THOUSANDS.fullmatch(cell) for cell in with_comma)
    return CsvTable(columns, rows, bool(with_comma), sure)


def _decoded(data: bytes) -> str:
    """The text; without a BOM UTF-8, or what spreadsheets write where it is not."""
    for bom, encoding in BOMS.items():
        if data.startswith(bom):
            return data.decode(encoding)
    if data.startswith(WORKBOOK):
        raise UnicodeDecodeError("utf-8", WORKBOOK, 0, len(WORKBOOK), "a workbook of a spreadsheet")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252")


def _is_json(text: str) -> bool:
    """Whether it is a list or an object, as an export to a name that ends in .json."""
    try:
        return isinstance(json.loads(text), list | dict)
    except (ValueError, RecursionError):
        return False


def _separator(text: str, expected: Sequence[str]) -> str:
    """The one by which the first line names most of the columns."""
    first = text.lstrip("\r\n").partition("\n")[0]

    def found(separator: str) -> int:
        return len({name.strip().strip('"') for name in first.split(separator)} & set(expected))

    return max(SEPARATORS, key=lambda separator: (found(separator), first.count(separator)))


def _numbered(reader: Any, before: int) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, each with its first line in the file; `before`: lines passed already."""
    passed = reader.line_num
    for cells in reader:
        if cells:
            yield before + passed + 1, cells
        passed = reader.line_num


def _by_column(columns: Sequence[str], cells: Sequence[str], where: str) -> dict[str, str | None]:
    """The cells of a row by column; empty ones beyond the last column are passed over."""
    if any(cell.strip() for cell in cells[len(columns) :]):
        raise InputError(f"{where}: there are more cells than columns; put text with a separator in quotes")
    return {**dict.fromkeys(columns), **dict(zip(columns, cells, strict=False))}
