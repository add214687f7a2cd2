"""The competition of §5, behind the same protocol, models and inner search as Xs.

improvement: EI, PI, UCB, EIC. entropy: MES. safe_set: safe-set expansion, the zero-failure end.
pesc: predictive entropy search with constraints; its parts are paths (posterior draws and their minimisers)
and expectation_propagation (what knowing the minimiser says about the processes).
"""
