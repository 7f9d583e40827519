"""Tests the built site: it has all generated pages, no link is broken, and no page needs a network."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache, cached_property
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click
import pytest

from sds_conformance.cli import main
from sds_conformance.cli.command_groups import LazyCommand
from sds_conformance.protocols import protocols

_LOADED = {
    ("link", "href"),
    ("script", "src"),
    ("img", "src"),
    ("iframe", "src"),
    ("object", "data"),
    ("source", "src"),
}
"""Pairs of an element and an attribute. A browser loads the target of such an attribute without a click of the user."""
_LEADING = _LOADED | {("a", "href")}
_NAMES = {name for _, name in _LEADING}


_TAG = re.compile(r"<([a-z][a-z0-9]*)\b([^>]*)>")
_ATTRIBUTE = re.compile(r'([a-z-]+)="([^"]*)"')


class _Page:
    """The link targets, element IDs and text of a page.

    Regular expressions read the attributes, because an HTML parser takes ten times as long. They suffice, because
    Sphinx quotes and escapes every attribute.
    """

    def __init__(self, file: Path) -> None:
        self._source = file.read_text("utf-8")
        self.targets: list[tuple[str, str, str]] = []
        self.ids: set[str] = set()
        for tag, attributes in _TAG.findall(self._source):
            found = {name: unescape(value) for name, value in _ATTRIBUTE.findall(attributes)}
            self.ids.add(found.get("id", ""))
            if tag == "link" and found.get("rel") in ("canonical", "next", "prev", "index", "search"):
                continue
            self.targets += [(tag, name, found[name]) for name in _NAMES if name in found and (tag, name) in _LEADING]

    @cached_property
    def text(self) -> str:
        reader = _TextReader()
        reader.feed(self._source)
        return "".join(reader.texts)


class _TextReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@cache
def _page(file: Path) -> _Page:
    """Parse a page. The result is cached, because the site has a thousand pages."""
    return _Page(file)


@cache
def _target(folder: Path, path: str) -> Path:
    """The file that a link to ``path`` from a page in ``folder`` leads to.

    Cached, because all pages have the same links in their sidebar.
    """
    return (folder / unquote(path)).resolve()


def _leaves(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    command = command.command if isinstance(command, LazyCommand) else command
    yield path, command
    if isinstance(command, click.Group):
        for name, each in command.commands.items():
            yield from _leaves(each, (*path, name))


def test_every_command_and_option_is_in_the_reference(site: Path) -> None:
    missing = []
    for path, command in _leaves(main, ()):
        page = _page(site / "reference" / "command-line" / f"{path[0] if path else 'index'}.html")
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                name = max(option.opts, key=len)
                anchor = "-".join(["cmdoption-sds-conformance", *path, name.lstrip("-")])
                missing += [] if anchor in page.ids else [f"{' '.join(path)} {name}"]
        assert f"sds-conformance {' '.join(path)}".strip() in " ".join(page.text.split()), path
    assert missing == []


@pytest.mark.parametrize("protocol", protocols(), ids=lambda protocol: str(protocol.name))
def test_every_requirement_position_and_scenario_has_a_page(site: Path, protocol: object) -> None:
    rules = protocol.rules  # type: ignore[attr-defined]
    for folder, names in (
        ("requirements", rules.catalogue.requirements),
        ("positions", rules.catalogue.positions),
        ("scenarios", rules.register.scenarios),
    ):
        index = {target for _, _, target in _page(site / "reference" / folder / "index.html").targets}
        for name in names:
            assert (site / "reference" / folder / f"{name}.html").is_file()
            assert f"{name}.html" in index, f"the list of {folder} does not name {name}"


def test_the_page_of_a_requirement_has_its_codes_positions_scenarios_mutants_and_verdicts(site: Path) -> None:
    page = _page(site / "reference" / "requirements" / "SDS-RECV-06.html")
    targets = {target for _, _, target in page.targets}
    assert {"../positions/AMB-40.html", "../scenarios/a-diamond.html"} <= targets
    assert any(target.startswith("https://") and target.endswith("#receive-message") for target in targets)
    for word in ("SDS-RECV-06/delivered-early", "buffered-is-met", "@waku/sds 0.0.8 violates this requirement"):
        assert word in page.text
    assert any(tag == "img" and target.endswith(".svg") for tag, _, target in page.targets)


def test_links_lead_to_pages_and_headings_and_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = {file: _page(file) for file in site.rglob("*.html")}
    broken, loaded = [], []
    for file, page in pages.items():
        for tag, name, target in page.targets:
            parts = urlsplit(target)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                loaded += [f"{file.relative_to(site)}: {target}"] if (tag, name) in _LOADED else []
                continue
            there = _target(file.parent, parts.path) if parts.path else file
            known = pages.get(there)
            lost = unquote(parts.fragment) not in known.ids | {""} if known else not there.is_file()
            broken += [f"{file.relative_to(site)}: {target}"] if lost else []
    assert (broken[:20], loaded) == ([], [])


def test_styles_load_nothing_from_elsewhere(site: Path) -> None:
    for file in site.rglob("*.css"):
        assert re.findall(r"url\(\s*[\"']?(?:https?:)?//", file.read_text("utf-8")) == [], file


@pytest.mark.parametrize("word", ["SDS-RECV-06", "AMB-24", "a-diamond"])
def test_search_finds_a_name_as_the_title_of_a_page(site: Path, word: str) -> None:
    index = (site / "searchindex.js").read_text("utf-8")
    found = json.loads(index.removeprefix("Search.setIndex(").rstrip(")\n;"))
    assert word in found["titles"]
