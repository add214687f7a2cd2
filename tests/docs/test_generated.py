import tomllib

import click
import pytest

from docs import generated
from docs.marks import between_marks
from tumble.cli.app import app
from tumble.errors import InputError
from tumble.studies.keys import FILE
from tumble.studies.parameter_tables import TABLE, parameter


def test_the_pages_are_what_the_code_says():
    assert generated.main([]) == 0, "run: python -m docs.generated --write"


def test_every_command_and_every_option_is_on_the_page():
    page = generated.command_line()
    for name, command in app.commands.items():
        section = page.partition(f"## tumble {name}\n")[2].partition("\n## ")[0]
        options = [p for p in command.params if isinstance(p, click.Option)]
        assert section
        assert [option.name for option in options if f"`{option.opts[-1]}`" not in section] == []


@pytest.mark.parametrize("name", FILE)
def test_the_example_of_a_key_can_be_used(name):
    text = FILE[name].example.replace("] ", "]\n")
    FILE[name].check(tomllib.loads(text)[name])


@pytest.mark.parametrize("name", TABLE)
def test_the_example_of_a_key_of_a_parameter_can_be_used(name):
    assert parameter(tomllib.loads(f"x = {TABLE[name].example}")["x"])[name] is not None


@pytest.mark.parametrize("keys", [FILE, TABLE])
def test_a_key_says_its_type_and_what_it_is(keys):
    assert [name for name, key in keys.items() if not (key.type and key.means and key.example)] == []


@pytest.mark.parametrize(
    ("name", "beyond"), [("trials", 0), ("failures", -1), ("boldness", 1.5), ("timeout", 0)]
)
def test_the_types_say_where_a_number_ends(name, beyond):
    assert "from" in FILE[name].type or "above" in FILE[name].type
    with pytest.raises(InputError):
        FILE[name].check(beyond)


def test_a_page_that_differs_is_named_and_written(tmp_path, monkeypatch, capsys):
    page = tmp_path / "cli.md"
    page.write_text("old")
    monkeypatch.setattr(generated, "pages", lambda: {page: "new"})
    assert generated.main([]) == 1
    assert "cli.md is out of date" in capsys.readouterr().out
    assert generated.main(["--write"]) == 0
    assert generated.main([]) == 0
    assert page.read_text() == "new"


def test_a_page_without_marks_is_refused():
    with pytest.raises(ValueError, match="no marks <!-- keys -->"):
        between_marks("nothing", "keys", "")
