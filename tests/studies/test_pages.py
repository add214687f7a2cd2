"""The report and the dashboard in a real browser."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import optuna
import pytest

import tumble
from tests.study_files import write_study
from tests.toys import small_optimizer
from tumble import plots
from tumble.integrations.optuna import private
from tumble.studies import dashboard, plotly_figures, report
from tumble.studies.ledger import Ledger
from tumble.studies.runner import Runner
from tumble.studies.study_file import read_study_file

mpl.use("agg")
optuna.logging.set_verbosity(optuna.logging.ERROR)
NAMES = [
    "best-safe-value",
    "margins",
    "budget",
    "surface",
    "slices",
    "expected-gain",
    "importance",
    "predicted-and-happened",
    "parallel-coordinates",
]

MIXED = """\
name = "<mixed & wild>"
objective = "cost"
maximize = true
trials = 12
failures = 4
[parameters]
speed = { low = 10.0, high = 1000.0, log = true }
n = { low = 1, high = 9, type = "int" }
bit = { choices = ["hss", "carbide", "<b>&amp;</b>"] }
on = { choices = [true, false] }
[constraints]
torque = "<= 12"
"""


def mixed_ledger(folder: Path) -> Ledger:
    path = folder / "mixed.toml"
    path.write_text(MIXED)
    ledger = Ledger(read_study_file(path))
    rng = np.random.default_rng(0)
    for i in range(10):
        asked = ledger.ask()
        if i in (3, 6):
            ledger.fail(asked.number, "<script>alert('broke')</script>")
        elif i == 7:
            ledger.skip(asked.number)
        else:
            ledger.tell(asked.number, {"cost": float(rng.normal()), "torque": 11.5 + float(rng.normal())})
    ledger.ask()
    return ledger


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    return mixed_ledger(tmp_path_factory.mktemp("mixed"))


@pytest.fixture(scope="module")
def written(ledger: Ledger, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the mixed study."""
    path = tmp_path_factory.mktemp("written") / "report.html"
    report.write_report(ledger, path)
    return path


def open_page(browser: Any, url: str) -> tuple[Any, list[str]]:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(url)
    return page, errors


def keep(page: Any, name: str) -> None:
    """A screenshot, where someone wants to look at it."""
    folder = os.environ.get("TUMBLE_SCREENSHOTS")
    if folder:
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


def test_the_report_opens_in_a_browser_without_an_error(
    browser: Any, ledger: Ledger, written: Path, tmp_path: Path
) -> None:
    page, errors = open_page(browser, written.as_uri())
    for name in NAMES:
        page.wait_for_selector(f"#{name} .plot", timeout=180_000)
    assert page.title() == "<mixed & wild>"
    assert page.locator(".trials tbody tr").count() == len(ledger.entries())
    assert "<script>alert('broke')</script>" in page.locator(".trials tbody").inner_text()
    assert "safest" in page.content() or "bold" in page.content()
    keep(page, "report")
    for width in (320, 700, 1900):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.pdf(path=str(tmp_path / "report.pdf"), prefer_css_page_size=True)
    assert errors == []
    page.close()


def far_ledger(folder: Path, far: int = 2) -> Ledger:
    """A study whose first `far` values and margins lie far above the others."""
    ledger = Ledger(read_study_file(write_study(folder, trials=24, command="", start=False)))
    for i in range(20):
        cost, load = (1e6, -1e6) if i < far else (2.0 - 0.05 * i, -0.5 - 0.01 * i)
        ledger.tell(ledger.ask().number, {"cost": cost, "load": load})
    return ledger


