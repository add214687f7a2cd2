"""The manual: its pages, and what makes parts of them."""
