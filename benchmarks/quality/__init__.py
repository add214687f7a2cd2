"""The proving ground: families of problems, the peers that people use, one table that decides.

    python -m benchmarks.quality --quick                 one short problem of each family, no slow peer
    python -m benchmarks.quality --block 10000           a verdict block, resumable
    python -m benchmarks.quality ablation                what each departure from the paper earns
    python -m benchmarks.quality page                    the manual's page, from the published lines

A seed draws the problem: its function, its limits, its start, T and B. Seeds 0-999 are for tuning. A verdict
takes a fresh block of a thousand (10,000, 20,000, …), once; a block that was looked at is a tuning block.

    plan          which problems, methods and seeds: the runs to carry out
    play          one run, from a spec to a line
    scores        a line as two readings: stopped when B is spent, and left to go on
    compare       wins, ranks, intervals over problems, Holm's correction
    curves        data profiles, and what P(safe) was worth
    ablation      the switches and the foils, against the default; foils: methods that no setting makes
    results       lines that are kept with the repository, compressed; one state of the code in a table
    page          tables from lines alone; pictures draws the figures; manual fills the manual's page
"""
