"""Where tumble meets other people's frameworks; nothing else in the package imports them."""
