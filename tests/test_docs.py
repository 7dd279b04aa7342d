"""Every block of the README and of the pages in docs/ runs, from top to bottom, and gives what it shows."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from tests import snippets

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OF_OTHERS = {"from-pgmpy.md": "pgmpy", "from-pyagrum.md": "pyagrum"}


def languages(page: Path) -> set[str]:
    return {block.language for block in snippets.blocks(page.read_text(encoding="utf-8"))}


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if "python" in languages(page)],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_the_blocks_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    snippets.run(page, ("python",) if page.name == "README.md" else ("python", "sh"))


@pytest.mark.parametrize("page", OF_OTHERS)
def test_what_a_page_says_of_another_library_runs_where_that_is_installed(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if importlib.util.find_spec(OF_OTHERS[page]) is None:
        pytest.skip(f"{OF_OTHERS[page]} is not installed")
    monkeypatch.chdir(tmp_path)
    snippets.run(ROOT / "docs" / "how-to" / page, ("python", "py"))


@pytest.mark.parametrize("code", ["1 + 1  # -> 3", "x = 0.12346  # -> 0.123", "'a', 2  # -> 'b', 2"])
def test_a_page_that_shows_what_is_not_so_fails(code: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"```python\n{code}\n```\n", encoding="utf-8")
    if code.startswith("x"):
        snippets.run(page)  # to the digits shown this is so
        page.write_text(f"```python\n{code}4\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError):
        snippets.run(page)


def test_links_between_the_pages_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
