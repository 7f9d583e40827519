"""Further results on a certificate: vectors, generated schedules, every schedule of a small world."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from certificates import certified, whole_report, wrong
from sds_conformance.exploration.exhaustion import SCHEMA_ID as EXHAUST
from sds_conformance.exploration.exhaustion import Exhaustion
from sds_conformance.reports.certificate import (
    CertificateError,
    certificate,
)
from sds_conformance.reports.certificate_page import page
from sds_conformance.reports.certificate_validity import contradictory_claims
from sds_harness.schedules.worlds import AlphabetPart

MUST, SHOULD, OF_SDS_R = "SDS-MSG-01", "SDS-STATE-06", "SDS-R-STATE-01"


@cache
def vector_set() -> dict[str, Any]:
    return {key: certified().data["vectors"][key] for key in ("version", "manifest")}


def asked(**changes: Any) -> dict[str, Any]:
    """What `vectors run --json` prints."""
    about = whole_report().data["implementation"]
    statuses = ("pass", "acceptable", "warn", "fail", "skipped", "broken", "error")
    return {
        "schema": "sds-conformance/vectors-run/1",
        "implementation": {"name": about["name"], "version": about["version"]},
        "revision": "sds-2026-01",
        "set": vector_set(),
        "interrupted": False,
        "counts": {**dict.fromkeys(statuses, 0), "pass": 1},
        "unasked": 0,
        "vectors": [{"id": "wire/a", "status": "pass"}],
    } | changes


def played(**changes: Any) -> dict[str, Any]:
    """What `fuzz --json` prints."""
    vectors = asked()
    printed = {key: vectors[key] for key in ("implementation", "revision")}
    printed |= {
        "schema": "sds-conformance/fuzz/2",
        "profile": "full",
        "cast": "together",
        "seed": 7,
        "schedules": 50,
        "steps": 900,
        "interrupted": False,
    }
    return printed | {"gave_up": "", "errors": {}, "findings": []} | changes


@pytest.mark.parametrize(
    ("vectors", "fuzz", "held"),
    [
        ({}, {}, "Core + SDS-R, strict"),
        ({"vectors": [{"id": "wire/a", "status": "fail"}]}, {}, "none"),
        ({}, {"findings": [{"id": "G-04", "severity": "fail"}]}, "none"),
    ],
)
def test_vectors_and_schedules_count(tmp_path: Path, vectors: dict[str, Any], fuzz: dict[str, Any], held: str) -> None:
    files = tmp_path / "vectors.json", tmp_path / "fuzz.json"
    for file, data in zip(files, (asked(**vectors), played(**fuzz)), strict=True):
        file.write_text(json.dumps(data), "utf-8")
    made = certificate(whole_report(), *files)
    assert made.level == held
    assert made.data["fuzz"]["seed"] == 7
    assert "50 of seed 7" in page(made)
    assert not wrong(made)


def exhausted(**changes: Any) -> dict[str, Any]:
    """What `exhaust --json` prints."""
    order = Exhaustion(Mock(), participants=3, alphabet=(AlphabetPart(("send", "arrive"), 9),))
    fuzz = played()
    printed = {key: fuzz[key] for key in ("implementation", "revision", "profile", "cast", "gave_up", "errors")}
    printed |= {"schema": EXHAUST, "participants": 3, "alphabet": ["send,arrive:9"], "digest": order.digest}
    return printed | {"finished": 6, "proved_schedules": 3751, "findings": []} | changes


@pytest.mark.parametrize(
    ("changes", "held", "said"),
    [
        ({}, "Core + SDS-R, strict", "nothing was found"),
        ({"findings": [{"id": "G-04", "severity": "fail"}]}, "none", "fail: G-04"),
    ],
)
def test_all_schedules_of_a_small_world_count(tmp_path: Path, changes: dict[str, Any], held: str, said: str) -> None:
    file = tmp_path / "exhaust.json"
    file.write_text(json.dumps(exhausted(**changes)), "utf-8")
    made = certificate(whole_report(), exhaust=file)
    assert made.level == held
    assert made.data["exhaust"]["events"] == 6
    assert "all 3,751 schedules of up to 6 events of 3 participants (send,arrive:9)" in page(made)
    assert said in page(made)
    assert not wrong(made)
    forged = {**made.data, "exhaust": {**made.data["exhaust"], "alphabet": ["send,sync,arrive"]}}
    assert "the digest of the exhausted schedules does not match their alphabet" in [*contradictory_claims(forged)]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"finished": 0}, "no bound was completed"),
        ({"alphabet": ["shout"]}, "other schedules than this version generates"),
        ({"alphabet": []}, "is not the output of `sds-conformance exhaust --json`"),
    ],
)
def test_what_proves_nothing_is_not_put_on_it(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    file = tmp_path / "exhaust.json"
    file.write_text(json.dumps(exhausted(**changes)), "utf-8")
    with pytest.raises(CertificateError, match=said):
        certificate(whole_report(), exhaust=file)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            asked(implementation={"name": "other", "version": "2"}),
            "about other 2, but the report is about sds_reference",
        ),
        (asked(revision="forum-2024"), "add --revision sds-2026-01"),
        (asked(set={"version": "0.1", "manifest": "0" * 64}), "other vectors, version 0.1"),
        (asked(counts={}), "is not the output of `sds-conformance vectors run --json`"),
    ],
)
def test_what_is_about_something_else_is_not_put_on_it(tmp_path: Path, data: Any, said: str) -> None:
    (tmp_path / "vectors.json").write_text(json.dumps(data), "utf-8")
    with pytest.raises(CertificateError, match=said) as refused:
        certificate(whole_report(), tmp_path / "vectors.json")
    assert str(refused.value).isprintable()
