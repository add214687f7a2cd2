from docs.report import __main__ as command
from docs.report.pdf import build

TEXT = """# A report

*By* [someone](else.md), with `code`.

```text
φ(x) ≥ ρ
```

<!-- speed -->

| case | seconds |
|------|--------:|
| one  |     0.1 |
| two  |     0.2 |

<!-- /speed -->

![A figure](../assets/how/controller.svg)

- one
- two
"""


def test_text_tables_and_figures_become_a_pdf(tmp_path):
    out = build(TEXT, tmp_path / "folder" / "report.pdf")
    assert out.read_bytes().startswith(b"%PDF-")
    assert out.stat().st_size > 20_000  # with its figure and its fonts


def test_the_report_builds_from_the_manual(tmp_path, capsys):
    assert command.main(["--out", str(tmp_path / "report.pdf")]) == 0
    assert (tmp_path / "report.pdf").stat().st_size > 50_000
    assert "report.pdf written" in capsys.readouterr().out


def test_the_report_has_its_tables():
    text = command.TEXT.read_text(encoding="utf-8")
    for name in ("verdict", "ablation", "speed", "attacks"):
        part = text.partition(f"<!-- {name} -->")[2].partition(f"<!-- /{name} -->")[0]
        assert "|" in part or "Nothing is" in part, name
