"""Pages and SARIF link to the public text of a requirement and, if the site is known, to its documentation."""

from __future__ import annotations

import json

import pytest

from certificates import certified
from made_reports import FAULT, faulty
from pages import read
from sds_conformance.presentation import project
from sds_conformance.presentation.links import text_link
from sds_conformance.reports.certificate_page import page as certificate_page
from sds_conformance.reports.sarif import sarif

SITE = "https://someone.github.io/sds-conformance/"


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "OWNER", "Someone")


def addresses() -> list[str]:
    return [link.attrs["href"] for link in read(faulty()).of("a")]


def test_each_requirement_links_to_the_public_text() -> None:
    found = addresses()
    assert text_link(FAULT).endswith("#receive-message")
    assert text_link(FAULT) in found
    assert all(link.startswith(("#", "https://github.com/")) for link in found)
    assert text_link(FAULT) in certificate_page(certified({FAULT: "fail"}))


def test_no_page_links_to_a_site_that_is_unknown() -> None:
    assert project.documentation() == ""
    assert not [link for link in addresses() if project.PLACEHOLDER in link]


@pytest.mark.usefixtures("published")
def test_each_requirement_links_to_its_documentation() -> None:
    page = f"{SITE}reference/requirements/{FAULT}.html"
    assert page in addresses()
    assert page in certificate_page(certified({FAULT: "fail"}))
    rules = json.loads(sarif(faulty()))["runs"][0]["tool"]["driver"]["rules"]
    (rule, *_) = [rule for rule in rules if rule["properties"]["requirement"] == FAULT]
    assert rule["helpUri"] == page
    assert f"[Public text]({text_link(FAULT)})" in rule["help"]["markdown"]
