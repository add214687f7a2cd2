"""Model units: nothing is lost, whatever the size of the outputs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tumble.core.process.outputs import Outputs

finite = st.floats(-1e200, 1e200, allow_subnormal=False)


@given(st.lists(finite, min_size=1, max_size=8), st.booleans())
def test_model_units_keep_every_value_and_are_of_unit_size(values, centre):
    y = np.array(values)
    outputs = Outputs.of(y, centre=centre)
    model = outputs.to_model(y)
    assert np.isfinite(model).all()
    assert np.abs(model).max() <= 1.0 + np.sqrt(len(y))
    size = np.abs(y).max() or 1.0
    np.testing.assert_allclose(outputs.mean(model) / size, y / size, atol=1e-9)
    if not centre:
        assert outputs.shift == 0.0
        assert (model * np.sign(y) >= 0.0).all()


@pytest.mark.parametrize("factor", [1e-12, 1.0, 1e12])
def test_standardised_outputs_have_zero_mean_and_unit_variance(factor):
    y = factor * np.array([3.0, 4.0, 8.0, -1.0])
    model = Outputs.of(y, centre=True).to_model(y)
    assert model.mean() == pytest.approx(0.0, abs=1e-12)
    assert model.std() == pytest.approx(1.0)
