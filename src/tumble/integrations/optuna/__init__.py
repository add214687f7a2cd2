"""tumble behind Optuna: `TumbleSampler`, and what its trials, notes and gate mean."""

from tumble.integrations.optuna.sampler import TumbleSampler as TumbleSampler
