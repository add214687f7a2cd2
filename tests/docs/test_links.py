import pytest
from mkdocs.exceptions import PluginError

from docs import links

GOOD = (
    '<h1 id="top">A</h1><a href="b.html#there">b</a><a href="https://c.example">c</a><a href="#top">top</a>'
)


def site(folder, a=GOOD):
    (folder / "a.html").write_text(a)
    (folder / "b.html").write_text('<h2 id="there">B</h2><img src="b.png">')
    (folder / "b.png").write_bytes(b"")
    (folder / "404.html").write_text('<a href="/nowhere">x</a>')
    return folder


def test_a_site_whose_links_lead_somewhere_has_none_that_are_broken(tmp_path):
    assert links.broken(site(tmp_path)) == []


@pytest.mark.parametrize(
    ("tag", "why"),
    [
        ('<a href="c.html">c</a>', "a.html: c.html: there is no such file"),
        ('<a href="b.html#here">b</a>', "a.html: b.html#here: there is no such place"),
        ('<a href="#here">here</a>', "a.html: #here: there is no such place"),
        (
            '<img src="https://c.example/c.png">',
            "a.html: https://c.example/c.png: it would be fetched from the network",
        ),
        (
            '<script src="//c.example/c.js"></script>',
            "a.html: //c.example/c.js: it would be fetched from the network",
        ),
    ],
)
def test_a_link_that_leads_nowhere_is_found_and_ends_the_build(tmp_path, tag, why):
    class Config:
        site_dir = str(site(tmp_path, tag))

    assert links.broken(tmp_path) == [why]
    with pytest.raises(PluginError, match="lead nowhere"):
        links.on_post_build(Config)
