"""A fault at every SQL statement and every file operation of the commands that change or write something.

    python -m benchmarks.faults                              every point, SQLite
    python -m benchmarks.faults --storage postgresql         every point, a real PostgreSQL
    python -m benchmarks.faults --store                      keep the counts for the page of guarantees
    python -m benchmarks.faults --sample 40 --seed 1         some of them

A dry run of each operation finds its points.  Then each case starts from the same study: the operation is
done once more in a process of its own (a fork of one that has imported everything), and at one point it is
killed, or gets an error, or is slow, or loses its connection.  Afterwards the study is opened afresh by
another process, which looks, does again what was not done, and asks for one more trial.  The command ends
with 1 where anything was lost, counted twice or stuck.
"""
