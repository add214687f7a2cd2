"""Gaussian processes: from kernels to the models of a history.

kernels, covariance     k(x, y), and its derivatives
cholesky, outputs       factors and solves; the units of the model
kept, factors           what is kept between suggestions; the factors of many data
gp, slopes              the posterior of f, and that of (f, ∇f)
priors, tangents, fit   hyperparameters of largest posterior density
refit, warps            when hyperparameters are learned again; which warp suits the outputs
crashes, signs, sites   crashes as a process of their own: draws with known signs, and normal sites
models                  all processes of a history
"""
