"""What every test process shares: one BLAS thread, no display, how hard Hypothesis tries, what is covered."""

import gc
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
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

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
LABORATORIES = tuple(Path(__file__).parent / name for name in ("benchmarks", "experiments"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The laboratories run the package for long; its own tests say what of it is covered, in less time."""
    for item in items:
        if any(item.path.is_relative_to(folder) for folder in LABORATORIES):
            item.add_marker(pytest.mark.no_cover)


def pytest_collection_finish() -> None:
    """What was imported by now stays; Python need not look through all of it for garbage again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def migrations_are_read_once() -> Iterator[None]:
    """Optuna loads its migration scripts two or three times for every database that it opens.

    They are part of Optuna and stay the same; hundreds of tests open a database of their own.
    """
    if "optuna" not in sys.modules:
        yield
        return
    from optuna.storages._rdb.storage import _VersionManager

    manager = object.__new__(_VersionManager)
    manager.url = "sqlite://"
    script = manager._create_alembic_script()
    script.get_current_head()  # loads them
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_VersionManager, "_create_alembic_script", lambda self: script)
        yield


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium; without one a test skips visibly, or fails where TUMBLE_REQUIRE_BROWSER forbids the skip."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        message = "no Chromium was found: install one to see the pages in a browser"
        if os.environ.get("TUMBLE_REQUIRE_BROWSER") == "1":
            pytest.fail(message)
        pytest.skip(message)
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def dask_cluster() -> Iterator[Any]:
    """Two Dask workers here, on any free ports: one of Dask's own is taken where two tests run at once."""
    distributed = pytest.importorskip("distributed")
    free = "127.0.0.1:0"
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=False,
        dashboard_address=free,
        worker_dashboard_address=free,
    ) as cluster:
        yield cluster
