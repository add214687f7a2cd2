"""The other methods of §5, behind the same protocol, models and inner search as Xs.

improvement: EI, PI, UCB, EIC. entropy: MES. safe_set: safe-set expansion, which aims at no failure at all.
pesc: predictive entropy search with constraints. Its parts are paths (posterior draws and their minimisers),
propagation (what knowing the minimiser says about the processes) and conditioned (the processes after that).
"""
