"""Every table and figure of the paper again: problem × method × seed -> one JSON line -> the page.

    python -m experiments NAME [--seeds N] [--methods a,b] [--jobs N] [--out DIR]

`registry` names the experiments. Each is a module that plans runs (`runs.records.Spec`). `runs.pool` carries
them out side by side, `runs.store` keeps a line for each and never runs one twice, and `report` builds the
page from the lines alone. `runs.settings` holds the constants of §5 and Table 2 with their origin,
`paper.printed` the numbers that the paper prints. `peers` are the neighbours that tumble is compared with,
`compression` is the network of §5.3 with its GPU kernels, and `reporting` has the parts of a page.
"""