def test_values_outside_the_axis_are_marked_as_such_and_no_line_stands_at_a_false_height(
    browser: Any, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    report.write_report(far_ledger(tmp_path), path)
    page, errors = open_page(browser, path.as_uri())
    for name, dots in (("best-safe-value", 18), ("margins", 18)):
        figure = page.locator(f"#{name}")
        assert figure.locator(".plot .dot").count() == dots
        titles = figure.locator(".plot .beyond.safe title").all_text_contents()
        assert [title.endswith(", outside the axis") for title in titles] == [True, True]
        assert "values lie outside" in figure.locator(".legend").inner_text()
    assert page.locator("#best-safe-value .legend").inner_text().endswith("2 values lie outside")
    line = page.locator("#best-safe-value .plot svg path.best")  # in a frame that cuts it
    assert line.evaluate("path => path.getBBox().y") < -1000
    keep(page, "outside")
    assert errors == []
    page.close()


def test_a_prediction_outside_the_axis_is_not_counted_as_a_value(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    report.write_report(far_ledger(tmp_path, far=1), path)
    page, errors = open_page(browser, path.as_uri())
    beyond = page.locator("#margins .plot .beyond.guess").count()
    assert beyond > 1
    said = page.locator("#margins .legend").inner_text()
    assert said.endswith(f"1 value lies outside\n{beyond} predictions lie outside")
    assert errors == []
    page.close()


def large_ledger(folder: Path, objective: float, parameter: float) -> Ledger:
    """A study with large numbers that differ in their last digits."""
    file = write_study(folder, trials=16, command="", start=False)
    wide = f"x = {{ low = {parameter - 400.0}, high = {parameter + 600.0} }}"
    file.write_text(file.read_text().replace("x = { low = 0.0, high = 1.0 }", wide))
    ledger = Ledger(read_study_file(file))
    for _ in range(8):
        asked = ledger.ask()
        x, y = (asked.x["x"] - parameter) / 1000.0, asked.x["y"]
        ledger.tell(asked.number, {"cost": objective + 900.0 * (x**2 + y**2), "load": 1e6 * (x + y - 0.9)})
    return ledger


WRITTEN = """plots => plots.map(plot => {
  const box = one => one.getBoundingClientRect().toJSON();
  const texts = [...plot.querySelectorAll("text.tick, text.label")];
  return {plot: box(plot), texts: texts.map(one => ({text: one.textContent, ...box(one)}))};
})"""


def overlap(one: dict[str, float], other: dict[str, float]) -> bool:
    """Whether two boxes share a place."""
    across = one["left"] < other["right"] and other["left"] < one["right"]
    return across and one["top"] < other["bottom"] and other["top"] < one["bottom"]


@pytest.mark.parametrize(
    ("objective", "parameter"), [(1_234_567.0, 1_234_567.0), (-987_654_321.0, 45_600_000.0), (3e-4, 500.0)]
)
def test_large_numbers_at_the_axes_are_whole_and_cover_nothing(
    browser: Any, tmp_path: Path, objective: float, parameter: float
) -> None:
    path = tmp_path / "report.html"
    report.write_report(large_ledger(tmp_path, objective, parameter), path)
    page, errors = open_page(browser, path.as_uri())
    keep(page, f"large-{objective:g}")
    for drawn in page.locator(".plot").evaluate_all(WRITTEN):
        frame, written = drawn["plot"], drawn["texts"]
        for i, one in enumerate(written):
            assert frame["left"] <= one["left"] < one["right"] <= frame["right"], one
            assert not [other for other in written[i + 1 :] if overlap(one, other)], one
    ticks = page.locator("#best-safe-value .plot text.tick[text-anchor=end]").all_text_contents()
    assert len(set(ticks)) == len(ticks) > 1
    assert errors == []
    page.close()


def test_a_report_without_a_value_shows_none(browser: Any, tmp_path: Path) -> None:
    ledger = Ledger(read_study_file(write_study(tmp_path, command="")))
    for _ in range(2):
        ledger.fail(ledger.ask().number, "broke")
    path = tmp_path / "report.html"
    report.write_report(ledger, path)
    page, errors = open_page(browser, path.as_uri())
    page.wait_for_selector("#slices .plot", timeout=180_000)
    assert page.locator("#slices .mean, #slices .plot .band, #surface .plot .cell").count() == 0
    turned = (
        "found => found.filter(one => one.getAttribute('text-anchor') === 'end').map(one => one.textContent)"
    )
    for name in ("best-safe-value", "slices"):
        assert page.eval_on_selector_all(f"#{name} .plot .tick", turned) == []
    assert errors == []
    page.close()


def test_long_names_are_cut_with_a_mark_and_stay_inside_their_figure(browser: Any, tmp_path: Path) -> None:
    file = write_study(tmp_path, command="", start=False)
    name = "seconds_per_hole_of_the_first_kind_and_of_the_second"
    file.write_text(file.read_text().replace('"cost"', f'"{name}"').replace("high = 1.0", "high = 0.000004"))
    ledger = Ledger(read_study_file(file))
    for i in range(3):
        ledger.tell(ledger.ask().number, {name: 1.0 + i, "load": -1.0})
    path = tmp_path / "report.html"
    report.write_report(ledger, path)
    page, errors = open_page(browser, path.as_uri())
    page.wait_for_selector("#slices .plot", timeout=180_000)
    outside = """found => found.filter(one => {
        const text = one.getBoundingClientRect(), plot = one.ownerSVGElement.getBoundingClientRect();
        return Math.min(text.left - plot.left, plot.right - text.right, text.top - plot.top) < -1;
    }).map(one => one.textContent)"""
    assert page.eval_on_selector_all("#slices .plot text, #best-safe-value .plot text", outside) == []
    assert page.locator("#slices .plot .label title").first.text_content() == name
    assert errors == []
    page.close()


def test_the_legend_shows_the_recommendation_as_it_is_drawn(browser: Any, written: Path) -> None:
    page, _ = open_page(browser, written.as_uri())
    drawn, sample = (page.locator(f"#surface {place} path.recommended") for place in (".plot", ".sample"))
    assert sample.get_attribute("d").endswith("Z")
    for key in ("fill", "stroke"):
        styles = [shape.evaluate(f"shape => getComputedStyle(shape).{key}") for shape in (drawn, sample)]
        assert styles[0] == styles[1]
    page.close()


def test_the_report_says_when_by_what_and_with_which_budget_it_was_made(written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    assert f"tumble {tumble.__version__} · seed 0 · T = 12 trials, B = 4 failures" in text
    for name in ("recommended", "in flight", "next", "expected gain"):
        assert f"<th>{name}</th>" in text


def test_the_report_shows_what_is_known_beforehand_and_when_the_search_ends(tmp_path: Path) -> None:
    file = write_study(tmp_path, extra='min_gain = 0.25\nknown = ["x + y <= 1.5"]', command="")
    with Ledger(read_study_file(file)) as ledger:
        text = report.page(ledger)
    assert "<th>known</th><td>x + y &lt;= 1.5</td>" in text
    assert "<th>min_gain</th><td>0.25</td>" in text


def test_a_skipped_trial_is_not_shown_as_failed_on_the_dashboard(ledger: Ledger) -> None:
    view = dashboard.StudyView(ledger)
    shown = view.get_all_trials(ledger.store.study_id)[7]
    assert (shown.state, shown.user_attrs["tumble"]) == (optuna.trial.TrialState.PRUNED, "skipped")
    assert view.get_all_trials(ledger.store.study_id)[3].state == optuna.trial.TrialState.FAIL


def test_the_report_fetches_nothing(written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert 'src="http' not in text
    assert '<link rel="icon" href="data:,">' in text


def test_the_report_is_small_enough_for_a_mail(written: Path) -> None:
    assert len(written.read_bytes()) < 5e5


def test_the_report_of_a_study_without_trials_says_so(tmp_path: Path) -> None:
    text = report.page(Ledger(read_study_file(write_study(tmp_path))))
    assert "Nothing was told yet" in text
    assert "nothing safe was seen yet" in text


@pytest.fixture
def served(ledger: Ledger) -> Iterator[str]:
    server = dashboard.make(ledger)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    assert server.server_address[0] == "127.0.0.1"
    yield f"http://127.0.0.1:{server.server_port}/dashboard/studies/{ledger.store.study_id}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_dashboard_opens_in_a_browser_and_shows_our_figures_next_to_its_own(
    browser: Any, served: str
) -> None:
    page, errors = open_page(browser, served)
    page.wait_for_selector("text=Best safe value over trials", timeout=180_000)
    page.wait_for_selector("text=Through the recommendation", timeout=180_000)
    assert page.locator(".js-plotly-plot").count() >= len(NAMES) + 1
    keep(page, "dashboard")
    assert errors == []
    page.close()


def test_the_dashboards_view_is_read_only_and_adds_what_the_dashboard_reads(ledger: Ledger) -> None:
    view = dashboard.StudyView(ledger)
    study_id = ledger.store.study_id
    with pytest.raises(dashboard.ReadOnly, match="only shows the study"):
        view.set_study_user_attr(study_id, "a", 1)
    with pytest.raises(dashboard.ReadOnly):
        view.delete_study(study_id)
    told = [t for t in view.get_all_trials(study_id) if t.state == optuna.trial.TrialState.COMPLETE]
    assert all(len(t.system_attrs["constraints"]) == 1 for t in told)
    assert view.get_trial(private.trial_id_of(told[0])).constraints == told[0].constraints
    best = ledger.status().best
    assert best is not None
    assert view.get_best_trial(study_id).number == best.trial
    (study,) = view.get_all_studies()
    assert {key.split(":")[2] for key in study.system_attrs if key.startswith(dashboard.PLOT)} == set(NAMES)
    assert view.get_study_system_attrs(study_id) == study.system_attrs
    assert not any(key.startswith(dashboard.PLOT) for key in ledger.storage.get_study_system_attrs(study_id))


def test_a_port_that_is_taken_is_an_error_with_a_remedy(ledger: Ledger) -> None:
    with (
        dashboard.make(ledger) as server,
        pytest.raises(tumble.InputError, match="can't be used"),
    ):
        dashboard.make(ledger, server.server_port)


# -- numbers -------------------------------------------------------------------------------------------------


def test_crashes_have_a_colour_and_a_place_of_their_own_among_the_coordinates() -> None:
    (lines,) = plotly_figures.coordinates_figure(plots.coordinates_data(small_optimizer()), "cost").data
    assert lines.line.color == (0, 1, 0, 2, 0)
    assert len(set(plotly_figures.OUTCOMES.values())) == 3
    assert lines.line.colorbar.ticktext == ("safe", "failed", "crashed")
    *_, value, outcome = lines.dimensions
    assert value.values[3] > max(value.values[i] for i in (0, 1, 2, 4))
    assert dict(zip(value.tickvals, value.ticktext, strict=True))[value.values[3]] == "none"
    assert outcome.values == (0, 1, 0, 2, 0)


def test_the_marks_of_values_that_lie_close_together_differ() -> None:
    opt = tumble.Optimizer([[0, 1]], trials=3, failures=3, seed=0)
    for value in (2500.0, 2500.4):
        opt.tell(opt.ask(), value)
    (lines,) = plotly_figures.coordinates_figure(plots.coordinates_data(opt), "cost").data
    assert lines.dimensions[1].ticktext == ("2500", "2500.1", "2500.2", "2500.3", "2500.4")


def test_a_study_of_crashes_alone_is_drawn() -> None:
    opt = tumble.Optimizer([[0, 1]], trials=3, failures=3, seed=0)
    opt.tell(opt.ask(), failed=True)
    (lines,) = plotly_figures.coordinates_figure(plots.coordinates_data(opt), "cost").data
    assert lines.dimensions[1].ticktext == ("0", "none")


def test_a_study_that_ran_has_every_figure(tmp_path: Path) -> None:
    ledger = Ledger(read_study_file(write_study(tmp_path, trials=8)))
    Runner(ledger).run()
    assert list(plotly_figures.figures(ledger)) == NAMES
