"""From what is asked for to the runs, with the settings of the paper."""

from __future__ import annotations

import json

import numpy as np
import pytest

from experiments import registry
from experiments.paper import printed as paper
from experiments.runs import methods, plans, settings
from experiments.runs.plans import Options
from experiments.runs.records import Spec
from tests.runs import inline
from tumble import Settings, problems
from tumble.errors import InputError
from tumble.methods import METHODS
from tumble.problems import Evaluation

__all__ = ["inline"]  # a fixture


def test_table_1_is_planned_whole_with_as_many_seeds_of_each_method():
    specs = registry.find("table1").plan(Options())
    count = {m: len({s.seed for s in specs if s.method == m}) for m in ("ei", "xs", "eic", "pesc", "xsf")}
    assert count == {"ei": 20, "xs": 20, "eic": 20, "pesc": 20, "xsf": 20}
    assert len(specs) == len({s.key for s in specs}) == 2 * (2 * 5 * 20 + 2 * 3 * 20)
    assert {s.on_exhausted for s in specs if s.method == "xsf"} == {"safe"}
    assert {s.on_exhausted for s in specs if s.method == "eic"} == {"stop"}
    assert {(s.trials, s.failures) for s in specs if s.problem.endswith("constrained")} == {(100, 10)}


def test_figure_2_needs_no_run_that_table_1_has_not():
    one, two = ({s.key for s in registry.find(name).plan(Options())} for name in ("table1", "fig2"))
    assert two < one


def test_table_3_takes_one_draw_a_seed_with_hyperparameters_fixed_in_the_papers_block():
    specs = registry.find("table3").plan(Options(seeds=2, seed_base=1000, methods=("xsf",)))
    assert sorted({s.problem for s in specs}) == ["in-model:1000", "in-model:1001"]
    fixed = next(s for s in specs if s.block == "paper").settings["objective"]
    assert (fixed["lengthscale"]["low"], fixed["lengthscale"]["high"]) == (0.1, 0.1)
    assert {(s.trials, s.failures) for s in specs} == {(100, 15)}


@pytest.mark.parametrize("block", plans.BLOCKS)
def test_the_settings_of_a_block_can_be_read_back(block):
    for problem in ("hartmann6", "michalewicz10-constrained", "in-model:3"):
        written = methods.settings_of("xsf", block, problem)
        assert Settings.from_dict(json.loads(json.dumps(written))).to_dict() == written


def test_the_papers_constants_are_those_of_its_settings():
    made = settings.paper_settings("hartmann6")
    for name in (
        "rho_safe", "rho_risk", "rho_0", "rho_b", "delta", "kernel", "restarts", "minima", "n_minima"
    ):  # fmt: skip
        assert getattr(made, name) == settings.SEARCH[name].value, name
    assert made.grid == settings.SEARCH["grid"].value


def test_table_2_is_mapped_by_family():
    assert settings.table_row("michalewicz10-constrained").lengthscale_f == settings.Law("uniform", 0.01, 0.3)
    assert settings.table_row("hartmann6").lengthscale_g == settings.Law("gamma", 1.0, 5.0)
    assert settings.table_row("in-model-free:7").variance_f == settings.Law("uniform", 1.0, 1.0)
    assert settings.table_row("branin-disk") == settings.TABLE_2["hartmann6"]


def test_every_constant_says_where_it_comes_from():
    for constant in (*settings.SEARCH.values(), *settings.BUDGETS.values()):
        assert constant.origin in (settings.PAPER, settings.SCRIPTS, settings.OURS)


def test_the_paper_has_a_value_for_every_cell_of_its_tables():
    for name in ("table1", "table3"):
        for spec in registry.find(name).plan(Options(seeds=1)):
            assert (spec.family, spec.method) in paper.TABLES


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(InputError, match="unknown experiment 'table2'; choose one of fig1"):
        registry.find("table2")
    with pytest.raises(InputError, match="unknown method 'bo'; choose among tumble, xs"):
        methods.settings_of("bo", "default", "hartmann6")
    with pytest.raises(InputError, match="unknown block"):
        methods.settings_of("xs", "mine", "hartmann6")


def test_a_peers_settings_are_part_of_its_key():
    assert methods.settings_of("botorch", "default", "hartmann6")["num_restarts"] == 10


def test_a_crash_is_told_to_tumble_as_a_crash():
    problem = problems.get("gramacy!")
    searcher = methods.TumbleSearcher(
        Spec("gramacy!", "xsf", 0, 4, 2, settings=Settings().to_dict()), problem
    )
    searcher.inform(problem.initial[0], Evaluation(1.4, np.empty(0)))
    searcher.tell(searcher.ask(), None)
    assert searcher._optimizer.failures_left == 1


def test_every_method_and_peer_has_a_label():
    assert set(methods.LABELS) == {*METHODS, *methods.PEERS}


def test_only_a_method_with_the_controller_goes_on_when_its_failures_are_spent():
    going_on = [m for m in methods.LABELS if methods.when_spent(m) == "safe"]
    assert going_on == ["tumble", "xsf", "xsf-ei"]
