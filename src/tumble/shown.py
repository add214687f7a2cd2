"""How outcomes and probabilities look, the same at every door."""

# Blue, vermilion, orange and grey: told apart with every kind of colour vision, on white and on black.
SAFE, FAILED, CRASHED, NEUTRAL = "#0a84d0", "#d55e00", "#e69f00", "#666666"


def percent(p: float) -> str:
    """A probability in percent with four digits. One below 1 is never rounded up to 100 %.

    Examples
    --------
    >>> percent(0.97), percent(0.99997), percent(1.0)
    ('97 %', '>99.99 %', '100 %')
    """
    return ">99.99 %" if 0.9999 < p < 1.0 else f"{100.0 * p:.4g} %"
