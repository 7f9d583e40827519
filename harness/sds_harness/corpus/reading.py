"""Stored schedules, one after the other, each held to the digests that were made when it was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from ..schedules import Schedule
from .digests import exact_digest, plan_digest
from .manifest import STEPS, TWINS, Corpus
from .rebuilding import Rebuilt, Unsound, rebuild
from .recording import TWINS_OF_ONE
from .rows import digest_of
from .schema import SCHEDULES_PER_ROW_GROUP, Row
from .shards import DamagedFile, ShardFile, file_name, pair_of

TO_REBUILD = ("schedule", "position", "trace", "request", "reply")
"""Columns of the rows from which a performance can be made again."""


@dataclass(frozen=True)
class Stored:
    """What is stored of one schedule."""

    corpus: Corpus
    side: Row
    rows: list[Row]
    """In order of their position."""
    where: str
    """The file, for messages."""

    @property
    def schedule(self) -> int:
        return int(self.side["schedule"])

    def performance(self, plan: Schedule | None = None) -> Rebuilt:
        """What was played. Raises DamagedFile if what is stored does not fit together.

        ``plan`` is the schedule, where it is known: what a property makes of one need not be a schedule that a file
        may have.
        """
        self.hold_to_digests()
        kind = self.corpus.kind
        try:
            rebuilt = rebuild(kind, self.corpus.manifest.revision, self.side, self.rows, plan)
            # What is compared has to be what was said: else a diff would speak of other steps than the checks.
            if digest_of(kind, rebuilt.performance) != self.side["digest"]:
                raise Unsound("its normative columns are not what its requests and replies give")
        except Unsound as error:
            raise DamagedFile(
                f"{self.where} is damaged, or of another suite: schedule {self.schedule}: {error}."
            ) from None
        return rebuilt

    def hold_to_digests(self) -> None:
        """Raises DamagedFile if rows are missing, or not what was recorded."""
        side, rows = self.side, self.rows
        if [row["position"] for row in rows] != list(range(1, side["rows"] + 1)):
            wrong = f"has {len(rows)} rows, which are not 1 to {side['rows']}"
        elif exact_digest(message for row in rows for message in (row["request"], row["reply"])) != side["exact"]:
            wrong = "has requests and replies that are not those recorded"
        elif plan_digest(side["json"]) != side["plan"]:
            wrong = "is not the schedule that was recorded"
        else:
            return
        raise DamagedFile(f"{self.where} is damaged: schedule {self.schedule} {wrong}.")


def stored_in(
    corpus: Corpus,
    shard: int,
    schedules: Sequence[int] | None = None,
    columns: Sequence[str] | None = TO_REBUILD,
    *,
    twins: bool = False,
) -> Iterator[Stored]:
    """The schedules of a shard, or those ``schedules`` of it, in order, with ``columns`` of their rows, None for all;
    or what was played besides, to compare with them.

    A row group at a time is in memory. Raises DamagedFile.
    """
    place = corpus.place / TWINS if twins else corpus.place
    side_file, steps_file = pair_of(place, shard, corpus.kind.columns)
    where = (place / STEPS / file_name(shard)).shown
    with side_file, steps_file:
        known: list[Row] = side_file.read(None, schedules).to_pylist()
        for start in range(0, len(known), SCHEDULES_PER_ROW_GROUP):
            group = known[start : start + SCHEDULES_PER_ROW_GROUP]
            rows = rows_by_schedule(steps_file, [side["schedule"] for side in group], columns)
            for side in group:
                yield Stored(corpus, side, rows.get(side["schedule"], []), where)


def rows_by_schedule(
    steps: ShardFile, schedules: Sequence[int], columns: Sequence[str] | None = None
) -> dict[int, list[Row]]:
    """Rows of some schedules, as they stand."""
    return by_schedule(steps.read(columns, schedules))


def by_schedule(table: pa.Table) -> dict[int, list[Row]]:
    """The rows of a table, as they stand."""
    out: dict[int, list[Row]] = {}
    for row in table.to_pylist():
        out.setdefault(row["schedule"], []).append(row)
    return out


def hold_to_manifest(corpus: Corpus, shard: int, found: Sequence[int]) -> None:
    """Are these the schedules of that shard? Raises DamagedFile."""
    wanted = corpus.manifest.range_of(shard)
    if len(found) != len(wanted) or any(one != other for one, other in zip(found, wanted, strict=True)):
        raise DamagedFile(
            f"{corpus.place.shown}: {file_name(shard)} has {len(found)} schedules, which are not {wanted.start} to "
            f"{wanted.stop - 1}, one each."
        )


def twins_of(corpus: Corpus, shard: int, schedule: int) -> list[Stored]:
    """What was played to compare a schedule with, in that order. Raises DamagedFile."""
    first = schedule * TWINS_OF_ONE
    return list(stored_in(corpus, shard, range(first + 1, first + TWINS_OF_ONE), twins=True))
