"""What a notebook shows of a search, a result and a suggestion."""

from __future__ import annotations

import numpy as np
import pytest

import tumble
from tumble import notebook
from tumble.space import Categorical, Float, Space

TINY = tumble.Settings(raw_samples=16, restarts=2, grid=16, n_minima=4)
SPACE = Space({"speed": Float(0.0, 1.0), "<script>": Categorical(("a&b", "c"))})


@pytest.fixture(scope="module")
def opt():
    found = tumble.Optimizer(SPACE, 10, 3, constraints=["torque", "heat"], seed=0, settings=TINY)
    found.tell({"speed": 0.2, "<script>": "a&b"}, 2.0, [-1.0, -0.5])
    found.tell({"speed": 0.9, "<script>": "c"}, 1.0, [0.5, -0.5])
    found.tell({"speed": 0.8, "<script>": "c"}, failed=True, reason="broke")
    return found


def test_an_optimizer_says_how_far_it_is(opt):
    assert repr(opt) == "<Optimizer: 3 of 10 trials told, 2 of 3 failures, best 2 in trial 0>"
    assert (
        repr(tumble.Optimizer([(0.0, 1.0)], 5))
        == "<Optimizer: 0 of 5 trials told, 0 failures, nothing safe yet>"
    )
    html = opt._repr_html_()
    assert "Optimizer: 3 of 10 trials told" in html
    assert html.count("<svg") == html.count("</svg>") == 1
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "a&amp;b" in html


def test_before_any_trial_there_is_no_figure():
    assert "<svg" not in tumble.Optimizer([(0.0, 1.0)], 5)._repr_html_()
    assert "<svg" not in tumble.Optimizer([(0.0, 1.0)], 5, 2).ask()._repr_html_()  # P(safe) is not known


def test_a_suggestion_is_one_line_and_a_page(opt):
    suggestion = opt.suggest(3)
    line = repr(suggestion)
    assert line.startswith("<Suggestion 3: speed = ")
    assert "\n" not in line
    assert f"mode={suggestion.mode!r}" in line
    html = suggestion._repr_html_()
    assert all(word in html for word in ("torque", "heat", "crash", "<svg", "&lt;script&gt;"))
    assert str(suggestion).split(";")[0] in html


def test_a_suggestion_of_a_box_names_its_coordinates():
    assert "x0 = 0.254996" in repr(tumble.Optimizer([(0.0, 1.0)], seed=0).ask())


def test_a_result_is_a_page():
    result = tumble.minimize(lambda x: (float(x[0]), [x[0] - 0.9]), [(0.0, 1.0)], 4, 2, seed=0, settings=TINY)
    html = result._repr_html_()
    assert "all trials are used" in html
    assert "Recommended: " in html
    assert "The best safe setting:" in html
    failed = tumble.minimize(lambda x: (1.0, [1.0]), [(0.0, 1.0)], 2, seed=0, settings=TINY)
    assert "nothing safe was seen" in failed._repr_html_()
    assert "The best safe setting:" not in failed._repr_html_()


def test_a_long_setting_is_cut():
    setting = {f"p{k}": float(k) for k in range(30)}
    assert notebook.in_line(setting).endswith("p7 = 7, … 22 more")
    assert "… 18 more" in notebook.table(setting)
    assert notebook.in_line(np.array([1.0, 2.5])) == "x0 = 1, x1 = 2.5"
