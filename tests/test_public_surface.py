"""What other programs may rely on, pinned; and how little `import tumble` loads."""

import inspect
import subprocess
import sys

import pytest

import tumble

NAMES = [
    "Best",
    "BudgetExhausted",
    "BudgetReserved",
    "Failure",
    "InputError",
    "Optimizer",
    "Outcome",
    "Recommended",
    "Result",
    "Settings",
    "Suggestion",
    "Trial",
    "TrialsExhausted",
    "TumbleError",
    "TumbleSampler",
    "minimize",
]


def test_the_public_names_are_these():
    assert sorted(tumble.__all__) == NAMES
    for name in NAMES:
        assert getattr(tumble, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'maximise'"):
        tumble.maximise  # noqa: B018


def test_a_room_of_the_package_is_there_without_importing_it():
    code = "import tumble; print(tumble.space.Space.from_bounds([(0, 1)]).dim, tumble.core.__name__)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["1", "tumble.core"]


def test_every_name_is_listed_before_it_is_loaded():
    code = "import sys, tumble; print(set(tumble.__all__) <= set(dir(tumble)), 'numpy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["True", "False"]


def parameters(fun) -> list[str]:
    return [p for p in inspect.signature(fun).parameters if p != "self"]


def defaults(fun) -> dict:
    return {n: p.default for n, p in inspect.signature(fun).parameters.items() if p.default is not p.empty}


def test_the_front_doors_have_the_signatures_that_were_promised():
    assert parameters(tumble.minimize)[:11] == [
        "fun",
        "bounds",
        "trials",
        "failures",
        "x0",
        "seed",
        "method",
        "settings",
        "on_exhausted",
        "progress",
        "callback",
    ]
    assert parameters(tumble.Optimizer)[:8] == [
        "bounds",
        "trials",
        "failures",
        "constraints",
        "seed",
        "method",
        "settings",
        "on_exhausted",
    ]
    assert "known" in parameters(tumble.Optimizer)
    assert parameters(tumble.Optimizer.tell)[:3] == ["trial", "value", "constraints"]
    assert {"failed", "reason", "billed"} <= set(parameters(tumble.Optimizer.tell))
    for fun in (tumble.minimize, tumble.Optimizer):
        found = defaults(fun)
        assert (found["trials"], found["failures"], found["seed"], found["method"]) == (100, None, None, None)
        assert (found["settings"], found["on_exhausted"]) == ("default", "safe")
    assert defaults(tumble.Optimizer)["constraints"] == 0
    assert defaults(tumble.minimize)["progress"] is False


def test_results_carry_the_fields_that_were_promised():
    fields = {
        c: set(c.__dataclass_fields__)
        for c in (tumble.Suggestion, tumble.Best, tumble.Recommended, tumble.Outcome)
    }
    assert fields[tumble.Suggestion] >= {
        "number",
        "x",
        "mode",
        "rho",
        "p_safe",
        "mean",
        "std",
        "failures_left",
        "trials_left",
    }
    assert fields[tumble.Best] == {"number", "x", "value", "constraints"}
    assert fields[tumble.Recommended] == {"x", "mean", "std", "p_safe", "reached"}
    assert fields[tumble.Outcome] == {"value", "constraints"}
    for name in (
        "rho_safe",
        "rho_risk",
        "rho_0",
        "rho_b",
        "delta",
        "kernel",
        "minima",
        "n_minima",
        "restarts",
    ):
        assert name in tumble.Settings.__dataclass_fields__
    for name in (
        "ask",
        "tell",
        "skip",
        "best",
        "recommend",
        "failures_left",
        "trials_left",
        "trials",
        "to_dict",
        "from_dict",
    ):
        assert hasattr(tumble.Optimizer, name)


def test_what_is_handed_out_is_frozen():
    opt = tumble.Optimizer([(0.0, 1.0)], seed=0)
    s = opt.ask()
    for thing, name in ((s, "number"), (opt.trials[0], "value"), (opt.settings, "rho_safe")):
        with pytest.raises(AttributeError):
            setattr(thing, name, 0)


def test_the_paper_s_settings_are_the_paper_s():
    paper = tumble.Settings.paper()
    assert (paper.rho_safe, paper.rho_risk, paper.delta, paper.kernel) == (0.99, 0.01, None, "se")
    assert (paper.minima, paper.n_minima, paper.grid, paper.restarts) == ("frechet", 20, 1000, 10)
    assert (paper.objective.noise, paper.standardize, paper.calibrate) == (0.01, False, False)


def test_the_search_loads_nothing_heavy():
    code = (
        "import sys; from tumble import Optimizer, minimize;"
        "heavy = 'torch', 'optuna', 'matplotlib', 'scipy.stats', 'pandas', 'click', 'plotly', 'sqlalchemy';"
        "print([m for m in heavy if m in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


def test_without_optuna_the_sampler_is_not_listed(monkeypatch):
    monkeypatch.setattr(tumble, "find_spec", lambda name: None)
    assert "TumbleSampler" not in dir(tumble)
    assert "Optimizer" in dir(tumble)


def test_the_old_names_of_an_optimizer_are_read_with_a_warning():
    opt = tumble.Optimizer([(0.0, 1.0)], 9, 3, seed=0)
    with pytest.warns(DeprecationWarning, match=r"Optimizer\.n_trials is now called max_trials; write"):
        assert opt.n_trials == opt.max_trials == 9  # type: ignore[attr-defined]
    with pytest.warns(DeprecationWarning, match=r"Optimizer\.n_failures_allowed is now called max_failures"):
        assert opt.n_failures_allowed == opt.max_failures == 3  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="'Optimizer' object has no attribute 'n_tries'"):
        opt.n_tries  # type: ignore[attr-defined]  # noqa: B018


def test_the_old_key_of_a_result_is_read_with_a_warning_that_points_here():
    result = tumble.minimize(lambda x: float(x[0]), [(0.0, 1.0)], 2, seed=0)
    with pytest.warns(
        DeprecationWarning, match=r"result\.n_trials is now called n_told; write n_told"
    ) as said:
        assert result.n_trials == 2
    assert said[0].filename == __file__
    with pytest.warns(DeprecationWarning, match=r"result\['n_trials'\] is now called n_told") as said:
        assert result["n_trials"] == 2
    assert said[0].filename == __file__
    assert (result.n_told, "n_trials" in result) == (2, False)
    with pytest.raises(AttributeError, match="n_tries"):
        result.n_tries  # noqa: B018
    with pytest.raises(KeyError, match="n_tries"):
        result["n_tries"]


def test_an_optimizer_counts_what_was_told_and_what_failed():
    opt = tumble.Optimizer([(0.0, 1.0)], 9, 3, seed=0)
    opt.tell([0.2], failed=True, billed=False)
    opt.tell([0.4], failed=True)
    opt.tell(opt.ask(), 1.0)
    opt.ask()
    assert (opt.n_told, opt.n_failures, opt.trials_left, opt.failures_left) == (3, 1, 6, 2)
    assert (opt.failures_allowed, tumble.Optimizer([(0.0, 1.0)], 9).failures_allowed) == (3, 9)
