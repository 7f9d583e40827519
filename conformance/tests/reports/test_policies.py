"""Every page loads nothing and runs only its own script, no picture has a script, and links lead to public texts."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from certificates import certified
from made_reports import FAULT, faulty, hostile
from pages import ParsedPage, read
from run_helpers import REPOSITORY
from sds_conformance.presentation import project
from sds_conformance.presentation.links import text_link
from sds_conformance.reports.badge import badge
from sds_conformance.reports.certificate_page import page as certificate_page
from sds_conformance.reports.comparing.columns import ReportColumn
from sds_conformance.reports.comparing.comparison import compare
from sds_conformance.reports.comparing.history import histories
from sds_conformance.reports.comparing.page import comparison_page, history_page
from sds_conformance.reports.html import html
from sds_conformance.reports.report import Report
from sds_conformance.reports.sarif import sarif
from short_reports import made

SOURCES = [REPOSITORY / "conformance" / "sds_conformance", REPOSITORY / "harness" / "sds_harness"]
LOADING = {"src", "srcset", "srcdoc", "action", "formaction", "background", "data", "poster", "ping", "xlink:href"}


def columns() -> list[ReportColumn]:
    several = [made("a", day=1, RECV_01="pass"), made("a", day=2, RECV_01="fail")]
    return [ReportColumn.from_report(Report(data)) for data in several]


PAGES: dict[str, Callable[[], str]] = {
    "report.html.j2": lambda: html(hostile()),
    "compare.html.j2": lambda: comparison_page(compare(columns())),
    "history.html.j2": lambda: history_page(histories(columns()), ""),
    "certificate.html.j2": lambda: certificate_page(certified({"SDS-MSG-01": "fail"})),
}


def templates() -> list[Path]:
    return [path for folder in SOURCES for path in folder.rglob("*.j2")]


def is_page(path: Path) -> bool:
    return "<html" in path.read_text("utf-8").lower()


def test_every_page_has_the_layout_that_begins_with_the_policy() -> None:
    (layout,) = [path for path in templates() if is_page(path)]
    head = layout.read_text("utf-8").partition("<head>")[2]
    assert re.match(r'\s*<meta charset="utf-8">\s*\{\{ policy\(', head)
    extending = {path.name for path in templates() if f'{{% extends "{layout.name}" %}}' in path.read_text("utf-8")}
    assert extending == {*PAGES, "diff.html.j2"}
    others = {path.name for path in templates() if path.name.endswith(".html.j2")} - extending - {layout.name}
    assert others == {"links.html.j2", "report_parts.html.j2"}


def test_pages_are_made_of_templates_alone() -> None:
    for folder in SOURCES:
        for path in folder.rglob("*.py"):
            assert not re.search(r"<(html|body|script|!doctype)\b", path.read_text("utf-8"), re.IGNORECASE), path


@pytest.mark.parametrize("name", PAGES)
def test_the_policy_of_a_page_lets_its_own_script_run_and_loads_nothing(name: str) -> None:
    read = ParsedPage(PAGES[name]())
    (policy,) = [meta.attrs["content"] for meta in read.of("meta") if "http-equiv" in meta.attrs]
    assert policy.startswith("default-src 'none'; ")
    for closed in ("base-uri 'none'", "form-action 'none'"):
        assert closed in policy
    scripts = read.of("script")
    digests = [base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode() for script in scripts]
    assert re.findall(r"'(sha256-[^']*|unsafe-eval|nonce-[^']*)'", policy) == [f"sha256-{one}" for one in digests]
    assert "script-src 'unsafe-inline'" not in policy
    assert ("script-src" in policy) == bool(scripts)
    for element in read.elements:
        assert not LOADING & set(element.attrs), element.tag
        assert not [attribute for attribute in element.attrs if attribute.startswith("on")], element.tag
        assert element.tag not in ("link", "iframe", "object", "embed", "base", "form", "img")


def test_pictures_have_no_scripts_no_links_and_no_addresses() -> None:
    drawn = [path for path in templates() if "<svg" in path.read_text("utf-8") and not is_page(path)]
    assert {path.name for path in drawn} >= {"badge.svg.j2", "spacetime.svg.j2"}
    for text in [*(path.read_text("utf-8") for path in drawn), badge(hostile())]:
        assert not re.search(r"<(script|foreignObject|a|image|use|iframe)\b", text)
        assert not re.search(r"\son\w+=|href=|url\((?!#)|@import", text)


# ---- Links --------------------------------------------------------------------------------------------------------


def test_each_requirement_links_to_the_public_text_and_to_its_documentation_if_the_site_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def addresses() -> list[str]:
        return [link.attrs["href"] for link in read(faulty()).of("a")]

    found = addresses()
    assert text_link(FAULT).endswith("#receive-message")
    assert text_link(FAULT) in found
    assert all(link.startswith(("#", "https://github.com/")) for link in found)
    assert text_link(FAULT) in certificate_page(certified({FAULT: "fail"}))
    assert not [link for link in found if project.PLACEHOLDER in link]
    monkeypatch.setattr(project, "OWNER", "Someone")
    page = f"https://someone.github.io/sds-conformance/reference/requirements/{FAULT}.html"
    assert page in addresses()
    assert page in certificate_page(certified({FAULT: "fail"}))
    rules = json.loads(sarif(faulty()))["runs"][0]["tool"]["driver"]["rules"]
    (rule, *_) = [rule for rule in rules if rule["properties"]["requirement"] == FAULT]
    assert rule["helpUri"] == page
    assert f"[Public text]({text_link(FAULT)})" in rule["help"]["markdown"]
