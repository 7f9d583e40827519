"""Pages that are read back."""

from __future__ import annotations

from html.parser import HTMLParser

from sds_conformance.reports.html import html
from sds_conformance.reports.report import Report

VOID = {"meta", "br", "input", "img", "link", "hr"}


class ParsedPage(HTMLParser):
    """A page, read: its elements in order, with their texts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(html)
        assert not self._open, f"{self._open[-1].tag} is never closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs}, [*self._open])
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}, [*self._open]))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"{tag} is closed and was never open"
        assert self._open[-1].tag == tag, f"{tag} is closed within {self._open[-1].tag}"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.parts.append(data)

    def of(self, tag: str = "", css: str = "", within: str = "") -> list[Element]:
        """Elements with a tag, with a class, and within an element with an ID, if these are given."""
        return [
            element
            for element in self.elements
            if (not tag or element.tag == tag)
            and (not css or css in element.classes)
            and (not within or any(outer.attrs.get("id") == within for outer in element.around))
        ]


class Element:
    """An element of a page."""

    def __init__(self, tag: str, attrs: dict[str, str], around: list[Element]) -> None:
        self.tag = tag
        self.attrs = attrs
        self.around = around
        self.parts: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self.parts)

    @property
    def classes(self) -> list[str]:
        return self.attrs.get("class", "").split()

    @property
    def words(self) -> str:
        """The text, with single blanks."""
        return " ".join(self.text.split())


def read(made: Report) -> ParsedPage:
    return ParsedPage(html(made))
