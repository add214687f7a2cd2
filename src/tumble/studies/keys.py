"""Every key of a study file: its check, what it is, and what is taken where it is left out.

`docs/study-file.md` has a table that is made from this one.
"""

from __future__ import annotations

from tumble.studies import schema
from tumble.studies.parameter_tables import parameter
from tumble.studies.schema import Key, list_of, one_of, one_or_more, table_of, whole

FILE = {
    "name": Key(
        schema.name,
        type="text",
        means="the study's name in its storage",
        example='name = "drill"',
    ),
    "objective": Key(
        schema.text,
        type="text",
        means="the result that is minimised",
        example='objective = "cost"',
    ),
    "maximize": Key(
        schema.truth,
        False,
        type="true or false",
        means="true: the objective is maximised",
        example="maximize = true",
    ),
    "trials": Key(
        whole(1),
        type="whole number from 1",
        means="T, how many trials there may be",
        example="trials = 60",
    ),
    "failures": Key(
        whole(0),
        None,
        type="whole number from 0",
        means="B, how many of them may fail",
        example="failures = 6",
        left_out="no limit",
    ),
    "on_exhausted": Key(
        one_of("safe", "stop"),
        "safe",
        type='"safe" or "stop"',
        means='when no failure is left: "safe" goes on very carefully, "stop" is a hard cap',
        example='on_exhausted = "stop"',
    ),
    "storage": Key(
        schema.secret_text,
        None,
        type="text",
        means='a URL of SQLite or PostgreSQL; "env:NAME" takes it from an environment variable',
        example='storage = "sqlite:///drill.db"',
        left_out="an SQLite file beside the study file",
    ),
    "command": Key(
        list_of(schema.text, least=1),
        None,
        type="list of text",
        means="the words that run one trial; {speed} stands for a parameter, {trial} for its number",
        example='command = ["python", "rig.py", "--speed", "{speed}"]',
        left_out="trials are run by hand",
    ),
    "timeout": Key(
        schema.positive,
        None,
        type="number above 0",
        means="seconds after which a trial has failed",
        example="timeout = 600",
        left_out="no limit",
    ),
    "transient_exit_codes": Key(
        list_of(whole(1, 255)),
        (),
        type="list of whole numbers from 1 to 255",
        means="exit codes of the command that mean that only the infrastructure failed",
        example="transient_exit_codes = [75]",
        left_out="none",
    ),
    "retries": Key(
        whole(0),
        3,
        type="whole number from 0",
        means="how often a trial is tried again after such a code",
        example="retries = 3",
    ),
    "seed": Key(
        whole(0),
        0,
        type="whole number from 0",
        means="the same seed gives the same search, on one machine and with one release of NumPy and SciPy",
        example="seed = 0",
    ),
    "method": Key(
        schema.text,
        None,
        type="text",
        means="a method of search, as for `tumble.Optimizer`",
        example='method = "tumble"',
        left_out='"tumble", or "ei" without limits and budget; under "paper" "xsf" or "xs"',
    ),
    "settings": Key(
        one_of("default", "paper"),
        "default",
        type='"default" or "paper"',
        means='the constants of the search; "paper" is the paper as printed',
        example='settings = "paper"',
    ),
    "boldness": Key(
        schema.share,
        None,
        type="number from 0 to 1",
        means="from 0, cautious, to 1: how much risk is taken while failures are left",
        example="boldness = 0.5",
        left_out="1; with failures = 1 and continuous parameters alone the first trial is as careful as at 0",
    ),
    "min_gain": Key(
        schema.positive,
        None,
        type="number above 0",
        means="no trial starts once the trials left improve the objective by less than this",
        example="min_gain = 0.1",
        left_out="the search runs to its end",
    ),
    "known": Key(
        list_of(schema.text),
        (),
        type="list of text",
        means="constraints between parameters that are known beforehand",
        example='known = ["speed * feed <= 900"]',
        left_out="none",
    ),
    "parameters": Key(
        table_of(parameter, least=1),
        type="table of parameters",
        means="what is searched, and what is fixed",
        example="[parameters]\nspeed = { low = 500.0, high = 4000.0 }",
    ),
    "constraints": Key(
        table_of(schema.text),
        {},
        type="table of text",
        means="the limits; a trial that breaks one has failed",
        example='[constraints]\ntorque = "<= 12"',
        left_out="none",
    ),
    "start": Key(
        one_or_more(table_of(schema.choice)),
        (),
        type="table of values, or several",
        means="settings that are tried first",
        example="[start]\nspeed = 900.0",
        left_out="a seeded point",
    ),
    "noise": Key(
        table_of(schema.at_least_zero),
        {},
        type="table of numbers from 0",
        means="standard deviations of results, where they are known",
        example="[noise]\ncost = 0.2",
        left_out="learned",
    ),
}
