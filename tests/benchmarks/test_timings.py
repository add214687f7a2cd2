from benchmarks.timings import FILE, Timing, manual_part, read, sentence, store, times_tumble, timing_table

ABOUT = {"version": "version 9 (commit abc)", "processor": "an abacus"}
TIMINGS = [
    Timing(0, "search", "tumble", 0.01, 0.008, 0.012),
    Timing(0, "search", "Other", 0.2, 0.1, 0.3),
    Timing(1, "search", "tumble", 0.02, 0.01, 0.03),
    Timing(1, "search", "Other", 0.2, 0.1, 0.3),
]


def test_timings_are_compared_within_their_case():
    assert [round(times_tumble(timing, TIMINGS)) for timing in TIMINGS] == [1, 20, 1, 10]
    assert "| G = 1, search: Other  |     0.2000 | 0.1000-0.3000 |         10.0 |" in timing_table(TIMINGS)


def test_what_is_stored_is_read_and_shown(tmp_path):
    file = tmp_path / "speed.jsonl"
    assert read(file) == ({}, [])
    assert "Nothing is stored yet" in manual_part(file)
    store(TIMINGS, ABOUT, file)
    assert read(file) == (ABOUT, TIMINGS)
    assert manual_part(file) == f"{sentence(ABOUT, TIMINGS)}\n\n{timing_table(TIMINGS)}"


def test_the_sentence_says_what_the_timings_come_to():
    assert sentence(ABOUT, TIMINGS) == (
        "A suggestion takes 10 to 20 ms on one core (N = 100, D = 6); Other takes 10 to 20 times as long. "
        "*Measured on version 9 (commit abc), an abacus.*"
    )


def test_timings_are_kept_in_the_repository():
    about, timings = read(FILE)
    assert about["version"]
    assert {timing.library for timing in timings} >= {"tumble"}
