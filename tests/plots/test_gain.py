"""What the trials left were expected to gain."""

from tests.toys import small_optimizer
from tumble import plots


def test_the_gain_is_what_the_suggestions_said() -> None:
    opt = small_optimizer()
    for value in (2.2, 2.1, 2.0):
        opt.tell(opt.ask(), value, [-0.5])
    found = plots.gain_data(opt)
    said = {t.number: t.suggestion for t in opt.trials if t.suggestion is not None}
    assert found.number == [n for n, s in said.items() if s.expected_gain is not None]
    assert len(found.number) >= 2
    assert found.is_line
    assert found.expected == [said[n].expected_gain for n in found.number]
    assert found.bound == [said[n].gain_bound for n in found.number]


def test_a_single_point_is_no_line_and_is_not_drawn() -> None:
    opt = small_optimizer()
    while not plots.gain_data(opt).number:
        opt.tell(opt.ask(), 2.0, [-0.5])
    assert not plots.gain_data(opt).is_line
    assert "expected gain of what is left" not in [ax.get_title() for ax in plots.overview(opt).axes]
