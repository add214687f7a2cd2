"""Figures as SVG: well formed, complete, and readable whatever the values are."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tumble import shown, svg
from tumble.svg import Point

NS = "{http://www.w3.org/2000/svg}"


def elements(figure: str, tag: str) -> list[ElementTree.Element]:
    return ElementTree.fromstring(figure).findall(f"{NS}{tag}")


def test_safe_trials_are_dots_failed_ones_crosses_and_crashes_dotted_lines():
    points = [
        Point(0, 3.0, False),
        Point(1, 9.0, True),
        Point(2, None, True),
        Point(3, 1.0, False),
        Point(4, None, False),
    ]
    figure = svg.progress(points)
    assert len(elements(figure, "circle")) == 2
    crosses = [p for p in elements(figure, "path") if p.get("stroke") == shown.FAILED]
    dotted = [line for line in elements(figure, "line") if line.get("stroke-dasharray")]
    assert (len(crosses), len(dotted)) == (1, 1)
    assert "trial 1: 9, failed" in figure


def test_the_best_safe_value_is_a_line_of_steps_down():
    points = [Point(0, 3.0, False), Point(1, 4.0, False), Point(2, 1.0, False), Point(3, 0.0, True)]
    line = next(
        p for p in elements(svg.progress(points), "path") if p.get("fill") == "none" and p.get("opacity")
    )
    words = (line.get("d") or "").split()
    assert [word for word in words if word.isalpha()] == ["M", "H", "V", "H"]


def test_a_value_far_away_does_not_flatten_the_others():
    points = [Point(k, float(k % 3), False) for k in range(9)] + [Point(9, 1e6, False)]
    heights = {c.get("cy") for c in elements(svg.progress(points), "circle")[:9]}
    assert len(heights) == 3
    assert max(map(float, heights)) - min(map(float, heights)) > 15.0  # type: ignore[arg-type]


@pytest.mark.parametrize("about", [1_234_567.0, -987_654_321.0, 3e-4])
def test_labels_of_large_numbers_differ_and_lie_within_the_figure(about):
    figure = svg.progress([Point(k, about + 90.0 * (k - 3) ** 2, False) for k in range(9)])
    labels = [text for text in elements(figure, "text") if text.get("text-anchor") == "end"]
    assert len({label.text for label in labels}) == len(labels) > 1
    for label in labels:
        assert float(label.get("x") or "nan") >= 7.0 * len(label.text or "")


numbers = st.none() | st.floats(-1e12, 1e12)


@given(st.lists(st.tuples(numbers, st.booleans()), min_size=1, max_size=30))
def test_every_record_gives_a_figure_within_its_frame(rows):
    points = [Point(k, value, failed) for k, (value, failed) in enumerate(rows)]
    figure = svg.progress(points)
    for circle in elements(figure, "circle"):
        assert svg.LEFT <= float(circle.get("cx") or "nan") <= svg.WIDTH
        assert 0.0 <= float(circle.get("cy") or "nan") <= svg.HEIGHT


def test_bars_have_the_length_of_their_probability_and_a_line_at_the_level():
    figure = svg.bars([("P(safe)", 0.5), ("<torque> & a very long name", 0.99999)], 0.25)
    rects = [r for r in elements(figure, "rect") if r.get("fill") == shown.SAFE]
    assert [float(r.get("width") or "nan") for r in rects] == [0.5 * svg.BAR, pytest.approx(svg.BAR, abs=0.1)]
    assert len(elements(figure, "line")) == 1
    assert "&lt;torque&gt; &amp; a ve…" in figure
    assert "&gt;99.99 %" in figure


@pytest.mark.parametrize("level", [None, float("nan"), 0.0])
def test_no_level_no_line(level):
    assert elements(svg.bars([("P(safe)", 0.5)], level), "line") == []
