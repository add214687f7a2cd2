"""Probabilities and colours as people see them: never certain, readable, and told apart by everyone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib.resources import files
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tumble import shown

CSS = (files("tumble.studies") / "static" / "figures.css").read_text(encoding="utf-8")
PALETTES = dict(zip(("light", "dark", "print"), re.findall(r":root \{(.*?)\}", CSS, re.S), strict=True))
# Linear RGB as people see it to whom one kind of cone is missing (Machado, Oliveira and Fernandes 2009).
VISIONS = {
    "full": np.eye(3),
    "protan": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    "deutan": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "tritan": np.array([[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]),
}


def palette(name: str) -> dict[str, str]:
    return dict(re.findall(r"--([a-z]+): (#[0-9a-f]+);", PALETTES[name]))


def linear(colour: str) -> np.ndarray:
    digits = colour.lstrip("#")
    digits = "".join(2 * d for d in digits) if len(digits) == 3 else digits
    share = np.array([int(digits[k : k + 2], 16) for k in (0, 2, 4)]) / 255.0
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def contrast(a: str, b: str) -> float:
    low, high = sorted(float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (a, b))
    return (high + 0.05) / (low + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(np.maximum(to_xyz @ np.clip(rgb, 0, 1) / [0.9505, 1.0, 1.089], 0.008856))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def apart(a: str, b: str, vision: str) -> float:
    """The distance of two colours in CIELAB; 2 is just noticeable."""
    return float(np.linalg.norm(lab(VISIONS[vision] @ linear(a)) - lab(VISIONS[vision] @ linear(b))))


@pytest.mark.parametrize("name", PALETTES)
def test_every_colour_of_words_is_readable_on_the_paper(name: str) -> None:
    colours = palette(name)
    for word in ("ink", "faint", "safe", "failed", "crashed", "model"):
        assert contrast(colours[word], colours["paper"]) >= 4.5, word


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("name", PALETTES)
def test_outcomes_are_told_apart_with_every_kind_of_colour_vision(name: str, vision: str) -> None:
    colours = palette(name)
    for one in ("failed", "crashed", "model"):
        assert apart(colours["safe"], colours[one], vision) >= 15.0, one


@pytest.mark.parametrize("vision", VISIONS)
def test_outcomes_of_the_figures_are_told_apart_with_every_kind_of_colour_vision(vision: str) -> None:
    for one, other in combinations((shown.SAFE, shown.FAILED, shown.CRASHED, shown.NEUTRAL), 2):
        assert apart(one, other, vision) >= 15.0, (one, other)


@given(st.floats(0.0, 1.0))
def test_no_probability_is_shown_as_certain(p: float) -> None:
    assert "100 %" not in shown.percent(p).replace(">", "")
    assert shown.safety(p).endswith(shown.percent(p).removeprefix(">"))


@given(st.floats(-1e9, 1e9), st.floats(1e-3, 1e9), st.floats(0.0, 1.0))
def test_a_number_of_a_range_is_shown_to_a_thousandth_of_it(low: float, width: float, share: float) -> None:
    high = low + width
    value = low + share * width
    text = shown.number(value, shown.digits_within(low, high))
    assert abs(float(text) - value) <= 1e-3 * (high - low)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1 + 0.2, "0.3"),
        (9.68241, "9.6824"),
        (100000.25, "100000"),
        (-123456.7, "-123457"),
        (1e300, "1e+300"),
    ],
)
def test_no_digit_before_the_point_is_dropped(value: float, text: str) -> None:
    assert shown.number(value) == text


@given(st.floats(0.0, 0.9999))
def test_a_probability_is_shown_to_four_digits(p: float) -> None:
    assert abs(float(shown.percent(p).removesuffix(" %")) / 100.0 - p) <= 0.5e-4 * 1.0001


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    "name", [b"drill.toml", b"my d'rill.toml", b"-d.toml", b"caf\xe9's \\0 7.toml", b"a\n\t7.toml"]
)
def test_a_path_is_one_word_of_a_command_whatever_its_bytes(name: bytes) -> None:
    word = shown.as_word(Path(os.fsdecode(name)))
    assert word.isprintable()
    said = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True).stdout
    assert said.removeprefix(b"./") == name
