"""Findings of a report, as what the judging made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sds_harness.environment import PLAIN

from ..judging.registry import IN
from ..judging.verdict import Finding, Verdict


def run_of(row: Mapping[str, Any]) -> str:
    """The name of the run in which something was found."""
    plain = row["environment"] in ("", PLAIN.name)
    return str(row["scenario"]) if plain else f"{row['scenario']}{IN}{row['environment']}"


def finding_of(requirement: str, row: Mapping[str, Any]) -> Finding:
    """A finding, from its row in a report."""
    return Finding(
        requirement,
        row["code"].partition("/")[2],
        run_of(row),
        row["environment"],
        row["participant"],
        row["channel"],
        row["step"],
        row["expected"],
        row["seen"],
        row["position"],
        Verdict.PASS if row["severity"] == "note" else Verdict(row["severity"]),
        said=tuple(row.get("stderr", ())),
    )
