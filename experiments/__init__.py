"""Every table and figure of the paper again: problem × method × seed -> one JSON line -> the page.

    python -m experiments NAME [--seeds N] [--methods a,b] [--jobs N] [--out DIR]

`registry` names the experiments, one module each; an experiment plans runs (`records.Spec`), `pool` carries
them out side by side, `store` keeps a line for each and never runs one twice, and `report` builds the page
from the lines alone. `settings` holds the constants of §5 and Table 2 with their origin, `paper` the numbers
the paper prints.
"""
