# tumble: `make run` shows it, `make test` proves it; `make help` lists the rest.
# Everything is installed into .venv; a target installs again only when pyproject.toml has changed.

PYTHON ?= python3
JOBS ?= 3
VENV = .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check --quiet
# Most modules that come along are never imported: what is, is compiled then, and once, whatever the caller's
# environment says; without the compiled files every process that a test starts would take three times as long.
export PIP_NO_COMPILE = 1
export PYTHONDONTWRITEBYTECODE =
# Root needs `useradd` for the PostgreSQL of the tests, and not every PATH of root has the folder that it is in.
export PATH := $(PATH):/usr/sbin
CODE = $(wildcard src tests experiments benchmarks examples docs packaging)

# What `make run` needs, and what `make test`, `make docs` and `make bench` need.
RUN_READY = $(VENV)/.ready-run
TEST_READY = $(VENV)/.ready-test
COMPILED = $(VENV)/.compiled

.PHONY: help run ready test lint types unit cover docs report bench format clean
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

help:
	@echo 'make run     set up .venv (no torch) and run the demonstration; pictures go to out/'
	@echo 'make test    set up .venv with everything; lint, types, tests, strict docs'
	@echo 'make ready   set up .venv with everything, and no more'
	@echo 'make lint    ruff: rules and format; the direction of the imports'
	@echo 'make types   mypy'
	@echo 'make unit    pytest'
	@echo 'make cover   pytest with branch coverage and its floor; a third slower'
	@echo 'make format  let ruff rewrite what it can'
	@echo 'make docs    build the manual into site/; a warning is an error'
	@echo 'make report  build the technical report, out/report.pdf'
	@echo 'make bench   speed and quality beside the neighbours'
	@echo 'make clean   remove .venv and everything that was built'
	@echo
	@echo 'Variables: PYTHON=python3.12 (any from 3.11), JOBS=3 (test processes)'

run: $(RUN_READY)
	$(BIN)/python examples/demo.py

# One BLAS thread a process: the processes share the cores, and timings compare.
test unit cover bench: export OMP_NUM_THREADS = 1
test unit cover bench: export OPENBLAS_NUM_THREADS = 1
test unit cover bench: export MKL_NUM_THREADS = 1

ready: $(TEST_READY)

test: lint types unit $(if $(wildcard mkdocs.yml),docs)

lint: $(TEST_READY)
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/lint-imports --no-cache

types: $(TEST_READY)
	$(BIN)/mypy $(filter-out docs packaging,$(CODE))

unit: $(COMPILED)
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --durations=15

cover: $(COMPILED)
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --cov --cov-report=term

format: $(TEST_READY)
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

docs: $(TEST_READY)
	$(BIN)/mkdocs build --strict

report: $(TEST_READY)
	$(BIN)/python -m docs.report

bench: $(TEST_READY)
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.quality --quick

clean:
	rm -rf $(VENV) out site dist build .coverage .coverage.* htmlcov
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(RUN_READY): pyproject.toml | $(BIN)/python
	$(PIP) install --editable '.[plots]'
	@touch $@

# The pip that comes with an older Python takes a minute longer for so many packages.
# torch first and alone, so that its build is chosen before anything else asks for it;
# CONTRIBUTING.md says how to get the CPU build. What serves the tests serves the demonstration too.
$(TEST_READY): pyproject.toml | $(BIN)/python
	$(PIP) install 'pip>=25.1'
	$(PIP) install torch==2.13.0
	$(PIP) install --editable '.[plots,serve,experiments,botorch,ax,docs,dev]'
	@touch $(RUN_READY) $@

# Once after an installation one process imports what the tests import, so that not each of the test processes
# compiles all of it at the same time. Where that fails, the tests themselves say why.
$(COMPILED): $(TEST_READY)
	@$(BIN)/python -m pytest --collect-only -qq >/dev/null 2>&1 || true
	@touch $@
