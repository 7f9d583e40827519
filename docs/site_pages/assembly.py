"""Assemble the sources of the site in one folder.

Pages of the repository are copied to the places that `site_map` gives them. A link between two of them is rewritten to
the new place. A link to any other file of the repository leads to a copy of it, so the site needs no network. A link to
a folder becomes plain text.
"""

from __future__ import annotations

import os
import posixpath
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from . import command_line, formats, positions, properties, python_api, requirements, scenarios
from .implementations import known_implementations
from .markdown import cut, page, slug, table, with_links
from .site_map import EXPLANATION, GENERATED, HOW_TO, PARTS, REFERENCE, SITE_MAP, TUTORIAL, Page

REPOSITORY = Path(__file__).resolve().parents[2]
_START = "docs/index.md"
_INDEX = "index"
_FILES = "files"
"""The folder of copied files on the site."""
_TITLES = {
    TUTORIAL: ("Tutorial", "Start here: from nothing to a first certificate, step by step."),
    HOW_TO: (
        "How-to guides",
        "Each guide shows how to reach one goal. The [tutorial](../tutorial/first-certificate.md) comes first.",
    ),
    REFERENCE: ("Reference", "Facts to look up. Most pages are generated from the catalogue and the code."),
    EXPLANATION: ("Explanation", "How the suite works, and why."),
}
_GENERATED_PLACES = {one.place for one in GENERATED} | {f"{part}/{_INDEX}" for part in PARTS}
# README and the list of guides are for readers of the repository. On the site, the first page takes their place.
_SAME_AS_START = ("README.md", "docs/README.md", "docs", "")


@dataclass
class Site:
    """The folder to which the sources of the site are written."""

    folder: Path
    written: set[Path] = field(default_factory=set)
    places: dict[str, str] = field(default_factory=dict)
    """The place of each whole page, by its path in the repository."""
    sections: dict[tuple[str, str], str] = field(default_factory=dict)
    """The place of each section that has a separate page, by path and anchor."""

    def write(self, path: str, text: str) -> None:
        """Write a file unless it already has this text, so that Sphinx reads only changed files again."""
        file = self.folder / path
        self.written.add(file)
        if file.is_file() and file.read_text("utf-8") == text:
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def copy(self, path: str) -> str:
        """Copy a file of the repository; returns its path on the site."""
        target = f"{_FILES}/{path}"
        file = self.folder / target
        if file not in self.written:
            self.written.add(file)
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(REPOSITORY / path, file)
        return target

    def remove_stale(self) -> None:
        """Remove files of an earlier build that were not written again."""
        for file in self.folder.rglob("*"):
            if file.is_file() and file not in self.written:
                file.unlink()

    def link(self, source: str, place: str, target: str, image: bool) -> str | None:
        """The new target of a link in the page at ``place``, a copy of ``source``; None for a link to a folder."""
        if "://" in target or target.startswith("mailto:"):
            return target
        name, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), name)) if name else source
        if (path, anchor) in self.sections:
            return _relative(place, self.sections[path, anchor] + ".md")
        if path in self.places or path in _SAME_AS_START:
            found = self.places.get(path, _INDEX)
            mark = f"#{anchor}" if anchor else ""
            return mark if found == place and mark else _relative(place, f"{found}.md") + mark
        if source == _START and name.removesuffix(".md") in _GENERATED_PLACES:
            return _relative(place, name)
        if (REPOSITORY / path).is_file():
            return _relative(place, self.copy(path))
        if (REPOSITORY / path).is_dir() and not image:
            return None
        raise LookupError(f"{source}: the link {target} leads to no page, file or folder of the repository")


def assemble(folder: Path) -> None:
    """Write all sources into a folder, and remove old files from it."""
    site = Site(folder)
    for one in SITE_MAP:
        if one.section:
            site.sections[one.source, slug(one.section)] = one.place
        else:
            site.places[one.source] = one.place
    site.places[_START] = _INDEX
    for place, text in _repository_pages(site):
        site.write(f"{place}.md", text)
    for place, text in _generated_pages():
        site.write(place if Path(place).suffix == ".svg" else f"{place}.md", text)
    for part in PARTS:
        site.write(f"{part}/{_INDEX}.md", _first_page(part))
    site.remove_stale()


def _repository_pages(site: Site) -> Iterator[tuple[str, str]]:
    texts = {source: (REPOSITORY / source).read_text("utf-8") for source in {one.source for one in SITE_MAP}}
    texts[_START] = (REPOSITORY / _START).read_text("utf-8")
    for one in SITE_MAP:
        if one.section:
            # A link relative to the source, like all links of that page. `_resolve_links` rewrites it.
            there = os.path.basename(one.source) + "#" + slug(one.section)
            instead = f"[{one.section}]({there}) is on a separate page."
            texts[one.source], section = cut(texts[one.source], one.section, instead)
            texts[f"{one.source}#{one.section}"] = section
    for one in SITE_MAP:
        text = texts[f"{one.source}#{one.section}" if one.section else one.source]
        yield one.place, _resolve_links(site, text, one.source, one.place)
    yield _INDEX, _resolve_links(site, texts[_START], _START, _INDEX)


def _resolve_links(site: Site, text: str, source: str, place: str) -> str:
    return with_links(text, lambda target, image: site.link(source, place, target, image))


def _relative(place: str, path: str) -> str:
    return posixpath.relpath(path, posixpath.dirname(place) or ".")


def _generated_pages() -> Iterator[tuple[str, str]]:
    known = known_implementations(REPOSITORY / "docs" / "implementations.md")
    yield from command_line.pages()
    drawn: dict[str, str] = {}
    for place, text in scenarios.pages():
        if place.endswith(".svg"):
            drawn[posixpath.basename(place).removesuffix(".svg")] = place
        yield place, text
    yield from requirements.pages(known, drawn)
    yield from positions.pages(known)
    yield from properties.pages()
    yield from formats.pages(REPOSITORY)
    yield from python_api.pages()


def _first_page(part: str) -> str:
    """The first page of a part: it lists every page of the part, with the goal of that page's reader."""
    title, about = _TITLES[part]
    shown = [one for one in (*SITE_MAP, *GENERATED) if one.place.startswith(f"{part}/")]
    groups: list[tuple[str, list[Page]]] = []
    for one in shown:
        if one.group or not groups:
            groups.append((one.group, []))
        groups[-1][1].append(one)
    lines = [about, ""]
    for group, pages in groups:
        names = [posixpath.relpath(one.place, part) for one in pages]
        rows = [(f"[](<{name}.md>)", one.about) for name, one in zip(names, pages, strict=True)]
        lines += [f"## {group}", ""] if group else []
        lines += table(("page", "content"), rows)
        lines += ["```{toctree}", ":hidden:", "", *names, "```", ""]
    return page(title, lines)
