"""The page in a real browser, and the examples of the guide."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")

from tests.house import ROOT
from tests.server.clients import study_by_hand
from tests.server.processes import Process, needs_curl
from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file

GUIDE = (ROOT / "docs" / "guides" / "serve.md").read_text(encoding="utf-8")
STUDY = (ROOT / "docs" / "guides" / "by-hand.md").read_text(encoding="utf-8")


def block(page: str, title: str) -> str:
    """The block of a page with this title."""
    found = re.search(rf'```\w+ title="{re.escape(title)}"\n(.*?)```', page, re.DOTALL)
    assert found is not None
    return found.group(1)


def test_a_phone_asks_loses_its_server_and_tells_once_when_it_is_back(browser: Any, tmp_path: Path) -> None:
    file = study_by_hand(tmp_path)
    process = Process(file)
    errors: list[str] = []
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(process.address)
    page.click("#ask", timeout=180_000)
    page.fill("#result-cost", "1,5", timeout=180_000)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    process.close()
    page.wait_for_selector("#lost:not([hidden])", timeout=180_000)
    page.fill("#result-load", "-0.5")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=What you sent is kept on this device", timeout=180_000)
    assert page.input_value("#result-cost") == "1,5"
    process = Process(file, port=process.port)
    page.wait_for_selector("text=Trial 0 is told: safe", timeout=180_000)
    with Ledger(read_study_file(file)) as ledger:
        assert [(e.results, e.outcome) for e in ledger.entries()] == [({"cost": 1.5, "load": -0.5}, "safe")]
    assert errors == []
    page.close()
    process.close()


def test_a_fault_of_the_study_is_said_until_it_is_over(browser: Any, tmp_path: Path) -> None:
    process = Process(study_by_hand(tmp_path))
    page = browser.new_page()
    streams = ['event: error\ndata: {"error": "the storage is away"}\n\n']

    def stream(route: Any) -> None:
        status = route.fetch(url=f"{process.address}/status").text()
        route.fulfill(status=200, body=streams.pop(0) if streams else f"event: status\ndata: {status}\n\n")

    page.route("**/events", stream)
    page.goto(process.address)
    page.wait_for_selector("text=The storage is away.", timeout=180_000)
    page.wait_for_selector("#message", state="hidden", timeout=180_000)
    page.close()
    process.close()


def test_a_text_that_is_no_number_is_refused_and_an_older_sentence_goes(browser: Any, tmp_path: Path) -> None:
    file = study_by_hand(tmp_path)
    process = Process(file)
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(process.address)
    page.click("#ask", timeout=180_000)
    page.wait_for_selector("#result-cost", timeout=180_000)
    page.click("#setting button[type=submit]")
    page.wait_for_selector("text=Type what you measured first")
    for text in ("abc", "0x10", "0b1", "Infinity", "1e999"):
        page.fill("#result-cost", text)
        page.click("#setting button[type=submit]")
        assert page.inner_text("#error-cost") == f"{text} is no number"
        assert page.is_hidden("#message")
    page.click("#own summary")
    page.fill("#own-x", "0x1")
    page.fill("#own-y", "0.5")
    page.click("#own-form button")
    page.wait_for_selector("text=x needs a number.")
    page.fill("#result-cost", "+1.5e0")
    page.fill("#result-load", "-.5")
    page.click("#setting button[type=submit]")
    page.wait_for_selector("text=Trial 0 is told: safe", timeout=180_000)
    with Ledger(read_study_file(file)) as ledger:
        assert [e.results for e in ledger.entries()] == [{"cost": 1.5, "load": -0.5}]
    page.close()
    process.close()


def test_a_failure_needs_no_reason_and_what_is_skipped_is_no_evidence(browser: Any, tmp_path: Path) -> None:
    file = study_by_hand(tmp_path)
    process = Process(file)
    page = browser.new_page(viewport={"width": 1200, "height": 844})
    page.goto(process.address)
    page.click("#ask", timeout=180_000)
    page.click("#setting button:text-is('Failed')", timeout=180_000)
    page.wait_for_selector("text=Trial 0 is told: failed", timeout=180_000)
    page.click("#ask", timeout=180_000)
    page.click("#setting button:text-is('Skip')", timeout=180_000)
    page.wait_for_selector("text=Trial 1 is skipped", timeout=180_000)
    page.click("#table summary")
    page.wait_for_selector("#trials td.outcome-skipped")
    outcomes = page.eval_on_selector_all(
        "#trials td:nth-child(2)", "found => found.map(one => one.textContent)"
    )
    assert outcomes == ["skipped", "failed"]
    page.close()
    process.close()


def test_a_crash_that_was_none_is_taken_back_in_a_word_and_its_numbers_alone_do_not(
    browser: Any, tmp_path: Path
) -> None:
    file = study_by_hand(tmp_path)
    process = Process(file)
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(process.address)
    page.click("#ask", timeout=180_000)
    page.fill("#result-load", "-0.5", timeout=180_000)
    page.fill("#reason", "bit broke")
    page.click("#setting button:text-is('Failed')")
    page.wait_for_selector("text=Trial 0 is told: failed", timeout=180_000)
    for load, button, outcome in (("-0.4", "Correct it", "failed"), ("-0.3", "It did not fail", "safe")):
        page.click("button:text-is('Correct trial 0')", timeout=180_000)
        page.fill("#result-cost", "1.5")
        page.fill("#result-load", load)
        page.click(f"#setting button:text-is('{button}')")
        page.wait_for_selector(f"text=Trial 0 is corrected: {outcome}", timeout=180_000)
    with Ledger(read_study_file(file)) as ledger:
        entry = ledger.entry(0)
        assert (entry.outcome, entry.results) == ("safe", {"cost": 1.5, "load": -0.3})
    page.close()
    process.close()


def test_a_number_and_a_short_name_stay_on_one_line_beside_long_ones(browser: Any, tmp_path: Path) -> None:
    file = study_by_hand(tmp_path)
    text = file.read_text().replace("x =", "speed_of_the_main_spindle =").replace("= 0.2", "= 0.234567")
    text = text.replace(
        "[constraints]", 'bit = { choices = ["carbide with a long name of its coating", "b"] }\n[constraints]'
    )
    file.write_text(text + 'bit = "carbide with a long name of its coating"\n')
    process = Process(file)
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(process.address)
    page.click("#ask", timeout=180_000)
    page.wait_for_selector("#result-cost", timeout=180_000)
    lines = """found => found.map(one => {
        const text = new Range();
        text.selectNodeContents(one);
        return [one.textContent, text.getClientRects().length];
    })"""
    shown = dict(page.eval_on_selector_all(".parameters dt, .parameters dd", lines))
    assert [shown[name] for name in ("speed_of_the_main_spindle", "0.234567", "y", "0.3", "bit")] == [1] * 5
    page.click("#table summary")
    page.wait_for_selector("#trials tbody tr")
    assert page.eval_on_selector("#trials tbody tr", "row => row.getBoundingClientRect().height") < 150
    page.close()
    process.close()


def test_a_setting_has_all_the_digits_that_matter_in_its_range(browser: Any, tmp_path: Path) -> None:
    file = study_by_hand(tmp_path)
    text = file.read_text().replace("x = { low = 0.0, high = 1.0 }", "x = { low = 2500.0, high = 2500.4 }")
    text = text.replace("x = 0.2", "x = 2500.23456\nn = 1234567")
    file.write_text(text.replace("[constraints]", "n = { low = 1234000, high = 1235000 }\n[constraints]"))
    process = Process(file)
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(process.address)
    page.click("#ask", timeout=180_000)
    page.wait_for_selector("#result-cost", timeout=180_000)
    assert page.locator(".parameters dd").all_text_contents() == ["2500.23456", "0.3", "1234567"]
    page.close()
    process.close()


def test_what_is_typed_for_one_study_never_reaches_another_at_the_same_address(
    browser: Any, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    one, other = study_by_hand(tmp_path), study_by_hand(tmp_path / "other")
    other.write_text(other.read_text().replace('"bowl"', '"length"').replace("x =", "length ="))
    process = Process(one)
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(process.address)
    page.click("#ask", timeout=60_000)
    page.fill("#result-cost", "1.5", timeout=60_000)
    page.fill("#result-load", "-0.5")
    process.close()
    page.wait_for_selector("#lost:not([hidden])", timeout=60_000)
    page.keyboard.press("Enter")
    page.wait_for_selector("text=What you sent is kept on this device", timeout=60_000)
    page.fill("#result-cost", "1.7")  # put right after it was sent
    process = Process(other, port=process.port)
    page.wait_for_selector("#name:text-is('length')", timeout=60_000)
    page.click("#ask", timeout=60_000)
    page.wait_for_selector("#result-cost", timeout=60_000)
    assert page.input_value("#result-cost") == ""
    process.close()
    process = Process(one, port=process.port)
    page.wait_for_selector("text=You had typed cost = 1.7", timeout=60_000)
    with Ledger(read_study_file(one)) as ledger:
        assert [e.results for e in ledger.entries()] == [{"cost": 1.5, "load": -0.5}]
    with Ledger(read_study_file(other)) as ledger:
        assert [e.outcome for e in ledger.entries()] == ["running"]
    page.close()
    process.close()


def guide_study(folder: Path) -> Path:
    file = folder / "drill.toml"
    file.write_text(block(STUDY, "drill.toml").replace("trials = 20", "trials = 3"))
    return file


@needs_curl
def test_the_lines_of_curl_in_the_guide_work(tmp_path: Path) -> None:
    process = Process(guide_study(tmp_path))
    script = block(GUIDE, "drill.sh").replace("http://127.0.0.1:8000/", process.address)
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    process.close()
    assert '"error"' not in done.stdout
    assert '"outcome": "safe"' in done.stdout
    assert '"trials": 1' in done.stdout


def test_the_python_of_the_guide_drives_a_study_to_its_end(tmp_path: Path) -> None:
    process = Process(guide_study(tmp_path))
    client = tmp_path / "client.py"
    client.write_text(block(GUIDE, "client.py"))
    command = [sys.executable, str(client), process.address.rstrip("/")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    process.close()
    assert done.stdout.splitlines()[-1].startswith("3 of 3 trials are told; raise")
    assert len(done.stdout.splitlines()) == 4
