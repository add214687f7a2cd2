"""Links of the built manual (a hook of MkDocs): each leads to a file of the site, and to a place in it.

A link that leads nowhere ends the build, and so does an asset that would be fetched from the network.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

FETCHED = ("img", "script", "link", "iframe", "source", "video")  # loaded with the page


@dataclass
class Page(HTMLParser):
    """The places of a page, and what it links to."""

    places: set[str] = field(default_factory=set)
    links: list[tuple[str, str]] = field(default_factory=list)  # tag and address

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the names and the addresses of a tag."""
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.places.add(value)
            elif name in ("href", "src") and value:
                self.links.append((tag, value))


def read(site: Path) -> dict[Path, Page]:
    """Every page of the site."""
    pages = {}
    for path in sorted(site.rglob("*.html")):
        pages[path.resolve()] = Page()
        pages[path.resolve()].feed(path.read_text(encoding="utf-8"))
    return pages


def broken(site: Path) -> list[str]:
    """One sentence for each link that leads nowhere."""
    pages = read(site)
    return [
        f"{path.relative_to(site.resolve())}: {target}: {wrong}"
        for path, page in pages.items()
        if path.name != "404.html"  # it is served under any address
        for tag, target in dict.fromkeys(page.links)
        if (wrong := _wrong(path, tag, target, pages))
    ]


def _wrong(path: Path, tag: str, target: str, pages: dict[Path, Page]) -> str:
    """What is wrong with a link of a page; nothing where it is well."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        outside = tag in FETCHED and parts.scheme in ("http", "https", "")
        return "it would be fetched from the network" if outside else ""
    file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not file.is_file():
        return "there is no such file"
    place = unquote(parts.fragment)
    return "there is no such place" if place and file in pages and place not in pages[file].places else ""


def on_post_build(config: Any) -> None:
    """Refuse a site with a link that leads nowhere (MkDocs calls this)."""
    from mkdocs.exceptions import PluginError

    found = broken(Path(config.site_dir))
    if found:
        raise PluginError("links that lead nowhere:\n" + "\n".join(found))
