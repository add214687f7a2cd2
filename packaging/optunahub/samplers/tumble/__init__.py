"""The sampler of the package tumble: a search within a budget of trials and of failures."""

from tumble import TumbleSampler

__all__ = ["TumbleSampler"]
