"""The templates of adapters that have to be built, as they come: the toy in them answers, and its report is honest."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from native_templates import LANGUAGES, Built, build_once
from suite_terminal import typed

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module", params=LANGUAGES)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    language: str = request.param
    return build_once(tmp_path_factory, language)


def test_its_first_report_is_honest(built: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    """The declared parts of the toy are tested and pass, and no others are tested: one toy in all languages, with one
    report."""
    monkeypatch.chdir(built.folder)
    where = [] if built.language == "go" else ["--environment", "plain"]
    result = typed("run", "--json", *where, "--", *built.command)
    assert result.exit_code == 0, result.output
    report = json.loads(result.output)
    verdicts = Counter(requirement["verdict"] for requirement in report["requirements"])
    # One requirement is exercised only in another environment than plain.
    passed = 67 if where else 68
    assert verdicts == {"pass": passed, "skipped": 170 - passed}
    assert report["summary"]["complete"]
