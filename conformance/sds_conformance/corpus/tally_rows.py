"""The results of tasks as rows, which Spark or this process adds up.

Spark adds up the rows with equal kind and subject. So the number of rows that the driver receives depends on the
catalogue, not on the number of schedules.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..exploration.campaign import CampaignTally
from ..judging.verdict import RANK, Finding, Verdict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS = "kind string, what string, schedules long, rank long, first long, details string"
"""The columns of a row, as a schema for Spark. ``what`` is the subject, such as a requirement."""


def row_of(kind: str, what: str, schedules: int, rank: int = 0, first: int = 0, details: str = "") -> dict[str, Any]:
    """Return a row with the columns of `ROWS`.

    ``what`` is the subject, such as a requirement. ``first`` is the index of the first schedule with the worst result,
    and ``rank`` the rank of this result.
    """
    return {"kind": kind, "what": what, "schedules": schedules, "rank": rank, "first": first, "details": details}


def rows_of(tally: CampaignTally) -> Iterator[dict[str, Any]]:
    for kind in ("schedules", "steps"):
        yield row_of(kind, "", getattr(tally, kind))
    for kind in ("exercised", "situations"):
        for what, count in getattr(tally, kind).items():
            yield row_of(kind, what, count)
    for what, finding in tally.found.items():
        details = json.dumps(asdict(finding) | {"severity": finding.severity.value})
        yield row_of("found", what, tally.found_in[what], RANK[finding.severity], tally.found_at[what], details)
    for what, error in tally.errors.items():
        yield row_of("error", what, 1, details=error)


Summed = tuple[str, str, int, int, str]
"""One sum over all tasks: kind, subject, number of schedules, first schedule with the worst result, and description of
this result."""


def sum_rows(rows: DataFrame) -> list[Summed]:
    """Add up rows with Spark, and return the sums."""
    from pyspark.sql import functions as f

    # Keep the worst result and its first schedule; of errors of the suite, keep the alphabetically first one.
    worst = f.min(f.struct(-f.col("rank"), f.col("first"), f.col("details"))).alias("worst")
    out = rows.groupBy("kind", "what").agg(f.sum("schedules").alias("schedules"), worst).collect()
    return [(row.kind, row.what, row.schedules, row.worst["first"], row.worst["details"]) for row in out]


def take(tally: CampaignTally, of: Iterable[Summed]) -> Iterator[tuple[str, str, int]]:
    """Add the sums to a tally. Yield the kind, subject and count of each sum that a tally has no attribute for."""
    for kind, what, schedules, first, details in of:
        match kind:
            case "schedules" | "steps":
                setattr(tally, kind, schedules)
            case "exercised" | "situations":
                getattr(tally, kind)[what] = schedules
            case "found":
                data = json.loads(details)
                tally.found[what] = Finding(**data | {"severity": Verdict(data["severity"])})
                tally.found_in[what], tally.found_at[what] = schedules, first
            case "error":
                tally.errors[what] = details
            case _:
                yield kind, what, schedules
