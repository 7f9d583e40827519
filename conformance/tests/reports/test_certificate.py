"""Certificates: what stands on one, which level follows, and what gives a forged one away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from certificates import certified, forged, kept, whole_report, wrong
from run_helpers import plan
from sds_conformance.reports.certificate import (
    Certificate,
    CertificateError,
    certificate,
    load_schema,
    read_certificate,
)
from sds_conformance.reports.certificate_page import page
from sds_conformance.reports.certificate_validity import version_differences
from sds_conformance.reports.report import Report

MUST, SHOULD, OF_SDS_R = "SDS-MSG-01", "SDS-STATE-06", "SDS-R-STATE-01"
TOTAL = len(plan().requirements)


# ---- Levels --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdicts", "held"),
    [
        ({}, "Core + SDS-R, strict"),
        ({SHOULD: "warn"}, "Core + SDS-R"),
        ({OF_SDS_R: "fail"}, "Core, strict"),
        ({MUST: "fail"}, "none"),
        ({MUST: "inconclusive"}, "none"),
        ({SHOULD: "error"}, "none"),
        ({MUST: "skipped"}, "Core + SDS-R, strict"),
    ],
)
def test_the_level_follows_from_the_verdicts(verdicts: dict[str, str], held: str) -> None:
    made = certified(verdicts)
    assert made.level == held
    assert not wrong(made)


def test_who_declares_next_to_nothing_has_no_level() -> None:
    musts = [row["id"] for row in whole_report().data["requirements"] if row["level"].startswith("MUST")]
    made = certified(dict.fromkeys(musts[10:], "skipped"))
    assert made.level == "none"
    assert "fewer than half" in made.data["level"]["parts"][0]["because"][0]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"narrowed": ["environments", "scenarios"]}, "only a part of environments and scenarios was selected"),
        ({"complete": False}, "did not finish"),
        ({"interrupted": True}, "did not finish"),
        ({"environments": ["plain"]}, "nothing was played in the environment all-scripts"),
    ],
)
def test_a_part_of_a_run_has_no_level(changes: dict[str, Any], said: str) -> None:
    data = whole_report().data
    data["narrowed"] = changes.pop("narrowed", [])
    data["whole"] = not data["narrowed"]
    data["summary"] |= changes
    made = certificate(Report(data))
    assert made.level == "none"
    assert said in made.data["level"]["against"][0]


def test_a_failure_that_a_baseline_knows_is_a_failure() -> None:
    known = {"requirement": MUST, "scenario": "", "reason": "a bug of ours", "link": "", "line": 3, "flaky": True}
    complaint = {"line": 4, "requirement": "SDS-ACK-01", "what": "it passes", "change": "delete it"}
    baseline = {"file": "known.txt", "known": [known], "flaky": [{**known, "outcome": "failed"}], "new": []}
    report = whole_report({MUST: "fail"}, baseline={**baseline, "complaints": [complaint]})
    made = certificate(report)
    assert made.level == "none"
    assert made.data["verdicts"]["fail"] == 1
    assert made.data["baseline"]["known"] == [known]
    assert not wrong(made)
    for output in ("It does not conform", "a bug of ours", "line 4: it passes; delete it"):
        assert output in page(made)


# ---- What stands on it ---------------------------------------------------------------------------------------------


def test_it_says_what_was_judged_and_how(tmp_path: Path) -> None:
    report = whole_report({MUST: "fail"})
    made = certificate(report)
    Draft202012Validator.check_schema(load_schema())
    Draft202012Validator(load_schema()).validate(made.data)
    output, data = report.data, made.data
    assert read_certificate(kept(made, tmp_path)).data == data
    assert data["implementation"] == output["implementation"]
    assert (data["carrier"], data["date"], data["revision"]) == ("json", output["started"], "sds-2026-01")
    assert [row["id"] for row in data["requirements"]] == [row["id"] for row in output["requirements"]]
    assert data["requirements"][0]["shown"] == ["ties"]
    assert data["causes"] == output["causes"]
    assert "SDS-INSWEEP-03" in data["untestable"]
    assert "fuzz" not in data
    assert certificate(report).raw == made.raw


def test_a_report_that_was_cut_off_or_is_of_another_catalogue_has_none() -> None:
    with pytest.raises(CertificateError, match="cut off after line 3"):
        certificate(Report(whole_report().data, cut_off="after line 3"))
    other = whole_report().data
    other["requirements"][3]["statement"] = "Anything goes."
    with pytest.raises(CertificateError, match=r"other data about SDS-MSG-04.*repeat the run"):
        certificate(Report(other))
    with pytest.raises(CertificateError, match=r"version 9\.9"):
        certificate(whole_report(suite={"name": "sds-conformance", "version": "9.9"}))
    miscounted = whole_report().data
    miscounted["summary"]["pass"] += 1
    with pytest.raises(CertificateError, match="differ from its verdicts"):
        certificate(Report(miscounted))


# ---- Forgeries -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data["level"].update(name="Core + SDS-R, strict"), "but the verdicts give none"),
        (
            lambda data: data["requirements"][0].update(verdict="pass"),
            f"the certificate counts {TOTAL - 1} pass, but {TOTAL}",
        ),
        (lambda data: data["run"].update(exit_code=0), "the exit code"),
        (lambda data: data["requirements"][0].update(level="MAY"), "has other data about SDS-MSG-01"),
        (lambda data: data.update(untestable={}), "the list of untestable requirements"),
        (lambda data: data["causes"].clear(), "SDS-MSG-01 is not among the causes"),
        (lambda data: data["requirements"][0].update(id="SDS-MSG-99"), "has no SDS-MSG-99"),
        (lambda data: data["requirements"][0].update(shown=["none-such"]), "the scenario none-such does not exist"),
        (lambda data: data["requirements"][0].update(positions=["AMB-999"]), "the position AMB-999 does not exist"),
        (lambda data: data.update(revision="forum-2024"), "has no SDS-"),
        (lambda data: data.update(profile="core"), "is not judged in the profile core"),
        (lambda data: data["requirements"].pop(), "the run is called whole, but has no data about"),
        (lambda data: data["run"].update(narrowed=["scenarios"]), "the run is called whole although"),
        (lambda data: data["run"].update(interrupted=True), "both interrupted and complete"),
        (lambda data: data["run"].update(steps=0), "no run, scenario or step"),
        (lambda data: data["run"]["environments"].append("the-moon"), "the environment the-moon does not exist"),
        (lambda data: data["breakdowns"].update(sleep=1), "the kind of breakdown sleep does not exist"),
        (lambda data: data["vectors"].update(version="9.9"), "the version of the golden vectors"),
        (lambda data: data["level"]["parts"][0].update(judged=1), "the parts of the level do not follow"),
        (lambda data: data.update(date="yesterday"), "the date of the certificate is not a date"),
        (lambda data: data["causes"][0].update(under=[{"requirement": "X-1", "why": "so"}]), "X-1 is among the causes"),
    ],
)
def test_what_does_not_follow_gives_it_away(change: Callable[[dict[str, Any]], None], said: str) -> None:
    found = wrong(forged(certified({MUST: "fail"}), change))
    assert any(said in sentence for sentence in found), found


def test_what_another_version_judged_is_reported() -> None:
    assert not list(version_differences(certified().data))
    for change, said in (
        (lambda data: data["suite"].update(version="9.9"), "version 9.9 of the suite"),
        (lambda data: data.update(catalogue="0" * 64), "another catalogue"),
    ):
        (found,) = version_differences(forged(certified(), change).data)
        assert said in found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "was cut off"),
        (b'{"schema": "x/1"}', "this version reads"),
        (b"[" * 100_000, "nested too deep"),
        (b'{"schema": "\\ud800\\u001b[2J"}', "this version reads"),
    ],
)
def test_what_is_none_is_refused_with_the_reason(tmp_path: Path, text: bytes, said: str) -> None:
    file = tmp_path / "certificate.json"
    file.write_bytes(text)
    with pytest.raises(CertificateError, match=said) as refused:
        read_certificate(file)
    assert str(refused.value).isprintable()


def test_one_that_was_cut_off_or_is_no_file_is_refused(tmp_path: Path) -> None:
    made = certified()
    file = kept(made, tmp_path)
    file.write_bytes(made.raw.replace(b'"exit_code": 0', b'"exit_code": 0.0'))
    with pytest.raises(CertificateError, match=r"0\.0 is not allowed"):
        read_certificate(file)
    for what in ("revision", "profile"):
        file.write_bytes(made.raw.replace(f'"{what}": "{made.data[what]}"'.encode(), f'"{what}": "other"'.encode()))
        with pytest.raises(CertificateError, match=f"no {what} other"):
            read_certificate(file)
    file.write_bytes(made.raw[: len(made.raw) // 2])
    for place in (file, tmp_path, tmp_path / "not-there", Path("/dev/zero")):
        with pytest.raises(CertificateError):
            read_certificate(place)


# ---- The page ------------------------------------------------------------------------------------------------------

HOSTILE = "<script>alert(1)</script>\"'&\x1b[2J\u202e"


def poison(data: Any) -> Any:
    """Every text that is free, made hostile."""
    if isinstance(data, dict):
        fixed = ("schema", "revision", "profile", "verdict", "level", "name")
        return {key: value if key in fixed else poison(value) for key, value in data.items()}
    if isinstance(data, list):
        return [poison(value) for value in data]
    return HOSTILE if isinstance(data, str) else data


def test_what_stands_on_it_is_escaped() -> None:
    made = certified({MUST: "fail", SHOULD: "warn", OF_SDS_R: "skipped"})
    text = page(Certificate(poison(made.data), made.raw))
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert not {"\x1b", "\u202e"} & set(text)
    for loaded in ("src=", "href=", "http://", "url(", "@import"):
        assert loaded not in text
