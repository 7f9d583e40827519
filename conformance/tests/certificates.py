"""Reports and certificates for tests: of the reference model, as a whole run would leave them, without playing one."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from run_helpers import certify_reference, reference_command
from sds_conformance.judging.verdict import Verdict
from sds_conformance.presentation.invocation import Invocation
from sds_conformance.protocols.sds import rules
from sds_conformance.reports.certificate import Certificate, certificate
from sds_conformance.reports.certificate_validity import contradictory_claims, forgeries
from sds_conformance.reports.document import document
from sds_conformance.reports.report import Report
from sds_conformance.vectors.canonical import digest, format_document

SHOWING = "ties"
"""The scenario that shows what fails."""


@cache
def _played(revision: str, profile: str) -> dict[str, Any]:
    outcome = certify_reference(rules.start, scenarios=[SHOWING], revision=revision, profile=profile)
    return document(outcome, Invocation(tuple(reference_command())))


def whole_report(
    verdicts: Mapping[str, str] | None = None, revision: str = "", profile: str = "full", **changes: Any
) -> Report:
    """The report on a whole run in which all passed, but for these verdicts; ``changes`` are made at its top."""
    data = copy.deepcopy(_played(revision, profile))
    data["whole"], data["narrowed"], data["causes"], said = True, [], [], dict(verdicts or {})
    for row in data["requirements"]:
        row |= {"verdict": said.pop(row["id"], "pass"), "exercised": 1, "reason": "", "findings": [], "kinds": []}
        if row["verdict"] in ("fail", "warn"):
            _show(data, row)
        elif row["verdict"] != "pass":
            row |= {
                "exercised": 0,
                "reason": "not declared: observe" if row["verdict"] == "skipped" else "not exercised",
            }
    assert not said, f"not in the catalogue: {said}"
    counts = Counter(row["verdict"] for row in data["requirements"])
    bad = counts["fail"] or counts["error"]
    data["summary"] |= {verdict.value: counts[verdict.value] for verdict in Verdict}
    data["summary"] |= {"environments": list(rules.RULES.environments), "complete": True, "exit_code": 1 if bad else 0}
    data |= changes
    return Report(data)


def _show(data: dict[str, Any], row: dict[str, Any]) -> None:
    again = f"sds-conformance run --select {row['id']} --scenario {SHOWING}"
    finding = {"severity": row["verdict"], "code": f"{row['id']}/wrong", "scenario": SHOWING, "environment": "plain"}
    finding |= {"participant": "alice", "channel": "c1", "step": 1, "rule": row["statement"], "expected": "this"}
    row["findings"] = [finding | {"seen": "that", "position": "", "again": again}]
    cause = {"requirement": row["id"], "verdict": row["verdict"], "violations": 1, "scenarios": [SHOWING]}
    cause["severity"] = rules.RULES.catalogue.requirements[row["id"]].severity
    data["causes"].append(cause | {"under": [], "again": again})


def certified(verdicts: Mapping[str, str] | None = None, **more: Any) -> Certificate:
    """The certificate on such a report."""
    return certificate(whole_report(verdicts, **more))


def forged(made: Certificate, change: Callable[[dict[str, Any]], object]) -> Certificate:
    """A certificate that was changed, with a recomputed digest."""
    data = copy.deepcopy(made.data)
    change(data)
    data["digest"] = digest({key: value for key, value in data.items() if key != "digest"})
    return Certificate(data, format_document(data))


def kept(made: Certificate, folder: Path) -> Path:
    """The file of a certificate."""
    file = folder / "certificate.json"
    file.write_bytes(made.raw)
    return file


def left(made: Report, folder: Path) -> Path:
    """The folder that a run leaves with such a report."""
    folder.mkdir(exist_ok=True)
    (folder / "report.json").write_text(json.dumps(made.data), "utf-8")
    return folder / "report.json"


def wrong(made: Certificate) -> list[str]:
    """What gives a certificate away."""
    return [*forgeries(made.data), *contradictory_claims(made.data)]
