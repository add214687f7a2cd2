"""Studies that last: a TOML file (`config`), a rig (`rig`), and an Optuna storage as their memory (`ledger`).

`config` knows what may stand in the file, `rig` runs one command, `ledger` keeps the trials, `runner` drives
a rig through a study and survives being killed.  Nothing in here prints: that is the command line's business.
"""
