"""Reports that are made up, as short as the schema allows: for tests of what is made from reports."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from run_helpers import OF_SDS
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.protocols.sds.rules import RULES
from sds_conformance.reports.document import ROWS, SCHEMA_ID

SCENARIO = next(iter(OF_SDS))
"""The one in which everything is violated."""
REASON = "it was not exercised"


def made(
    name: str = "mine", version: str = "1", day: int = 1, codes: dict[str, str] | None = None, **verdicts: str
) -> dict[str, Any]:
    """A report of a day of January 2026. Requirements are named as in ``RECV_06="fail"``; ``codes`` says by which
    code something is violated, "wrong" unless it is named."""
    named = codes or {}
    rows = [_row(f"SDS-{i.replace('_', '-')}", v, named.get(i, "wrong")) for i, v in verdicts.items()]
    counted = Counter(row["verdict"] for row in rows)
    return {
        "schema": SCHEMA_ID,
        "suite": {"name": "sds-conformance", "version": "0.1.0"},
        "implementation": {
            "name": name,
            "version": version,
            "language": "Python",
            "homepage": "",
            "command": ["./mine"],
            "revisions": [CURRENT],
            "capabilities": [],
            "limits": {},
            "clock": "",
        },
        "started": f"2026-01-{day:02}T12:00:00+00:00",
        "revision": CURRENT,
        "profile": "full",
        "whole": True,
        "narrowed": [],
        "profiles": {"bloom": "", "hash": "", "id_order": "", "dialect": ""},
        "framing": "json",
        "options": [],
        "strict": False,
        "sections": {section.id: section.title for section in RULES.catalogue.sections},
        "doubts": [],
        "unplayed": [],
        "notes": [],
        "baseline": None,
        "summary": {
            **{verdict.value: counted[verdict.value] for verdict in Verdict},
            "scenarios": 1,
            "environments": ["plain"],
            "left_out": {},
            "runs": 1,
            "steps": 9,
            "interrupted": False,
            "complete": True,
            "exit_code": 1 if counted["fail"] else 0,
        },
        "causes": [],
        "requirements": rows,
        "breakdowns": [],
        "ways": [],
    }


def kept(folder: Path, data: dict[str, Any]) -> Path:
    """The report in a folder, as `run --report` leaves it, without traces."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [{"type": "header", **{key: data[key] for key in data if key not in (*ROWS, "summary")}}]
    lines += [{"type": kind, **row} for key, kind in ROWS.items() for row in data[key]]
    lines += [{"type": "footer", "summary": data["summary"], "seconds": 1.0}]
    (folder / "report.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return folder


def _row(id_: str, verdict: str, code: str) -> dict[str, Any]:
    requirement = RULES.catalogue.requirements[id_]
    violated, judged = verdict in ("fail", "warn"), verdict in ("pass", "fail", "warn")
    finding = {
        "severity": verdict,
        "code": f"{id_}/{code}",
        "scenario": SCENARIO,
        "environment": "plain",
        "participant": "alice",
        "channel": "c1",
        "step": 1,
        "rule": requirement.statement,
        "expected": "none",
        "seen": "a fault",
        "position": "",
        "again": "sds-conformance run",
    }
    kind = {"code": f"{id_}/{code}", "severity": verdict, "scenarios": {SCENARIO: 1}}
    return {
        "id": id_,
        "section": requirement.section,
        "level": requirement.level,
        "severity": requirement.severity,
        "anchor": requirement.anchor,
        "statement": requirement.statement,
        "verdict": verdict,
        "exercised": int(judged),
        "runs": [SCENARIO] if judged else [],
        "reason": "" if judged else REASON,
        "findings": [finding] if violated else [],
        "findings_not_shown": 0,
        "kinds": [kind] if violated else [],
    }
