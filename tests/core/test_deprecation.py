"""Old names of settings still work, and warn."""

import copy
import pickle
from dataclasses import replace

import pytest

from tumble import InputError, Optimizer
from tumble.core.process.priors import LogNormal, Priors
from tumble.core.settings import Settings

LAW = LogNormal(1.0, 1.0)


def test_a_constructor_accepts_the_old_name_with_a_warning():
    with pytest.warns(DeprecationWarning, match="Settings.temper is now called soften_phi"):
        assert not Settings(temper=False).soften_phi  # type: ignore[call-arg]
    with pytest.warns(DeprecationWarning, match="Priors.mean is now called mean_std"):
        assert Priors(LAW, LAW, 0.1, mean=2.0).mean_std == 2.0  # type: ignore[call-arg]


def test_replace_by_the_old_name_changes_the_field():
    with pytest.warns(DeprecationWarning, match="temper"):
        assert not replace(Settings(), temper=False).soften_phi  # type: ignore[call-arg]


def test_the_old_attribute_is_read_with_a_warning():
    with pytest.warns(DeprecationWarning, match="soften_phi"):
        assert Settings().temper  # type: ignore[attr-defined]
    with pytest.warns(DeprecationWarning, match="mean_std"):
        assert Priors(LAW, LAW, 0.1, mean_std=3.0).mean == 3.0  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="'Settings' object has no attribute 'tempo'"):
        Settings().tempo  # type: ignore[attr-defined]  # noqa: B018


def test_what_either_version_saved_is_read_without_a_warning():
    old = Settings(soften_phi=False).to_dict()
    assert old["temper"] is False
    new = {**old, "soften_phi": False}
    del new["temper"]
    assert Settings.from_dict(old) == Settings.from_dict(new) == Settings(soften_phi=False)


def test_a_bad_value_is_said_under_the_name_that_the_file_has():
    old = Settings().to_dict()
    new = {**old, "soften_phi": "yes"}
    with pytest.raises(InputError, match=r"settings\.soften_phi must be true or false, not 'yes'"):
        Settings.from_dict(new)
    said = r"settings\.temper \(now soften_phi\) must be true or false, not 'yes'"
    with pytest.raises(InputError, match=said):
        Settings.from_dict({**old, "temper": "yes"})
    with pytest.raises(InputError, match=said):
        Optimizer.from_dict(
            {**Optimizer([(0.0, 1.0)], trials=5).to_dict(), "settings": {**old, "temper": "yes"}}
        )


def test_settings_are_copied_and_pickled():
    settings = Settings.paper()
    assert copy.deepcopy(settings) == pickle.loads(pickle.dumps(settings)) == settings
