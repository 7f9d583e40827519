"""Reads stored schedules one after the other and checks each against the digests made when it was recorded.

Judging reads some columns. Verifying reads all columns: it computes every row again and compares it with the
stored row, also for the twins (the schedules with which others are compared), and rejects files and rows that belong to
no schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ..schedules import GroupTrace, Schedule, dumps
from .digests import exact_digest, plan_digest
from .manifest import SIDE, STEPS, TWINS, Corpus
from .place import TEMPORARY
from .recorder import TWINS_OF_ONE, Count, Replay, raise_corpus_errors
from .rows import ContradictoryRowsError, Rebuilt, digest_of, rebuild, rows_of
from .schema import SCHEDULES_PER_ROW_GROUP, Row
from .shards import DamagedFileError, file_name, hold_to_count, pair_of

TO_REBUILD = ("schedule", "position", "trace", "request", "reply")
"""The columns from which a group trace can be rebuilt."""
Compare = Callable[[GroupTrace, Replay], None]
"""Replays every twin of a group trace. The twins are the group traces with which a recorded group trace was
compared.
"""


@dataclass(frozen=True)
class Stored:
    """The stored data of one schedule."""

    corpus: Corpus
    side: Row
    rows: list[Row]
    """Ordered by position."""
    where: str
    """The file name, for messages."""

    @property
    def schedule(self) -> int:
        return int(self.side["schedule"])

    def group_trace(self, plan: Schedule | None = None) -> Rebuilt:
        """Rebuild the group trace. Raises DamagedFileError if the stored data contradict each other.

        ``plan`` is the schedule; None to parse the stored one. A schedule that a property derives may have values that
        cannot be parsed from a file.
        """
        self.hold_to_digests()
        kind = self.corpus.kind
        try:
            rebuilt = rebuild(kind, self.corpus.manifest.revision, self.side, self.rows, plan)
            # The compared columns must match the requests and replies. Otherwise a diff and the checks would use
            # different steps.
            if digest_of(kind, rebuilt.group_trace) != self.side["digest"]:
                raise ContradictoryRowsError("the normative columns do not follow from the requests and replies")
            if len(rebuilt.compared) != self.side["steps"]:
                raise ContradictoryRowsError(
                    f"the rows have {len(rebuilt.compared)} compared steps, "
                    f"and the side table counts {self.side['steps']}"
                )
        except ContradictoryRowsError as error:
            raise DamagedFileError(
                f"{self.where} is damaged, or was recorded by another version of the suite: "
                f"schedule {self.schedule}: {error}."
            ) from None
        return rebuilt

    def hold_to_rows(self, rebuilt: Rebuilt) -> None:
        """Check that all stored columns equal the columns that a recording of this group trace would write.

        ``self.rows`` must have all columns. Raises DamagedFileError.
        """
        wanted = rows_of(self.corpus.kind, rebuilt.group_trace, self.schedule, rebuilt.judged)
        pairs = [("schedules/", wanted.side, self.side)]
        pairs += [("steps/", *rows) for rows in zip(wanted.steps, self.rows, strict=True)]
        for folder, mine, theirs in pairs:
            if wrong := [name for name in theirs if mine[name] != theirs[name]]:
                at = f", position {theirs['position']}" if "position" in theirs else ""
                raise DamagedFileError(
                    f"{self.where} is damaged, or was recorded by another version of the suite: "
                    f"schedule {self.schedule}{at}: {', '.join(sorted(wrong))} in {folder} "
                    "do not follow from its requests and replies."
                )

    def hold_to_digests(self) -> None:
        """Compare the rows with the recorded digests. Raises DamagedFileError if rows are missing or differ."""
        side, rows = self.side, self.rows
        if len(rows) != side["rows"] or any(row["position"] != place for place, row in enumerate(rows, 1)):
            wrong = f"has {len(rows)} rows, but not one row for each position from 1 to {side['rows']}"
        elif exact_digest(message for row in rows for message in (row["request"], row["reply"])) != side["exact"]:
            wrong = "has requests and replies that differ from the recorded ones"
        elif plan_digest(side["json"]) != side["plan"]:
            wrong = "is not the schedule that was recorded"
        else:
            return
        raise DamagedFileError(f"{self.where} is damaged: schedule {self.schedule} {wrong}.")


def stored_in(
    corpus: Corpus,
    shard: int,
    schedules: Sequence[int] | None = None,
    columns: Sequence[str] | None = TO_REBUILD,
    *,
    twins: bool = False,
) -> Iterator[Stored]:
    """The schedules of a shard, or some of them, in order.

    ``columns`` are the columns to read from their rows; None for all. With ``twins``, the schedules are twins, and
    ``schedules`` are indexes of twins.

    Memory holds one row group in Arrow's columns and the objects of one schedule at a time. Raises DamagedFileError.
    """
    place = corpus.place / TWINS if twins else corpus.place
    side_file, steps_file = pair_of(place, shard, corpus.kind.columns)
    where = (place / STEPS / file_name(shard)).label
    with side_file, steps_file:
        known = side_file.read(None, schedules)
        for start in range(0, known.num_rows, SCHEDULES_PER_ROW_GROUP):
            group = known.slice(start, SCHEDULES_PER_ROW_GROUP)
            numbers: list[Any] = group["schedule"].to_pylist()
            rows = RowsOf(steps_file.read(columns, numbers))
            for one in range(group.num_rows):
                side = group.slice(one, 1).to_pylist()[0]
                yield Stored(corpus, side, rows.rows_of(side["schedule"]), where)


class RowsOf:
    """The rows of a table by schedule, in stored order. They are converted to objects when requested."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        # Arrow's own conversion to NumPy imports pandas, which takes half a second per process.
        numbers = np.array(table["schedule"].to_pylist(), np.int64)
        # A new schedule begins where the number differs from that of the row before.
        starts = [0, *(np.flatnonzero(numbers[1:] != numbers[:-1]) + 1).tolist()] if len(numbers) else []
        self._parts: dict[int, list[tuple[int, int]]] = {}
        for start, end in zip(
            starts, [*starts[1:], len(numbers)][: len(starts)], strict=True
        ):  # Without rows, no schedule begins or ends.
            self._parts.setdefault(int(numbers[start]), []).append((start, end))

    def rows_of(self, schedule: int) -> list[Row]:
        """The rows of one schedule."""
        parts = self._parts.get(schedule, ())
        return [row for start, end in parts for row in self._table.slice(start, end - start).to_pylist()]


