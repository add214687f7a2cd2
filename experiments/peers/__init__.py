"""The neighbours as searchers: BoTorch's LogCEI, qLogNEI and SCBO, Optuna's GPSampler and TPE, and more.

`registry` makes them by name, and `settings` says how each is set, by its own documentation. All take the
same initial points, unbilled. One run gives two readings: what it had when the budget of failures was spent,
and what it came to when it was left to go on.
"""
