"""The inner search: candidates, local searches in one batch, and one way to search for each mode."""
