"""A release is refused where its tag, its version, its change log or its address is not ready."""

import shutil

import pytest

import tumble
from tests.packaging.repository import ROOT, script

release = script("check_release")


@pytest.fixture
def tree(tmp_path):
    """A tree that is ready to be released as 1.2.3."""
    for name in release.NAMING:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        ready = (ROOT / name).read_text(encoding="utf-8").replace(release.PLACEHOLDER, "github.com/someone/")
        (tmp_path / name).write_text(ready, encoding="utf-8")
    (tmp_path / "src" / "tumble").mkdir(parents=True)
    (tmp_path / "src" / "tumble" / "__init__.py").write_text('__version__ = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.3 (2027-01-31)\n")
    return tmp_path


def test_the_version_is_read_from_the_sources():
    assert release.version() == tumble.__version__


def test_a_tree_that_is_ready_has_no_fault(tree):
    assert release.faults("v1.2.3", tree) == []


def test_another_tag_is_refused(tree):
    assert release.faults("v1.2.4", tree) == [
        "The tag is v1.2.4, but the version in src/tumble/__init__.py is 1.2.3: tag v1.2.3."
    ]


def test_a_version_under_development_is_refused(tree):
    (tree / "src" / "tumble" / "__init__.py").write_text('__version__ = "1.2.3.dev0"\n')
    assert "1.2.3.dev0 is no version to release: take away what follows the three numbers." in release.faults(
        "v1.2.3.dev0", tree
    )


def test_a_change_log_without_a_date_is_refused(tree):
    (tree / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.3 (unreleased)\n")
    assert release.faults("v1.2.3", tree) == [
        "CHANGELOG.md has no heading with a date, such as '## 1.2.3 (2027-01-31)'."
    ]


@pytest.mark.parametrize("name", release.NAMING)
def test_a_placeholder_is_refused(tree, name):
    shutil.copy(ROOT / name, tree / name)
    (tree / name).write_text("https://github.com/OWNER/tumble", encoding="utf-8")
    assert release.faults("v1.2.3", tree) == [
        f"{name} says github.com/OWNER/: write the account that hosts the repository."
    ]
