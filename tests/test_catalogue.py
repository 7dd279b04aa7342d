"""docs/catalogue.md is what the names of the tests say."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MADE = runpy.run_path(str(ROOT / "docs" / "catalogue.py"))


@pytest.mark.skipif(not MADE["CATALOGUE"].exists(), reason="the catalogue, shared/catalogue, is not here")
def test_the_page_of_what_works_is_not_stale() -> None:
    text = (ROOT / "docs" / "catalogue.md").read_text(encoding="utf-8")
    assert text == MADE["page"](), "run python docs/catalogue.py --write"


def test_rows_are_found_by_the_names_of_tests() -> None:
    found = MADE["tests"]()
    file, name, taken = found["C13"][0]
    assert file.startswith("known/")
    assert name.startswith("test_C13_")
    assert taken
    assert any("adapters.ParzenDensity" in taken for _, _, taken in found["A1"])


@pytest.mark.skipif(not MADE["CATALOGUE"].exists(), reason="the catalogue, shared/catalogue, is not here")
def test_no_test_names_a_row_that_the_catalogue_lacks() -> None:
    assert set(MADE["tests"]()) <= set(MADE["names"]())
