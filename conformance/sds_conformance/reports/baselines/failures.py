"""What failed, in any of the three ways in which the suite judges: the JSON of `run`, `fuzz` and `vectors run`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...exploration.telling import SCHEMA_ID as FUZZ
from ...judging.registry import scenario_of
from ...judging.runner import tolerated
from ...judging.verdict import Verdict, full_code
from ...vectors.running.asking import SCHEMA_ID as VECTORS
from ..document import SCHEMA_ID as RUN

BY = {RUN: "run", FUZZ: "fuzz", VECTORS: "vectors"}
"""By the schema of their JSON: what the commands are called in a baseline."""
VECTOR_CODES = ("fail", "broken")
"""The statuses of a golden vector that fails, which are its codes."""
BREAKDOWN = "breakdown"
"""Stands for a requirement where an implementation hung, crashed or answered nonsense."""


@dataclass(frozen=True)
class Failure:
    """One way in which one thing fails."""

    what: str
    """The requirement, property of the group, or golden vector."""
    code: str
    """Its code: of a requirement one of the catalogue, of a breakdown its kind, of a vector its status; "" for none."""
    scenarios: tuple[str, ...] = ()
    """That show it, for `run`."""

    @property
    def full_code(self) -> str:
        return full_code(self.what, self.code)


@dataclass(frozen=True)
class Judged:
    """What a command judged, and what failed."""

    by: str
    implementation: str
    revision: str
    failures: Sequence[Failure]
    verdicts: Mapping[str, str]
    """By requirement, property or vector: what became of it, in words."""
    whole: bool
    """It ended in order, and no scenario was left out."""
    environments: frozenset[str] = frozenset()
    """Those that were played in, for `run`."""
    scenarios: frozenset[str] = frozenset()
    """Those that were played, for `run`."""
    seed: int = 0
    """The seed and the number of schedules, for `fuzz`."""
    examples: int = 0
    errors: int = field(default=0)
    """Faults of ours, which nothing excuses."""
    under: Mapping[str, str] = field(default_factory=dict)
    """By requirement that a root cause explains: the requirement of that root cause; for `run`."""


def judged(data: Mapping[str, Any]) -> Judged:
    """What the JSON of a command says. Raises KeyError, TypeError or ValueError for what is none."""
    return _READERS[BY[data["schema"]]](data)


def _of_run(data: Mapping[str, Any]) -> Judged:
    rows, summary = data["requirements"], data["summary"]
    failures = [
        Failure(row["id"], _code(kind), tuple(kind["scenarios"]))
        for row in rows
        if row["verdict"] == Verdict.FAIL.value
        for kind in row["kinds"]
        if kind["severity"] == Verdict.FAIL.value
    ]
    soft = tolerated(strict=data["strict"], narrowed=data["narrowed"])
    failures += [
        Failure(BREAKDOWN, kind, tuple(dict.fromkeys(scenario_of(row["where"]) for row in rows_of_kind)))
        for kind, rows_of_kind in _by_kind(data["breakdowns"]).items()
        if kind not in soft
    ]
    return Judged(
        "run",
        _name(data),
        data["revision"],
        failures,
        {row["id"]: f"{row['verdict']}: {row['reason']}".rstrip(": ") for row in rows},
        summary["complete"] and "scenarios" not in data["narrowed"],
        frozenset(summary["environments"]),
        frozenset(scenario_of(run) for row in rows for run in row["runs"]),
        errors=summary["error"],
        under={under["requirement"]: cause["requirement"] for cause in data["causes"] for under in cause["under"]},
    )


def _of_fuzz(data: Mapping[str, Any]) -> Judged:
    return Judged(
        "fuzz",
        _name(data),
        data["revision"],
        [Failure(row["id"], _code(row)) for row in data["findings"] if row["severity"] == Verdict.FAIL.value],
        dict.fromkeys(data["exercised"], "pass") | {row["id"]: row["severity"] for row in data["findings"]},
        not (data["interrupted"] or data["out_of_time"] or data["gave_up"]),
        seed=data["seed"],
        examples=data["schedules"],
        errors=len(data["errors"]),
    )


def _of_vectors(data: Mapping[str, Any]) -> Judged:
    rows = data["vectors"]
    return Judged(
        "vectors",
        _name(data),
        data["revision"],
        [Failure(row["id"], row["status"]) for row in rows if row["status"] in VECTOR_CODES],
        {row["id"]: row["status"] for row in rows},
        not data["interrupted"] and not data["unasked"],
        errors=data["counts"]["error"],
    )


def _code(row: Mapping[str, Any]) -> str:
    """The code in a row that has it in full."""
    return str(row["code"]).partition("/")[2]


def _by_kind(breakdowns: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for row in breakdowns:
        kinds.setdefault(row["kind"], []).append(row)
    return kinds


_READERS = {"run": _of_run, "fuzz": _of_fuzz, "vectors": _of_vectors}


def _name(data: Mapping[str, Any]) -> str:
    about = data["implementation"]
    return f"{about['name']} {about['version']}".strip()
