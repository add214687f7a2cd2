"""The tables and figures of the paper, and the values that it prints."""
