"""The study file that `tumble init` writes."""

from __future__ import annotations

from pathlib import Path

NOT_TAKEN = '"\\?%/'  # by TOML or by a URL of SQLite
EXAMPLE = """\
# A study of tumble.  Run it with:      tumble run {file}
# or by hand, trial after trial, with:  tumble ask {file}  and  tumble tell {file} TRIAL cost=3.2 torque=11.4

name = "{name}"
objective = "cost"                 # which result to minimise; "maximize = true" turns it
trials = 60                        # how many trials there may be
failures = 6                       # how many of them may fail
on_exhausted = "safe"              # then: go on very carefully ("safe"), or not at all ("stop")
storage = "sqlite:///{name}.db"    # beside this file; "postgresql+psycopg://user@host/db" for many machines

# One trial.  {{name}} stands for a parameter.  No shell is involved.  The last line of its output must be
# JSON with every result, {{"cost": 3.1, "torque": 11.2, "temperature": 55}}, or cost=3.1 torque=11.2
# temperature=55.  Leave the command out to work by hand.
command = [
    "python", "rig.py", "--speed", "{{speed}}", "--flutes", "{{flutes}}",
    "--bit", "{{bit}}", "--feed", "{{feed}}",
]
timeout = 600                      # seconds; running longer is a failure
transient_exit_codes = [75]        # a fault of the infrastructure: tried again, not billed
retries = 3

[parameters]
speed = {{ low = 500.0, high = 4000.0, log = true }}
flutes = {{ low = 2, high = 6 }}         # whole numbers, because both bounds are
bit = {{ choices = ["hss", "carbide"] }}
feed = {{ low = 0.05, high = 0.4 }}      # "step = 0.01" for a grid
# depth = 12.5                     # a parameter that stays as it is

[constraints]                      # a trial that breaks one of these has failed
torque = "<= 12"                   # or ">= ..."
temperature = "5 <= temperature <= 80"

[start]                            # optional: a setting known to be safe, tried first ([[start]] for several)
speed = 900.0
flutes = 4
bit = "carbide"
feed = 0.1
"""


def study_name(file: Path) -> str:
    """The name of a study, and of its database, after its file: two files share none.

    Examples
    --------
    >>> study_name(Path("my drill.toml")), study_name(Path("50%.toml"))
    ('my drill', '50_')
    """
    return "".join(c if c.isprintable() and c not in NOT_TAKEN else "_" for c in file.stem)[:200]
