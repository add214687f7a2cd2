"""The HTTP door: the same rules, counts and sentences as the command line."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from tests.server.clients import Client, measure, served, study_by_hand
from tumble.server import bodies
from tumble.studies.ledger import Ledger
from tumble.studies.ownership import BY_HAND
from tumble.studies.requests import Request, marking
from tumble.studies.study_file import read_study_file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return study_by_hand(tmp_path)


@pytest.fixture
def client(file: Path) -> Iterator[Client]:
    with served(file) as found:
        yield found


def test_a_study_is_driven_to_its_end(client: Client) -> None:
    while (asked := client.post("/ask")).status_code == 200:
        trial = asked.json()
        told = client.post("/tell", {"trial": trial["trial"], "results": measure(trial["parameters"])})
        assert told.status_code == 200, told.text
        assert told.json()["parameters"] == trial["parameters"]
    assert asked.status_code == 409
    assert asked.json()["kind"] == "TrialsExhausted"
    assert asked.json()["error"].startswith("8 of 8 trials are told; raise trials in")
    status, trials = client.get("/status"), client.get("/trials")
    assert (status["trials"], status["trials_left"], len(trials)) == (8, 0, 8)
    best = client.get("/best")
    assert best["best"]["value"] == min(t["results"]["cost"] for t in trials if t["outcome"] == "safe")
    assert 0 <= best["recommended"]["p_safe"] <= 1


def test_failures_skips_amendments_and_voids_count_as_elsewhere(client: Client, file: Path) -> None:
    for _ in range(4):
        client.post("/ask")
    assert client.post("/tell", {"trial": 0, "results": {"cost": 1, "load": -1}}).json()["outcome"] == "safe"
    failed = client.post("/tell", {"trial": 1, "results": {"load": 0.5}, "failed": "bit broke"}).json()
    assert (failed["outcome"], failed["reason"]) == ("failed", "crash: bit broke; breaks load <= 0 by 0.5")
    assert (
        client.post("/tell", {"trial": 2, "failed": "pump", "transient": True}).json()["outcome"]
        == "transient"
    )
    assert client.post("/skip", {"trial": 3, "reason": "power cut"}).json()["reason"] == "power cut"
    amended = client.post("/amend", {"trial": 0, "results": {"cost": 2}}).json()
    assert (amended["results"]["cost"], amended["amended"]) == (2, True)
    assert client.post("/void", {"trial": 1, "reason": "cracked"}).json()["outcome"] == "voided"
    status = client.get("/status")
    assert (status["trials"], status["failures"], status["voided"], status["amended"]) == (1, 0, 1, 1)
    with Ledger(read_study_file(file)) as ledger:
        assert ledger.status().trials == 1


def test_failed_is_true_false_or_a_reason(client: Client) -> None:
    for _ in range(3):
        client.post("/ask")
    results = {"cost": 1, "load": -1}
    told = [client.post("/tell", {"trial": n, "results": results, "failed": failed}).json()
            for n, failed in enumerate((True, False, "bit broke"))]  # fmt: skip
    assert [t["outcome"] for t in told] == ["failed", "safe", "failed"]
    assert [t["reason"] for t in told] == ["crash: told as failed", "", "crash: bit broke"]
    assert client.post("/amend", {"trial": 1, "failed": True}).json()["outcome"] == "failed"


def test_a_corrected_crash_stays_one_until_failed_is_false(client: Client) -> None:
    client.post("/ask")
    client.post("/tell", {"trial": 0, "results": {"cost": 3, "load": -1}, "failed": "bit broke"})
    for more in ({}, {"failed": None}):
        body = {"trial": 0, "results": {"cost": 2, "load": -2}, **more}
        amended = client.post("/amend", body).json()
        assert (amended["outcome"], amended["reason"]) == ("failed", "crash: bit broke")
    amended = client.post("/amend", {"trial": 0, "failed": False}).json()
    assert (amended["outcome"], amended["reason"], amended["results"]) == (
        "safe",
        "",
        {"cost": 2, "load": -2},
    )


def test_what_is_withdrawn_is_not_billed(client: Client) -> None:
    for _ in range(4):
        client.post("/ask")
    assert client.post("/skip", {"trial": 0}).json()["billed"] is False
    assert client.post("/tell", {"trial": 1, "failed": "pump", "transient": True}).json()["billed"] is False
    assert client.post("/tell", {"trial": 2, "failed": True}).json()["billed"] is True
    assert client.post("/void", {"trial": 2}).json()["billed"] is False
    assert [t["billed"] for t in client.get("/trials")] == [False, False, False, True]


@pytest.mark.parametrize(
    ("path", "body", "code", "words"),
    [
        ("/tell", {"trial": 5, "results": {}}, 422, "there is no trial 5: the trials are 0 to 0"),
        ("/tell", {"trial": -1, "results": {}}, 422, "there is no trial -1"),
        ("/tell", {"trial": 10**23, "results": {"cost": 1}}, 422, f"there is no trial {10**23}: the trials"),
        ("/void", {"trial": 2**63}, 422, "there is no trial 9223372036854775808"),
        ("/tell", {"trial": 0, "results": {"csot": 1}}, 422, "unknown result 'csot'; did you mean cost?"),
        ("/tell", {"trial": 0, "results": {"cost": 1}}, 422, "load is missing; a trial that kept its limits"),
        ("/tell", {"trial": 0, "transient": True}, 422, "transient belongs to failed"),
        ("/tell", {"trial": 0, "failed": ""}, 422, "failed is empty: send true or why it failed, and leave"),
        ("/tell", {"trial": 0, "results": {"cost": 1, "load": -1}, "failed": " "}, 422, "failed is empty"),
        ("/amend", {"trial": 0, "failed": ""}, 422, "failed is empty"),
        ("/amend", {"trial": 0, "failed": 0}, 422, "failed must be text, or true or false, but 0 came"),
        ("/tell", {"trial": 0, "failed": 1}, 422, "failed must be text, or true or false, but 1 came"),
        ("/tell", {"trial": 0, "failed": False, "transient": True}, 422, "transient belongs to failed"),
        ("/tell", {"trial": "0"}, 422, "trial must be a whole number, but '0' came"),
        ("/tell", {"trial": True}, 422, "trial must be a whole number, but True came"),
        ("/tell", {"trial": 0, "results": {"cost": "1"}}, 422, "results.cost must be a number, but '1' came"),
        ("/tell", {"trial": 0, "results": [1]}, 422, "results must be an object such as"),
        ("/tell", {"trail": 0}, 422, "trial is missing"),
        ("/skip", {"trial": 0, "raeson": "x"}, 422, "unknown key 'raeson'; did you mean reason?"),
        ("/tell", [], 422, "the body must be an object"),
        ("/try", {"parameters": {"x": None}}, 422, "x must be a number, text, or true or false, but None"),
        ("/try", {"parameters": {"x": [1]}}, 422, "x must be a number, text, or true or false, but [1]"),
        ("/void", {"trial": 0}, 422, "trial 0"),
        ("/amend", {"trial": 0, "results": {"cost": 1}}, 422, "trial 0"),
    ],
)  # fmt: skip
def test_what_can_not_be_used_is_refused_in_a_sentence_and_changes_nothing(
    client: Client, path: str, body: object, code: int, words: str
) -> None:
    client.post("/ask")
    before = client.get("/trials")
    answer = client.post(path, body)
    assert (answer.status_code, answer.json()["kind"]) == (code, "InputError")
    assert words in answer.json()["error"]
    assert client.get("/trials") == before


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ('{"trial": 0, "results": {"cost": 1, "load": 9, "load": -90}}', "load"),
        ('{"trial": 0, "results": {"cost": 1, "load": -1}, "trial": 0}', "trial"),
    ],
)
def test_a_key_that_stands_twice_is_refused(client: Client, body: str, name: str) -> None:
    client.post("/ask")
    answer = client.send("POST", "/tell", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["kind"]) == (422, "InputError")
    assert answer.json()["error"] == f"{name} is given twice; give it once"
    assert client.get("/status")["trials"] == 0


def test_numbers_that_are_not_finite_are_refused(client: Client) -> None:
    client.post("/ask")
    for text in ("NaN", "Infinity", "1e999", "9" * 400):
        body = '{"trial": 0, "results": {"load": 0, "cost": ' + text + "}}"
        answer = client.send("POST", "/tell", content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 422, text
        assert "cost must be a" in answer.json()["error"]
    assert client.get("/status")["pending"] == 1


def test_a_repeated_key_gets_the_first_answer_also_after_a_restart(file: Path) -> None:
    told = {"trial": 0, "results": {"cost": 1.0, "load": -1.0}}
    requests = [("/ask", {}), ("/tell", told), ("/amend", {"trial": 0, "results": {"cost": 2.0}}),
                ("/void", {"trial": 0}), ("/ask", {}), ("/skip", {"trial": 1})]  # fmt: skip
    with served(file) as client:
        first = [client.post(path, body, f"k{i}").json() for i, (path, body) in enumerate(requests)]
        again = [client.post(path, body, f"k{i}").json() for i, (path, body) in enumerate(requests)]
        assert again == first
        trials = client.get("/trials")
    with served(file) as client:
        restarted = [client.post(path, body, f"k{i}") for i, (path, body) in enumerate(requests)]
        assert [answer.status_code for answer in restarted] == [200] * 6
        assert [a.json()["trial"] for a in restarted] == [a["trial"] for a in first]
        assert restarted[0].json() == first[0]
        assert restarted[5].json() == first[5]
        assert client.get("/trials") == trials
        other = client.post("/tell", {**told, "trial": 1}, "k1")
        assert (other.status_code, "came with another request" in other.json()["error"]) == (422, True)


def test_a_key_that_two_servers_get_at_the_same_moment_is_carried_out_once(file: Path) -> None:
    told = {"trial": 0, "results": {"cost": 1.0, "load": -1.0}}
    requests = [("/ask", {}), ("/tell", told), ("/amend", {"trial": 0, "results": {"cost": 2.0}}),
                ("/void", {"trial": 0}), ("/ask", {"n": 2}), ("/skip", {"trial": 1}),
                ("/try", {"parameters": {"x": 0.5, "y": 0.25}})]  # fmt: skip
    with served(file) as one, served(file) as other, ThreadPoolExecutor(2) as clients:
        for i, (path, body) in enumerate(requests):
            sent = [clients.submit(server.post, path, body, f"k{i}") for server in (one, other)]
            first, second = (answer.result() for answer in sent)
            assert (first.status_code, second.status_code) == (200, 200), (path, first.text, second.text)
            assert first.json() == second.json()
        trials = one.get("/trials")
    assert [trial["outcome"] for trial in trials] == ["voided", "skipped", "running", "running"]
    assert len(trials[0]["changes"]) == 2


@pytest.mark.parametrize(("body", "numbers"), [({}, [1]), ({"n": 2}, [1, 2])])
def test_an_asking_whose_trial_was_skipped_before_it_had_a_setting_is_done_when_it_is_repeated(
    file: Path, body: dict[str, int], numbers: list[int]
) -> None:
    request = Request.of("k", "ask", bodies.Ask(**body).model_dump())
    with Ledger(read_study_file(file)) as ledger, marking(ledger, request):
        ledger.store.create(BY_HAND)  # and here its server was killed
    with served(file) as client:
        client.post("/skip", {"trial": 0}, "s")
        answer = client.post("/ask", body, "k")
        assert answer.status_code == 200, answer.text
        assert [t["trial"] for t in answer.json().get("trials", [answer.json()])] == numbers
    with served(file) as client:
        again = client.post("/ask", body, "k").json()
        assert [t["trial"] for t in again.get("trials", [again])] == numbers
        assert client.post("/skip", {"trial": 0}, "s").json()["outcome"] == "skipped"
        assert [t["outcome"] for t in client.get("/trials")] == ["skipped"] + ["running"] * len(numbers)


def test_several_trials_are_asked_for_and_fewer_are_explained(client: Client) -> None:
    first = client.post("/ask", {"n": 3}, "k").json()
    assert [trial["trial"] for trial in first["trials"]] == [0, 1, 2]
    assert client.post("/ask", {"n": 3}, "k").json() == first
    rest = client.post("/ask", {"n": 9}).json()
    assert (len(rest["trials"]), "8 of 8 trials" in rest["why_fewer"]) == (5, True)
    assert client.post("/ask", {"n": 0}).json()["error"] == "n must be at least 1, but 0 came"
    assert client.post("/ask", {"n": 1}).status_code == 409


def test_a_setting_of_ones_own_is_tried_once_for_each_key(file: Path) -> None:
    body = {"parameters": {"x": 0.5, "y": 0.25}}
    with served(file) as client:
        tried = client.post("/try", body, "k").json()
        assert (tried["trial"], tried["parameters"], tried["mode"]) == (0, body["parameters"], "try")
    with served(file) as client:
        assert client.post("/try", body, "k").json() == tried
        assert client.get("/status")["pending"] == 1
        wrong = client.post("/try", {"parameters": {"x": 2, "y": 0.25}})
        assert (wrong.status_code, "x" in wrong.json()["error"]) == (422, True)
        half = client.post("/try", {"parameters": {"x": 0.5}})
        assert half.json()["error"] == "y is missing; give every parameter a value"
        assert client.post("/skip", {"trial": 0, "never": True}).json()["outcome"] == "never"


def test_a_choice_in_other_letters_is_refused_and_the_right_one_is_named(file: Path) -> None:
    file.write_text(
        file.read_text().replace("[constraints]", 'gas = { choices = ["air", "argon"] }\n[constraints]')
    )
    file.write_text(file.read_text().replace("[start]", '[start]\ngas = "air"'))
    with served(file) as client:
        wrong = client.post("/try", {"parameters": {"x": 0.5, "y": 0.25, "gas": "Air"}})
        assert wrong.status_code == 422
        assert "expected one of ['air', 'argon'], but 'Air' came; did you mean air?" in wrong.json()["error"]


def test_a_surprising_value_is_recorded_with_a_warning_or_refused(client: Client) -> None:
    for _ in range(7):
        trial = client.post("/ask").json()
        client.post("/tell", {"trial": trial["trial"], "results": measure(trial["parameters"])})
    right = measure(client.post("/ask").json()["parameters"])
    wrong = {"trial": 7, "results": {"cost": 87.44, "load": -0.1}}
    refused = client.post("/tell", {**wrong, "if_surprising": "refuse"})
    assert (refused.status_code, refused.json()["kind"]) == (409, "Surprising")
    assert "cost = 87.44, where" in refused.json()["error"]
    assert client.get("/status")["pending"] == 1
    (warning,) = client.post("/tell", wrong).json()["warnings"]
    assert "It is recorded; if it is a slip: tumble amend" in warning
    assert client.post("/amend", {"trial": 7, "results": right}).json()["warnings"] == []
    assert client.post("/amend", wrong).json()["warnings"] == [warning]


def test_a_hard_budget_is_kept(tmp_path: Path) -> None:
    with served(study_by_hand(tmp_path, failures=2, extra='on_exhausted = "stop"')) as client:
        assert [client.post("/ask").status_code for _ in range(3)] == [200, 200, 409]
        assert client.post("/ask").json()["kind"] == "BudgetReserved"
        for trial in (0, 1):
            client.post("/tell", {"trial": trial, "failed": "broke"})
        answer = client.post("/ask")
        assert (answer.status_code, answer.json()["kind"]) == (409, "BudgetExhausted")


def test_an_edited_file_is_followed_and_a_broken_one_is_said(client: Client, file: Path) -> None:
    text = file.read_text()
    file.write_text(text.replace("trials = 8", "trials = 20"))
    assert client.get("/status")["trials_left"] == 20
    file.write_text("name = ")
    answer = client.post("/ask")
    assert (answer.status_code, "bowl.toml" in answer.json()["error"]) == (503, True)
    file.write_text(text)
    assert client.post("/ask").status_code == 200


def test_a_storage_that_fails_is_said_and_the_next_asking_takes_the_trial_up(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy.exc import OperationalError

    from tumble.studies.store import TrialStore

    def locked(*arguments: object) -> None:
        raise OperationalError("UPDATE", {}, Exception("database is locked"))

    with monkeypatch.context() as patch:
        patch.setattr(TrialStore, "hand_over", locked)
        answer = client.post("/ask", key="k")
    assert (answer.status_code, answer.json()["kind"]) == (503, "StorageAway")
    assert "database is locked" in answer.json()["error"]
    assert client.post("/ask", key="k").json()["trial"] == 0
    assert client.get("/status")["pending"] == 1


def test_the_description_is_whole_and_the_list_of_operations_needs_no_network(client: Client) -> None:
    paths = client.get("/openapi.json")["paths"]
    assert {"/ask", "/tell", "/skip", "/void", "/amend", "/status", "/best", "/trials", "/events"} <= set(
        paths
    )
    text = client.send("GET", "/docs").text
    assert "keep away from its setting" in text.partition("POST /skip")[2].partition("<table>")[0]
    assert "POST /tell" in text
    assert "http://" not in text
    assert "https://" not in text
    for path in ("/redoc", "/nothing", "/status/", "/assets/..%2f..%2fapp.py", "/assets/page.py"):
        assert client.send("GET", path).status_code == 404
    assert client.send("DELETE", "/tell").status_code == 405
