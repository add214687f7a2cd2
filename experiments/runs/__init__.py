"""Runs: one method against one problem (`loop`), many side by side (`pool`), a line each (`store`)."""
