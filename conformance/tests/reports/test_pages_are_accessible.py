"""Each kind of page, as axe sees it in a browser: no violation, wide and narrow, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browsers import set_screen, started_browser
from html_validator import FOLDER, complaints_about
from made_reports import hostile
from page_kinds import KINDS
from pages import ParsedPage
from sds_conformance.reports.html import html

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

AXE = FOLDER / "node_modules" / "axe-core" / "axe.min.js"
PAGES = [pytest.param(name, marks=pytest.mark.spark) if name.startswith("corpus") else name for name in KINDS]
SCREENS = [(width, scheme) for width in (1280, 400) for scheme in ("light", "dark")]
_RUN = """
const done = arguments[arguments.length - 1];
axe.run({resultTypes: ["violations"]}).then(
  (result) => done(
    result.violations.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 200)}`))
  ));
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    if not AXE.is_file():
        pytest.skip("axe is not installed: type `npm ci --prefix conformance/tests/reports/npm`")
    with started_browser() as browser:
        yield browser


def violations(browser: Chrome, file: Path, width: int, scheme: str) -> list[str]:
    set_screen(browser, width, scheme)
    browser.get(file.as_uri())
    # The first of each kind of collapsed part: axe reads only what is shown, and hundreds are alike.
    browser.execute_script(
        "[...document.querySelectorAll('details')].slice(0, 12).forEach(one => { one.open = true; })"
    )
    browser.execute_script(AXE.read_text("utf-8"))
    found: list[str] = browser.execute_async_script(_RUN)
    return found


@pytest.mark.parametrize("name", PAGES)
def test_axe_has_no_complaint(browser: Chrome, name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.html"
    file.write_text(KINDS[name](), "utf-8")
    for width, scheme in SCREENS:
        assert violations(browser, file, width, scheme) == [], (width, scheme)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", PAGES)
def test_all_pages_share_layout_and_style(name: str) -> None:
    read = ParsedPage(KINDS[name]())
    (style,) = read.of("style")
    other = ParsedPage(KINDS["history"]()).of("style")[0]
    assert style.text.startswith(other.text.rstrip())
    for tag in ("main", "footer", "h1"):
        assert len(read.of(tag)) == 1, tag
    for header in read.of("th"):
        assert header.words
        assert header.attrs["scope"] in ("col", "row", "colgroup")


def test_pages_are_valid(tmp_path: Path) -> None:
    others = ("history-run", "corpus-diff")
    pages = {name.replace("-", "_"): KINDS[name]() for name in KINDS if name not in others}
    assert complaints_about(tmp_path, hostile=html(hostile()), **pages) == []
