"""Gaussian processes: from kernels to the models of a history.

kernels, covariance     k(x, y), and its derivatives
cholesky, outputs       factors and solves; the units of the model
gp, slopes              the posterior of f, and that of (f, ∇f)
priors, tangents, fit   hyperparameters of largest posterior density
refit                   when hyperparameters are learned again
crashes                 crashes as a process of their own
models                  all processes of a history
"""
