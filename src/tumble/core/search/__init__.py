"""The inner search: the points looked at, the batched climb, and one way to look for each mode."""
