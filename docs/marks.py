"""Parts of a page that are made: what stands between two marks, `<!-- name -->` and `<!-- /name -->`."""

from __future__ import annotations


def between_marks(page: str, name: str, part: str) -> str:
    """The page with this part between the marks of that name.

    Raises
    ------
    ValueError
        If the page has no such marks.
    """
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, opened, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not opened or not closed:
        raise ValueError(f"the page has no marks {begin} and {end}; write them where the part should stand")
    return f"{before}{begin}\n\n{part}\n\n{end}{after}"
