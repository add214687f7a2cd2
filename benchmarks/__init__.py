"""tumble beside its peers, in one run: `speed` (seconds a suggestion), `quality` (regret under a budget),
and `acceptance` (what tumble promises, measured).
"""
