import pytest

from docs import comparing, stories

PAGE = """# A page

```python
x = 2
print("x is", x)
```

```text
x is 2
```

```toml title="drill.toml"
name = "drill"
objective = "cost"
trials = 3
[parameters]
speed = { low = 0.0, high = 1.0 }
```

```console
pip install something
tumble plan --trials 2 --failures 1
```

```text
2 trials, 1 failure.
...
```

```text
$ tumble ask nothing.toml
tumble: nothing.toml: there is no such file; ...
```

```python
print(x * 2.0)
```
"""


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    monkeypatch.setattr(comparing, "arithmetic", lambda: comparing.COMPUTED_WITH)


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    return path


def test_a_block_that_shows_no_output_or_another_one_is_found(page):
    with stories.empty_folder():
        assert stories.wrong(page) == ["page.md:36: the block printed\n4.0\n"]
    page.write_text(PAGE.replace("x is 2", "x is 3"))
    with stories.empty_folder():
        assert stories.wrong(page)[0] == "page.md:4: the block printed\nx is 2\n"


def test_outputs_are_written_below_their_blocks_and_dots_are_left(page, capsys):
    page.write_text(PAGE.replace("x is 2", "x is 3"))
    assert stories.main([str(page)]) == 0
    assert page.read_text() == PAGE.rstrip() + "\n\n```text\n4.0\n```\n"


def test_a_block_of_an_unknown_kind_is_refused(page):
    page.write_text("```fortran\nSTOP\n```\n")
    with (
        stories.empty_folder(),
        pytest.raises(ValueError, match="give the block a title or a known language"),
    ):
        stories.wrong(page)


def test_a_command_that_fails_is_named(page):
    page.write_text("```console\ntumble ask nothing.toml\n```\n")
    with stories.empty_folder(), pytest.raises(ValueError, match="ended with 2"):
        stories.wrong(page)


def test_a_long_search_is_cut_and_its_output_is_not_compared(page):
    search = "tumble.minimize(lambda x: x[0], [(0, 1)], trials=90, seed=0)"
    page.write_text(f"```python\nimport tumble\nprint({search}.n_told)\n```\n")
    with stories.empty_folder():
        assert stories.wrong(page) == []
