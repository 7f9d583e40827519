"""Records a corpus: a Spark job in which each task plays the schedules of one shard on its own implementation.

The manifest alone determines the schedules of a shard; seed and index determine each schedule. So a second run records
only what is missing, and a retried task writes what the first try would have written.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from ..declaration import Declaration, printable
from ..faults import TesteeError
from ..schedules import GroupTrace, Schedule
from .errors import CorpusError, NotDrivenError
from .jobs import Progress, convert_job_failures, in_schedules, run_tasks, watch_progress
from .kind import CorpusKind
from .manifest import MANIFEST, SIDE, STEPS, SUCCESS, TWINS, Corpus, Manifest, is_of_corpus, read_corpus
from .place import Place, remove_halves
from .rows import rows_of
from .shards import AlreadyCommittedError, ShardWriter, committed_shards, file_name, hold_to_count, side_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATIENCE = 64
"""The recording ends if the implementation breaks in this many schedules in a row."""
TWINS_OF_ONE = 64
"""A twin is a schedule with which another one is compared. The index of a twin is the index of that other schedule
times this number, plus the number of the twin, from 1."""

Replay = Callable[[Schedule], GroupTrace]


@contextlib.contextmanager
def raise_corpus_errors(replay: Replay) -> Iterator[Replay]:
    """Wraps a replay so that its CorpusError is raised again at the end of the block.

    The code in the block may catch it like any other failure.
    """
    troubles: list[CorpusError] = []

    def play(schedule: Schedule) -> GroupTrace:
        try:
            return replay(schedule)
        except CorpusError as error:
            troubles.append(error)
            raise

    yield play
    if troubles:
        raise troubles[0]


class RecordingCast(Protocol):
    """The players of a schedule: the implementation under test and the others in the cast."""

    def start(self) -> Declaration:
        """Do the handshake. Raises TesteeError."""
        ...

    def schedule(self, index: int) -> Schedule:
        """The schedule with this index."""
        ...

    def play(self, schedule: Schedule) -> GroupTrace:
        """Play the schedule. Raises NotDrivenError if the implementation can no longer be started."""
        ...

    def participants_under_test(self, schedule: Schedule) -> tuple[str, ...]:
        """The members that are under test."""
        ...

    def compare(self, group_trace: GroupTrace, replay: Replay) -> None:
        """Play the twins with which the group trace must be compared."""
        ...

    def kill(self) -> None:
        """Kill the processes of all players."""
        ...


@dataclass(frozen=True)
class Recording(Corpus):
    """The data that the tasks of a recording share. It must be picklable, because workers receive it."""

    cast_under_test: Callable[[], RecordingCast]


@dataclass(frozen=True)
class Recorder:
    """The task: records one shard and reports the result."""

    recording: Recording

    def __call__(self, shard: int) -> Iterator[pa.RecordBatch]:
        began, count, kept, trouble = time.monotonic(), Count(), Count(), ""
        try:
            # Do not record a shard that a retried task or another command has already recorded.
            if not (self.recording.place / SIDE / file_name(shard)).exists():
                count = record_shard(self.recording, shard)
        except AlreadyCommittedError:
            pass
        except NotDrivenError as error:
            trouble = str(error)
        if not trouble:
            kept = _count_of(self.recording, shard)
        seconds = time.monotonic() - began
        report = {"kept_steps": kept.steps, "kept_rows": kept.rows, "seconds": seconds, "trouble": trouble}
        yield pa.RecordBatch.from_pylist([asdict(count) | report])


_SUMS = ("schedules", "steps", "rows", "kept_steps", "kept_rows", "seconds")
_SCHEMA = ", ".join(f"{name} {'double' if name == 'seconds' else 'long'}" for name in _SUMS) + ", trouble string"
_TROUBLES = 8
"""Maximum number of reasons for missing shards that are reported."""


@dataclass
class Count:
    """The number of schedules, of their compared steps, and of all their rows."""

    schedules: int = 0
    steps: int = 0
    rows: int = 0


@dataclass(frozen=True)
class RecordingOutcome:
    """The result of a recording."""

    known: int
    """Number of schedules that an earlier recording into the same folder had finished."""
    recorded: int = 0
    """Number of schedules that this recording added."""
    steps: int = 0
    """Number of compared steps in the schedules that this recording added."""
    rows: int = 0
    seconds: float = 0.0
    """Seconds that all tasks together spent on these schedules."""
    troubles: tuple[str, ...] = ()
    """Why shards are missing; empty if none are."""


def prepare(corpus: Corpus, *, overwrite: bool) -> set[int]:
    """Create the folder, or check that its content belongs to this recording.

    Returns the shards that exist. Raises CorpusError if the content differs from what this recording would write.
    """
    place, manifest = corpus.place, corpus.manifest
    if overwrite and (place / MANIFEST).exists():
        # Check this before removing anything: other projects have a manifest.json as well.
        if not is_of_corpus(place / MANIFEST):
            raise CorpusError(f"{place.label} has a {MANIFEST} that does not belong to a corpus: name another folder.")
        if strange := set(place.names()) - set(_PARTS):
            raise CorpusError(f"{place.label} has other files in it ({printable(min(strange))}): name another folder.")
        for name in _PARTS:
            (place / name).remove()
    for name in (TWINS, *(f"{folder}{part}" for folder in ("", f"{TWINS}/") for part in (STEPS, SIDE))):
        if (place / name).is_link():
            raise CorpusError(f"{place.label} has a symbolic link in it, {name}: name another folder.")
    if (place / MANIFEST).exists():
        _hold_to(place, read_corpus(place, lambda revision: corpus.kind).manifest, manifest)
    elif place.names():
        raise CorpusError(f"{place.label} has other files in it: name an empty folder, or a new one.")
    else:
        for folder in (place, place / TWINS) if manifest.twins_every else (place,):
            for name in (STEPS, SIDE):
                (folder / name).make()
        (place / MANIFEST).write_text(manifest.to_json())
    for folder in (place, place / TWINS):
        for name in (STEPS, SIDE):
            remove_halves(folder / name)
    return committed_shards(place)


_PARTS = (SUCCESS, MANIFEST, SIDE, STEPS, TWINS)
"""Everything in the folder of a corpus. The mark of completeness is removed first, so that a half-removed corpus does
not pass for a complete one."""
_SAME = [f.name for f in fields(Manifest) if f.name not in ("command", "steps", "rows", "complete")]


def _hold_to(place: Place, found: Manifest, wanted: Manifest) -> None:
    for name in _SAME:
        if getattr(found, name) != getattr(wanted, name):
            raise CorpusError(
                f"{place.label} has a corpus whose {name.replace('_', ' ')} is {getattr(found, name)!r}, not "
                f"{getattr(wanted, name)!r}: name another folder, or replace it with --overwrite."
            )


def record(spark: SparkSession, recording: Recording, progress: Progress = lambda done, of: None) -> RecordingOutcome:
    """Record the missing shards. Raises CorpusError.

    After an interrupt, the committed shards remain. When no shard is missing, the manifest is completed and
    ``_SUCCESS`` is written.
    """
    from pyspark.sql import functions as f

    place, manifest = recording.place, recording.manifest
    known = sum(len(manifest.range_of(shard)) for shard in committed_shards(place) if shard < manifest.shards)
    progress(known, manifest.schedules)
    trouble = f.collect_set(f.when(f.col("trouble") != "", f.col("trouble")))
    troubles = f.slice(f.sort_array(trouble), 1, _TROUBLES).alias("troubles")
    report = in_schedules(progress, manifest.shards, manifest.schedules, known)
    with watch_progress(spark, report), convert_job_failures():
        # Let Spark sum the rows up: there is one row per shard, and there may be many shards.
        rows = run_tasks(spark, range(manifest.shards), Recorder(recording), _SCHEMA)
        (total,) = rows.groupBy().agg(*(f.sum(name).alias(name) for name in _SUMS), troubles).collect()
    if not total.troubles:
        hold_to_count(recording)
        (place / MANIFEST).write_text(manifest.completed(total.kept_steps, total.kept_rows).to_json())
        (place / SUCCESS).write_text("")
    return RecordingOutcome(known, total.schedules, total.steps, total.rows, total.seconds, tuple(total.troubles))


def _count_of(corpus: Corpus, shard: int) -> Count:
    """Count the schedules, steps and rows of a complete shard. Raises CorpusError if it does not have exactly its
    schedules.
    """
    with side_of(corpus.place, shard) as side:
        table = side.read(["schedule", "steps", "rows"])
    if table["schedule"].to_pylist() != list(corpus.manifest.range_of(shard)):
        wanted = corpus.manifest.range_of(shard)
        raise CorpusError(
            f"{corpus.place.label}: {SIDE}/{file_name(shard)} does not have the schedules {wanted.start} to "
            f"{wanted.stop - 1}: remove it, and record it again."
        )
    return Count(table.num_rows, *(int(table[name].to_numpy().sum()) for name in ("steps", "rows")))


def record_shard(recording: Recording, shard: int) -> Count:
    """Play the schedules of a shard and commit it.

    Raises NotDrivenError; raises AlreadyCommittedError, and records nothing, if another task was faster.
    """
    count = Count()
    place, manifest = recording.place, recording.manifest
    cast_under_test = recording.cast_under_test()
    try:
        try:
            cast_under_test.start()
        except TesteeError as fault:
            raise NotDrivenError(f"The implementation could not be tested: {fault.breakdown.detail}.") from None
        with contextlib.ExitStack() as stack:
            rows = stack.enter_context(ShardWriter(place, shard, recording.kind.columns))
            twins = None
            if manifest.twins_every:
                # The twins are committed first, because contexts exit in reverse order: a committed shard always has
                # its twins.
                twins = stack.enter_context(ShardWriter(place / TWINS, shard, recording.kind.columns, replace=True))
            broken = 0
            for index in manifest.range_of(shard):
                played = _play_one(recording, index, cast_under_test, count, rows, twins)
                broken = 0 if played else broken + 1
                if broken >= PATIENCE:
                    last = cast_under_test.schedule(index).name
                    raise NotDrivenError(
                        f"The implementation broke in {PATIENCE} schedules in a row; the last one is {last}."
                    )
    finally:
        cast_under_test.kill()
    return count


def _play_one(
    recording: Recording,
    index: int,
    cast_under_test: RecordingCast,
    count: Count,
    rows: ShardWriter,
    twins: ShardWriter | None,
) -> bool:
    """Play a schedule and store its rows. Returns whether it ran to its end. The group trace is not kept in memory."""
    manifest = recording.manifest
    schedule = cast_under_test.schedule(index)
    group_trace = cast_under_test.play(schedule)
    judged = cast_under_test.participants_under_test(schedule)
    if stranger := manifest.find_other_implementation(group_trace, judged):
        # With rows of two implementations or releases, a finding could not be attributed to one of them.
        raise NotDrivenError(
            f"This recording is of {manifest.name}, but the process for {schedule.name} has the name {stranger}, or "
            "declares other capabilities: the command must start the same implementation every "
            "time, on every machine."
        )
    recorded = rows_of(recording.kind, group_trace, index, judged)
    rows.add(recorded)
    count.schedules += 1
    count.steps += recorded.side["steps"]
    count.rows += recorded.side["rows"]
    if twins is not None and manifest.has_twins(index):
        cast_under_test.compare(group_trace, _store_twins(recording.kind, cast_under_test, index, twins))
    return group_trace.breakdown is None


def _store_twins(kind: CorpusKind, cast_under_test: RecordingCast, index: int, twins: ShardWriter) -> Replay:
    """Plays the twins of one schedule and stores them."""
    keys = itertools.count(index * TWINS_OF_ONE + 1)

    def play(schedule: Schedule) -> GroupTrace:
        group_trace = cast_under_test.play(schedule)
        twins.add(rows_of(kind, group_trace, next(keys), cast_under_test.participants_under_test(schedule)))
        return group_trace

    return play
