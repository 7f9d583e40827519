"""One poisoned text through every way out of the suite: nothing obeys it, and every form stays what it is."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from pages import ParsedPage
from poison import harm
from run_helpers import REPOSITORY
from sds_conformance.protocols import protocols
from sds_conformance.reports.gfm import JOINER
from suite_terminal import typed

ADAPTER = REPOSITORY / "conformance" / "tests" / "poisoned_adapter.py"
PLACES = ("everywhere", "rejected", "unsupported", "error", "garbage", "crash", "greeting")
OPTIONS = ("--scenario", "every-kind-of-message", "--environment", "plain")
FORMS = ("html", "junit", "markdown", "badge", "sarif")


def adapter(place: str) -> list[str]:
    return ["--", sys.executable, str(ADAPTER), place]


def printed(*arguments: str | Path) -> str:
    """All that a command prints: harmless."""
    result = typed(*arguments)
    assert result.exit_code in (0, 1, 3, 4), result.output
    text = result.stdout + result.stderr
    assert harm(text) == []
    return text


TEXTS = {
    address.partition("#")[0]
    for protocol in protocols()
    for address in (one.link for one in protocol.rules.catalogue.requirements.values())
    if address
}
"""The addresses of the public texts: no poison has them."""


def check(file: Path) -> None:
    """A file is harmless to print, and is well-formed."""
    text, name = file.read_text("utf-8"), file.name
    assert harm(text.replace(JOINER, "") if name.endswith(".markdown") else text) == [], file
    if name.endswith((".json", ".sarif")):
        json.loads(text)
    elif name.endswith(".jsonl"):
        assert all(isinstance(json.loads(line), dict) for line in text.splitlines())
    elif name.endswith(".html"):
        page = ParsedPage(text)
        assert len(page.of("script")) <= 1
        assert not [e for e in page.elements if e.tag == "img" or any(name.startswith("on") for name in e.attrs)]
        assert not [e for e in page.of("a") if not e.attrs["href"].startswith(("#", *TEXTS))]
    elif name.endswith((".junit", ".svg", ".badge", ".xml")):
        tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(text).iter()}
        assert not tags & {"script", "img"}
    elif name.endswith(".markdown"):
        blocks = MarkdownIt("commonmark").enable("table").parse(text)
        kinds = {token.type for block in blocks for token in (block, *(block.children or []))}
        assert not kinds & {"html_block", "html_inline", "link_open", "image"}


def check_all(folder: Path) -> None:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    for file in files:
        check(file)


@pytest.mark.parametrize(
    "place", [*PLACES[:1], *(pytest.param(place, marks=pytest.mark.exhaustive) for place in PLACES[1:])]
)
def test_nothing_that_a_run_prints_or_writes_obeys_the_implementation(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    forms = [word for form in FORMS for word in (f"--{form}", f"x.{form}")]
    printed("run", *OPTIONS, "--report", "out", "--transcript", "t.jsonl", *forms, *adapter(place))
    printed("report", "out")
    json.loads(printed("report", "out", "--json"))
    printed("explain", "t.jsonl")
    check_all(tmp_path)
    commands = [line for line in typed("report", "out", "--annotations").stdout.splitlines() if line.startswith("::")]
    assert commands
    for line in commands:
        assert line.startswith(("::error ", "::warning ", "::notice "))
        assert harm(line[2:]) == []


@pytest.mark.exhaustive
def test_what_is_made_of_reports_obeys_nobody_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed("run", *OPTIONS, "--report", "out", *adapter("everywhere"))
    printed("run", *OPTIONS, "--report", "other", *adapter("rejected"))
    printed("certificate", "write", "out", "--html", "c.html")
    printed("certificate", "show", "certificate.json")
    printed("compare", "out", "other", "--ways", "--html", "d.html", "--markdown", "d.markdown")
    json.loads(printed("compare", "out", "other", "--json"))
    printed("baseline", "write", "known.yaml", "out")
    printed("baseline", "check", "known.yaml", "out")
    check_all(tmp_path)


@pytest.mark.exhaustive
def test_what_other_commands_say_of_an_implementation_obeys_nobody_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    everywhere = adapter("everywhere")
    printed("smoke", *everywhere)
    printed("smoke", *adapter("greeting"))
    printed("fuzz", "--schedules", "3", "--jobs", "1", "--out", "found", *everywhere)
    printed("vectors", "run", "--group", "lamport", *everywhere)
    command = f"{sys.executable} {ADAPTER}"
    printed("interop", "--schedules", "1", "--out", "met", f"a={command} everywhere", f"b={command} rejected")
    for schedule in [*Path("found").glob("*.json")][:1]:
        printed("replay", schedule, *everywhere)
    check_all(tmp_path)
