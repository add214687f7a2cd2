"""Studies that last: a TOML file, a rig that runs one trial, and an Optuna storage that keeps the trials.

`study_file` reads the file into a `config`.  `ledger` asks for trials and records what came of them; `store`,
`records`, `ownership` and `locking` are its parts.  `rig` runs one command, `runner` drives a rig through a
study and survives being killed.  `report` and `dashboard` draw pages.  Nothing in here prints, and no message
names a command of the terminal: both are the business of `tumble.cli`.
"""
