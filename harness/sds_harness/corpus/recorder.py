"""Recording: a Spark job in which each task plays the schedules of one shard on an implementation of its own.

Which schedules a shard has follows from the manifest alone, and what a schedule is from seed and index. So a second run
records what is missing and nothing else, and a task that is tried again writes what the first try would have written.
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
from ..faults import TesteeFault
from ..schedules import Performance, Schedule
from .errors import CorpusError, NotDriven
from .jobs import Progress, failures_told, in_schedules, over, watched
from .kind import Kind
from .manifest import MANIFEST, SIDE, STEPS, SUCCESS, TWINS, Corpus, Manifest, is_of_corpus, read_corpus
from .place import Place, remove_halves
from .rows import rows_of
from .shards import Committed, ShardWriter, committed, file_name, hold_to_count, side_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATIENCE = 64
"""So many schedules in a row that the implementation breaks in end the recording."""
TWINS_OF_ONE = 64
"""A twin is found under the index of its schedule, times that, and its own number, from 1."""

Replay = Callable[[Schedule], Performance]


@contextlib.contextmanager
def insisting(replay: Replay) -> Iterator[Replay]:
    """A replay whose CorpusError is raised when the block ends: to whoever asks for twins in it, it is one more thing
    that goes wrong."""
    troubles: list[CorpusError] = []

    def play(schedule: Schedule) -> Performance:
        try:
            return replay(schedule)
        except CorpusError as error:
            troubles.append(error)
            raise

    yield play
    if troubles:
        raise troubles[0]


class Company(Protocol):
    """Whoever plays: the implementation under test and those it plays with."""

    def start(self) -> Declaration:
        """Shake hands. Raises TesteeFault."""
        ...

    def schedule(self, index: int) -> Schedule:
        """The schedule of that index."""
        ...

    def play(self, schedule: Schedule) -> Performance:
        """Raises NotDriven when the implementation cannot be started any more."""
        ...

    def judged(self, schedule: Schedule) -> tuple[str, ...]:
        """The members that are under test."""
        ...

    def compare(self, performance: Performance, replay: Replay) -> None:
        """Play whatever a performance is to be compared with."""
        ...

    def kill(self) -> None:
        """End all processes."""
        ...


@dataclass(frozen=True)
class Recording(Corpus):
    """What the tasks of a recording share. Plain data and functions by their names, for workers to be given it."""

    company: Callable[[], Company]


@dataclass(frozen=True)
class Recorder:
    """The task: records one shard, and says how it went."""

    recording: Recording

    def __call__(self, shard: int) -> Iterator[pa.RecordBatch]:
        began, count, kept, trouble = time.monotonic(), Count(), Count(), ""
        try:
            # Nothing is recorded twice, by a task that is tried again or by another command.
            if not (self.recording.place / SIDE / file_name(shard)).exists():
                count = record_shard(self.recording, shard)
        except Committed:
            pass
        except NotDriven as error:
            trouble = str(error)
        if not trouble:
            kept = _count_of(self.recording, shard)
        seconds = time.monotonic() - began
        told = {"kept_steps": kept.steps, "kept_rows": kept.rows, "seconds": seconds, "trouble": trouble}
        yield pa.RecordBatch.from_pylist([asdict(count) | told])


_SUMS = ("schedules", "steps", "rows", "kept_steps", "kept_rows", "seconds")
_SCHEMA = ", ".join(f"{name} {'double' if name == 'seconds' else 'long'}" for name in _SUMS) + ", trouble string"
_TROUBLES = 8
"""That are told."""


@dataclass
class Count:
    """What was recorded."""

    schedules: int = 0
    steps: int = 0
    rows: int = 0


@dataclass(frozen=True)
class Outcome:
    """What came of a recording."""

    known: int
    """Schedules that were there before."""
    recorded: int = 0
    """Schedules that were recorded now."""
    steps: int = 0
    """Of those that were recorded now."""
    rows: int = 0
    seconds: float = 0.0
    """That tasks spent on them, all together."""
    troubles: tuple[str, ...] = ()
    """Why shards are missing, if any are."""


def prepare(corpus: Corpus, *, overwrite: bool) -> set[int]:
    """Make the folder, or see what is in it already: the shards that are there. Raises CorpusError where it is not what
    this recording would make."""
    place, manifest = corpus.place, corpus.manifest
    if overwrite and (place / MANIFEST).exists():
        # Looked at before anything is removed: other projects have a manifest.json, too.
        if not is_of_corpus(place / MANIFEST):
            raise CorpusError(f"{place.shown} has a {MANIFEST} that is of no corpus: name another folder.")
        if strange := set(place.names()) - set(_PARTS):
            raise CorpusError(f"{place.shown} has other files in it ({printable(min(strange))}): name another folder.")
        for name in _PARTS:
            (place / name).remove()
    for name in (TWINS, *(f"{folder}{part}" for folder in ("", f"{TWINS}/") for part in (STEPS, SIDE))):
        if (place / name).is_link():
            raise CorpusError(f"{place.shown} has a symbolic link in it, {name}: name another folder.")
    if (place / MANIFEST).exists():
        _hold_to(place, read_corpus(place, lambda revision: corpus.kind).manifest, manifest)
    elif place.names():
        raise CorpusError(f"{place.shown} has other files in it: name an empty folder, or a new one.")
    else:
        for folder in (place, place / TWINS) if manifest.twins_every else (place,):
            for name in (STEPS, SIDE):
                (folder / name).make()
        (place / MANIFEST).write_text(manifest.to_json())
    for folder in (place, place / TWINS):
        for name in (STEPS, SIDE):
            remove_halves(folder / name)
    return committed(place)


_PARTS = (SUCCESS, MANIFEST, SIDE, STEPS, TWINS)
"""All that is in the folder of a corpus. First what says that it is complete, so that nothing half removed passes for a
corpus."""
_SAME = [f.name for f in fields(Manifest) if f.name not in ("command", "steps", "rows", "complete")]


def _hold_to(place: Place, found: Manifest, wanted: Manifest) -> None:
    for name in _SAME:
        if getattr(found, name) != getattr(wanted, name):
            raise CorpusError(
                f"{place.shown} has a corpus whose {name.replace('_', ' ')} is {getattr(found, name)!r}, not "
                f"{getattr(wanted, name)!r}: name another folder, or replace it with --overwrite."
            )


def record(spark: SparkSession, recording: Recording, progress: Progress = lambda done, of: None) -> Outcome:
    """Record what is missing. Raises CorpusError.

    An interrupt leaves what is committed. The manifest and ``_SUCCESS`` close the corpus when nothing is missing.
    """
    from pyspark.sql import functions as f

    place, manifest = recording.place, recording.manifest
    known = sum(len(manifest.range_of(shard)) for shard in committed(place) if shard < manifest.shards)
    progress(known, manifest.schedules)
    trouble = f.collect_set(f.when(f.col("trouble") != "", f.col("trouble")))
    troubles = f.slice(f.sort_array(trouble), 1, _TROUBLES).alias("troubles")
    told = in_schedules(progress, manifest.shards, manifest.schedules, known)
    with watched(spark, told), failures_told():
        # Spark adds the rows up: one for each shard may be many.
        rows = over(spark, range(manifest.shards), Recorder(recording), _SCHEMA)
        (total,) = rows.groupBy().agg(*(f.sum(name).alias(name) for name in _SUMS), troubles).collect()
    if not total.troubles:
        hold_to_count(recording)
        (place / MANIFEST).write_text(manifest.finished(total.kept_steps, total.kept_rows).to_json())
        (place / SUCCESS).write_text("")
    return Outcome(known, total.schedules, total.steps, total.rows, total.seconds, tuple(total.troubles))


def _count_of(corpus: Corpus, shard: int) -> Count:
    """Count a committed shard. Raises CorpusError if it does not have the schedules that it should."""
    with side_of(corpus.place, shard) as side:
        table = side.read(["schedule", "steps", "rows"])
    if table["schedule"].to_pylist() != list(corpus.manifest.range_of(shard)):
        raise CorpusError(f"{corpus.place.shown}: shard {shard} does not have the schedules that it should.")
    return Count(table.num_rows, *(int(table[name].to_numpy().sum()) for name in ("steps", "rows")))


def record_shard(recording: Recording, shard: int) -> Count:
    """Play the schedules of a shard and commit it. Raises NotDriven, and Committed if another task was quicker: then
    nothing was recorded."""
    count = Count()
    place, manifest = recording.place, recording.manifest
    company = recording.company()
    try:
        try:
            company.start()
        except TesteeFault as fault:
            raise NotDriven(f"The implementation could not be driven: {fault.breakdown.detail}.") from None
        with contextlib.ExitStack() as stack:
            rows = stack.enter_context(ShardWriter(place, shard, recording.kind.columns))
            twins = None
            if manifest.twins_every:
                # Left first, so that a shard that is there has its twins.
                twins = stack.enter_context(ShardWriter(place / TWINS, shard, recording.kind.columns, replace=True))
            _play_all(recording, shard, company, count, rows, twins)
    finally:
        company.kill()
    return count


def _play_all(
    recording: Recording, shard: int, company: Company, count: Count, rows: ShardWriter, twins: ShardWriter | None
) -> None:
    broken = 0
    for index in recording.manifest.range_of(shard):
        played = _play_one(recording, index, company, count, rows, twins)
        broken = 0 if played else broken + 1
        if broken >= PATIENCE:
            last = company.schedule(index).name
            raise NotDriven(f"The implementation broke in {PATIENCE} schedules in a row, the last {last}.")


def _play_one(
    recording: Recording, index: int, company: Company, count: Count, rows: ShardWriter, twins: ShardWriter | None
) -> bool:
    """Play a schedule and keep its rows; of the performance nothing is left then. Did it come to its end?"""
    manifest = recording.manifest
    schedule = company.schedule(index)
    performance = company.play(schedule)
    judged = company.judged(schedule)
    if stranger := manifest.stranger(performance, judged):
        # Of two implementations, or releases, nobody could say which of them a finding is about.
        raise NotDriven(
            f"This recording is of {manifest.name}, but what was started for {schedule.name} calls itself "
            f"{stranger}, or declares other capabilities: let the command start the same one every time, on every "
            "machine."
        )
    recorded = rows_of(recording.kind, performance, index, judged)
    rows.add(recorded)
    count.schedules += 1
    count.steps += recorded.side["steps"]
    count.rows += recorded.side["rows"]
    if twins is not None and manifest.has_twins(index):
        company.compare(performance, _keeping(recording.kind, company, index, twins))
    return performance.breakdown is None


def _keeping(kind: Kind, company: Company, index: int, twins: ShardWriter) -> Replay:
    """Plays the twins of one schedule and keeps them."""
    keys = itertools.count(index * TWINS_OF_ONE + 1)

    def play(schedule: Schedule) -> Performance:
        performance = company.play(schedule)
        twins.add(rows_of(kind, performance, next(keys), company.judged(schedule)))
        return performance

    return play
