"""Probabilities as people read them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tumble import shown


@given(st.floats(0.0, 1.0))
def test_no_probability_is_shown_as_certain(p: float) -> None:
    assert "100 %" not in shown.percent(p).replace(">", "")
    assert shown.safety(p).endswith(shown.percent(p).removeprefix(">"))


@given(st.floats(0.0, 0.9999))
def test_a_probability_is_shown_to_four_digits(p: float) -> None:
    assert abs(float(shown.percent(p).removesuffix(" %")) / 100.0 - p) <= 0.5e-4 * 1.0001
