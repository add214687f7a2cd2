"""Predictive entropy search with constraints (PESC): acquisition, conditioned processes, EP, paths."""
