"""Pages made from stored lines alone."""
