"""The paper, in its own order: NumPy and SciPy, pure (no I/O, no logging, no global randomness).

Conventions: the unit cube; minimise; g <= 0 is safe; float64; `x` is (M, D), one query a row; model units
(`process.outputs`) inside, the user's units at the doors; logarithms of everything that can underflow.

    (2), (3)        crossings.rice_upcrossings
    (4)             crossings.expected_crossings
    (5)-(8)         normal.expected_abs, crossings.log_intensity, log_mean_intensity_and_gradient
    App. A.2        process.slopes.slopes_at: the virtual observation {x, u} as a rank-one conditional
    (9), App. B     minimum.frechet, gumbel, joint
    (10)            acquisition.ExcursionSearch, search.excursion.excursion_search
    (11), Γ         history.violated, History.failed
    (12)            feasibility.Feasibility, algorithm.recommend
    (13)            search.modes.Search.careful, search.maximize.maximize_above
    (14)            budget.control, step, replay
    (13) or (15)?   budget.decide
    (15)            search.modes.Search.bold
    Algorithm 1     algorithm.propose, recommend
    App. D          process.fit, process.priors, search.maximize, settings.Settings.paper
"""
