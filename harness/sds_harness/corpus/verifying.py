"""Verifying a corpus: all that is stored is read, and held to what its requests and replies give.

Judging reads what it needs. Here every column of every row is made again and compared, the twins as well, and nothing
may stand in the folders that no schedule accounts for.
"""

from __future__ import annotations

from collections.abc import Callable

from ..schedules import Performance, Schedule
from .manifest import SIDE, STEPS, TWINS, Corpus
from .place import TEMPORARY
from .reading import Stored, hold_to_manifest, stored_in, twins_of
from .rebuilding import Rebuilt
from .recording import Count, Replay, insisting
from .shards import DamagedFile, file_name, hold_to_count, pair_of

Compare = Callable[[Performance, Replay], None]
"""Asks for whatever a performance was compared with when it was recorded."""
Hold = Callable[[Stored, Rebuilt], None]
"""Holds what was made again to the manifest. Raises DamagedFile."""


def verify_folders(corpus: Corpus) -> None:
    """Are the shards there, with twins if it says so, and no others? Raises CorpusError."""
    hold_to_count(corpus)
    all_of_them = {file_name(shard) for shard in range(corpus.manifest.shards)}
    for place, wanted in (
        (corpus.place, all_of_them),
        (corpus.place / TWINS, all_of_them if corpus.manifest.twins_every else set[str]()),
    ):
        for folder in (place / STEPS, place / SIDE):
            there = {name for name in folder.names() if not name.startswith(TEMPORARY)}
            for name in sorted(there ^ wanted):
                what = "is missing" if name in wanted else "should not be there"
                raise DamagedFile(f"{folder.shown}/{name} {what}.")


def verify_shard(corpus: Corpus, shard: int, hold: Hold, compare: Compare) -> Count:
    """Read all of a shard, and count what it has. Raises DamagedFile."""
    count, twins, found = Count(), Count(), []
    for stored in stored_in(corpus, shard, None, None):
        found.append(stored.schedule)
        rebuilt = _verified(stored, hold, None, count)
        if corpus.manifest.has_twins(stored.schedule):
            _verify_twins(corpus, shard, stored, rebuilt, hold, compare, twins)
    hold_to_manifest(corpus, shard, found)
    for place, seen in (
        (corpus.place, count),
        *([(corpus.place / TWINS, twins)] if corpus.manifest.twins_every else []),
    ):
        side, steps = pair_of(place, shard, corpus.kind.columns)
        with side, steps:
            if (side.num_rows, steps.num_rows) != (seen.schedules, seen.rows):
                raise DamagedFile(
                    f"{place.shown} is damaged: {file_name(shard)} has {side.num_rows} schedules and {steps.num_rows} "
                    f"rows, of which {seen.schedules} and {seen.rows} are accounted for."
                )
    return count


def _verify_twins(
    corpus: Corpus, shard: int, of: Stored, rebuilt: Rebuilt, hold: Hold, compare: Compare, count: Count
) -> None:
    twins = iter(twins_of(corpus, shard, of.schedule, None))

    def play(schedule: Schedule) -> Performance:
        twin = twin_for(corpus, of, next(twins, None), schedule)
        return _verified(twin, hold, schedule, count).performance

    with insisting(play) as replay:
        compare(rebuilt.performance, replay)


def twin_for(corpus: Corpus, of: Stored, twin: Stored | None, schedule: Schedule) -> Stored:
    """The twin of a stored schedule, if it is the one that is asked for. Raises DamagedFile."""
    if twin is None or twin.side["json"] != corpus.kind.dumps(schedule):
        raise DamagedFile(f"{of.where}: what schedule {of.schedule} has to be compared with is not in the corpus.")
    return twin


def _verified(stored: Stored, hold: Hold, plan: Schedule | None, count: Count) -> Rebuilt:
    rebuilt = stored.performance(plan)
    stored.hold_to_rows(rebuilt)
    hold(stored, rebuilt)
    count.schedules += 1
    count.steps += stored.side["steps"]
    count.rows += stored.side["rows"]
    return rebuilt
