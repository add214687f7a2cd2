"""What every test process shares: one BLAS thread, no display, and how hard Hypothesis tries."""

import os

from hypothesis import HealthCheck, settings

# Set here, before anything imports NumPy, and inherited by every process that a test starts.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ["MPLBACKEND"] = "Agg"

# "tumble" gives the same examples every time, so that a change is judged by what it changed;
# `pytest --hypothesis-profile=thorough` looks further. Neither judges by the clock.
settings.register_profile(
    "tumble",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", settings.get_profile("tumble"), derandomize=False, max_examples=1000)
settings.load_profile("tumble")