def hold_to_manifest(corpus: Corpus, shard: int, found: Sequence[int]) -> None:
    """Check that ``found`` are the indexes that the manifest assigns to the shard. Raises DamagedFileError."""
    wanted = corpus.manifest.range_of(shard)
    if len(found) != len(wanted) or any(one != other for one, other in zip(found, wanted, strict=True)):
        raise DamagedFileError(
            f"{corpus.place.label}: {file_name(shard)} has {len(found)} schedules. It must have each of the schedules "
            f"{wanted.start} to {wanted.stop - 1} once."
        )


def stored_twins(
    of: Stored,
    shard: int,
    group_trace_of: Callable[[Stored, Schedule], GroupTrace],
    columns: Sequence[str] | None = TO_REBUILD,
) -> Replay:
    """A replay that returns the stored twins of a schedule instead of playing on an implementation.

    ``group_trace_of`` rebuilds the group trace of a stored twin. The twins are read at the first call. Raises
    DamagedFileError if the schedule to replay is not that of the next twin.
    """
    first = of.schedule * TWINS_OF_ONE
    stored = stored_in(of.corpus, shard, range(first + 1, first + TWINS_OF_ONE), columns, twins=True)

    def play(schedule: Schedule) -> GroupTrace:
        twin = next(stored, None)
        if twin is None or twin.side["json"] != dumps(schedule):
            raise DamagedFileError(
                f"{of.where}: the corpus lacks the schedule that schedule {of.schedule} is compared with."
            )
        return group_trace_of(twin, schedule)

    return play


Hold = Callable[[Stored, Rebuilt], None]
"""Checks a rebuilt group trace against the manifest. Raises DamagedFileError."""


def verify_folders(corpus: Corpus) -> None:
    """Check that all shards are there, with twins if the manifest says so, and no other files. Raises CorpusError."""
    hold_to_count(corpus)
    all_of_them = {file_name(shard) for shard in range(corpus.manifest.shards)}
    for place, wanted in (
        (corpus.place, all_of_them),
        (corpus.place / TWINS, all_of_them if corpus.manifest.twins_every else set[str]()),
    ):
        for folder in (place / STEPS, place / SIDE):
            present = {name for name in folder.names() if not name.startswith(TEMPORARY)}
            for name in sorted(present ^ wanted):
                what = "is missing" if name in wanted else "does not belong there"
                raise DamagedFileError(f"{folder.label}/{name} {what}.")


def verify_shard(corpus: Corpus, shard: int, hold: Hold, compare: Compare) -> Count:
    """Read and verify a whole shard, and count its content. Raises DamagedFileError."""
    count, twins, found = Count(), Count(), []
    for stored in stored_in(corpus, shard, None, None):
        found.append(stored.schedule)
        group_trace = _rebuild_and_verify(stored, hold, None, count)
        if corpus.manifest.has_twins(stored.schedule):
            play = stored_twins(
                stored, shard, lambda twin, schedule: _rebuild_and_verify(twin, hold, schedule, twins), None
            )
            with raise_corpus_errors(play) as replay:
                compare(group_trace, replay)
    hold_to_manifest(corpus, shard, found)
    for place, seen in ((corpus.place, count), (corpus.place / TWINS, twins))[: 1 + bool(corpus.manifest.twins_every)]:
        side, steps = pair_of(place, shard, corpus.kind.columns)
        with side, steps:
            if (side.num_rows, steps.num_rows) != (seen.schedules, seen.rows):
                raise DamagedFileError(
                    f"{place.label} is damaged: {file_name(shard)} has {side.num_rows} schedules and {steps.num_rows} "
                    f"rows, of which {seen.schedules} and {seen.rows} are accounted for."
                )
    return count


def _rebuild_and_verify(stored: Stored, hold: Hold, plan: Schedule | None, count: Count) -> GroupTrace:
    rebuilt = stored.group_trace(plan)
    stored.hold_to_rows(rebuilt)
    hold(stored, rebuilt)
    count.schedules += 1
    count.steps += stored.side["steps"]
    count.rows += stored.side["rows"]
    return rebuilt.group_trace
