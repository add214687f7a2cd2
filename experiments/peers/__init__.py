"""The neighbours as searchers: BoTorch's LogEI/LogCEI and SCBO (`botorch`), Optuna's GPSampler (`optuna`).

`experiments.runs.methods` makes them by name. All take the same initial points, unbilled, and are stopped
when the budget of failures is spent. `settings` says how each is set.
"""
