"""The Gaussian processes: kernels, posterior, units, priors, fit, crashes, and all models of a history."""
