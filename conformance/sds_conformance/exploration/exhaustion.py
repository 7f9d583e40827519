"""Enumerates all schedules of a small world (a few participants and an alphabet of events), the shortest first, and
plays them.

The number of a schedule, counted over all bounds, depends only on the participants and the alphabet. Chunks of
schedules are distributed and finished in any order; a bound is finished when all of its chunks are finished.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from itertools import count, islice

from sds_harness.declaration import Declaration
from sds_harness.schedules import Schedule
from sds_harness.schedules.alphabet import Alphabet
from sds_harness.schedules.files import dumps
from sds_harness.schedules.word_schedules import Unfolded
from sds_harness.schedules.worlds import AlphabetPart, ArrivingCopy, Word, World

from ..judging.formats import format_count
from ..protocols import repertoire_of
from .assessment import assess
from .campaign import CampaignOrder, CampaignTally, Played
from .cast_under_test import CachingCast, CastKind
from .casts import AbandonedError, NotPlayedError

SCHEMA_ID = "sds-conformance/exhaust/1"
"""ID of the JSON Schema for the output of `exhaust --json`."""
CHUNK = 250
"""Number of schedules in a chunk, which takes some seconds to play."""
TWINS_EVERY = 64
"""If this is n, every n-th schedule is played twice, for properties that compare two group traces, and without the
cache.
"""
SHORT = 2
"""Schedules with at most this number of events are played without the cache."""


def alphabet_of(revision: str) -> Alphabet:
    """The alphabet of the protocol of a revision. Raises ValueError if there is none."""
    alphabet = repertoire_of(revision).alphabet
    if alphabet is None:
        raise ValueError(f"there is no alphabet of events for {revision}")
    return alphabet


@dataclass(frozen=True)
class Exhaustion(CampaignOrder):
    """The schedules to play and how to judge them. Plain data, so that workers can receive it."""

    participants: int = 2
    alphabet: tuple[AlphabetPart, ...] = ()
    whole: bool = False
    """If True, all requests are sent to the implementation, without a cache, and every participant is judged each
    time.
    """
    without: frozenset[int] = frozenset()
    """Indexes of the kinds of events at which the implementation always breaks down. Schedules with them are not
    played.
    """

    def __reduce__(self) -> tuple[type[Exhaustion], tuple[object, ...]]:
        """Pickle without the cached properties, because they contain functions that cannot be pickled."""
        return Exhaustion, tuple(getattr(self, field.name) for field in fields(self))

    def make_cast_under_test(self) -> CachingCast:
        """Return a cast that plays all schedules and caches the answers of participants."""
        return CachingCast(self.connect, self.limits, self.casting, self.revision, self.dialect, forgetful=self.whole)

    @property
    def letters(self) -> Alphabet:
        """The alphabet of the protocol."""
        return alphabet_of(self.revision)

    @cached_property
    def world(self) -> World:
        world = self.letters.world(self.participants, self.alphabet)
        # Among references, participants are not interchangeable, so schedules that differ only in names are not equal.
        return replace(world, alike=world.alike and self.casting is not CastKind.AMONG)

    @cached_property
    def setting(self) -> Schedule:
        """A schedule without operations: the participants and the configuration that all schedules share."""
        return self.letters.make_setting(self.alphabet)

    def setting_of(self, word: Word) -> Schedule:
        """A schedule without operations: the participants and the configuration that the events of ``word`` need."""
        return self._settings(frozenset(event.kind for event in word))

    @cached_property
    def _settings(self) -> Callable[[frozenset[int]], Schedule]:
        no_events = {name for part in self.alphabet for name in part.names} - {kind.name for kind in self.world.kinds}

        @cache
        def setting(kinds: frozenset[int]) -> Schedule:
            names = {*no_events, *(self.world.kinds[kind].name for kind in kinds)}
            return self.letters.make_setting((AlphabetPart(tuple(sorted(names))),))

        return setting

    def restrict_to(self, declared: Declaration) -> Exhaustion:
        """Restrict the alphabet to the events that an implementation with this declaration supports."""
        return replace(self, alphabet=self.letters.select_possible(declared, self.profile, self.alphabet))

    def schedule(self, index: int) -> Schedule:
        return self.make_schedule(self.word(index), index).schedule

    def word(self, index: int) -> Word:
        """Return the word with that index, counted over all bounds from 0."""
        words = (word for events in count(1) for word in self.world.words(events))
        return next(islice(words, index, None))

    def make_schedule(self, word: Word, index: int) -> Unfolded:
        """Convert the word with that index to a schedule."""
        unfolded = self.letters.unfold(self.world, word, self.setting_of(word))
        text = f"schedule {index:,} ({self.participants} participants, {format_count(len(word), 'event')})"
        return replace(unfolded, schedule=replace(unfolded.schedule, name=text))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the parameters of the enumeration. It is equal for the same schedules in the same order."""
        kinds = [(kind.name, *(getattr(kind, part) for part in _SHAPE)) for kind in self.world.kinds]
        contents = (self.participants, [str(part) for part in self.alphabet], kinds, dumps(self.setting))
        return hashlib.sha256(repr(contents).encode()).hexdigest()


_SHAPE = ("copies", "broadcasts", "everybody", "after_ms", "most", "equals", "ranked", "starts", "due", "aware", "ends")


@dataclass(kw_only=True)
class SettledSchedules:
    """Numbers of schedules that need no more playing."""

    played: int = 0
    impossible: int = 0
    """Number of schedules that cannot be played: a message must arrive that the implementation does not broadcast."""
    renamed: int = 0
    """Number of schedules that equal another schedule after renaming participants."""
    left_out: int = 0
    """Number of schedules that are not played, because they have an event at which the implementation breaks down."""

    @property
    def settled_count(self) -> int:
        return self.played + self.impossible + self.renamed + self.left_out


@dataclass
class ChunkResults(SettledSchedules):
    """The results of some schedules of one bound."""

    tally: CampaignTally
    events: int
    """The number of events."""
    chunks: tuple[int, ...] = ()
    """The numbers of the chunks of which all schedules are in the results."""
    without: frozenset[int] = frozenset()
    """The kinds of events at which the implementation breaks down."""
    seconds: float = 0.0
    otherwise: str = ""
    """The first answer that differed from the cached answer; "" if none did. After it, the cache is not used."""
    reason: str = ""
    """Why the chunk was not finished, if the implementation was abandoned."""


@dataclass
class Bound(SettledSchedules):
    """The progress for all schedules with the same number of events."""

    events: int
    schedules: int
    """Total number of schedules."""
    chunks: set[int] = field(default_factory=set, init=False)
    """The finished chunks."""

    def take(self, share: ChunkResults) -> None:
        self.chunks.update(share.chunks)
        self.played += share.played
        self.impossible += share.impossible
        self.renamed += share.renamed
        self.left_out += share.left_out

    @property
    def is_complete(self) -> bool:
        return self.settled_count == self.schedules

    @property
    def percent(self) -> int:
        """Percentage of the schedules that need no more playing, rounded down, so that an incomplete bound never shows
        100.
        """
        return 100 * self.settled_count // self.schedules if self.schedules else 100


class Prober:
    """Plays words in order. Stores which messages cannot arrive, so that words with the same prefix are skipped."""

    def __init__(self, order: Exhaustion, cast_under_test: CachingCast) -> None:
        self._order = order
        self._cast_under_test = cast_under_test
        self._names = order.setting.names
        self._last: Word = ()
        self._missing: dict[ArrivingCopy, int] = {}
        """Impossible deliveries of messages in the last word, each with the index of the event that proves it.
        """
        self._suspects = cast_under_test.suspects
        self._suspects.guilty |= order.without

    def probe(self, word: Word, index: int, share: ChunkResults) -> None:
        """Play the word with that index unless it is skipped, and add the result to ``share``. Raises
        NotPlayedError.
        """
        if not self._order.world.first_of_its_names(word):
            share.renamed += 1
            return
        if any(event.kind in self.left_out_kinds for event in word):
            share.left_out += 1
            return
        played = self.play(word, index)
        if played is None:
            share.impossible += 1
            return
        share.played += 1
        share.tally.add(played)
        self._suspects.note(frozenset(event.kind for event in word), broke=played.breakdown is not None)

    @property
    def left_out_kinds(self) -> frozenset[int]:
        """The excluded kinds of events: words with one of them are not played."""
        return self._suspects.guilty

    def leave_out(self) -> bool:
        """From now on, exclude the kinds of events that made the implementation break down. Return False if they are
        unknown.
        """
        odd = frozenset(number for number, kind in enumerate(self._order.world.kinds) if kind.most)
        found = self._suspects.find(odd)
        if found:
            self._cast_under_test.cast.resume()
        return found

    def play(self, word: Word, index: int) -> Played | None:
        """Play a word and judge it. Return None if a message in it cannot arrive. Raises NotPlayedError."""
        self._keep(word)
        if self._is_impossible(word):
            return None
        unfolded = self._order.make_schedule(word, index)
        cast_under_test, schedule = self._cast_under_test, unfolded.schedule
        cast_under_test.whole = self._order.whole or len(word) <= SHORT or not index % TWINS_EVERY
        group_trace = cast_under_test.play(schedule)
        cast_under_test.whole |= cast_under_test.forgetful
        if group_trace.breakdown is None:
            self._last, self._missing = word, unfolded.find_missing(group_trace)
            if self._is_impossible(word):
                return None
        twin = cast_under_test.play if not index % TWINS_EVERY and group_trace.breakdown is None else None
        newest = None
        if not cast_under_test.whole and group_trace.breakdown is None:
            newest = {self._names[who] for who in self._order.world.newest(word)}
        assessment = assess(
            group_trace, self._order.scope, cast_under_test.participants_under_test(schedule), twin, newest
        )
        return Played(index, group_trace.steps, assessment, group_trace.breakdown)

    def _is_impossible(self, word: Word) -> bool:
        return bool(self._missing) and any((event.who, event.sender, event.nth) in self._missing for event in word)

    def _keep(self, word: Word) -> None:
        """Keep only the impossible deliveries that follow from the common prefix of ``word`` and the previous word."""
        if self._missing:
            pairs = zip(word, self._last, strict=False)
            common = next((place for place, (one, other) in enumerate(pairs) if one != other), len(self._last))
            self._missing = {copy: place for copy, place in self._missing.items() if place < common}


@dataclass(frozen=True)
class Task:
    """The part of a bound that is left to play."""

    events: int
    """Number of events of each schedule: the bound."""
    before: int
    """Number of schedules with fewer events than ``events``."""
    done: frozenset[int] = frozenset()
    """Finished chunks."""
    first: int = 0
    """The first chunk to play."""
    since: Word = ()
    """The first word of chunk ``first``; empty for the very first word."""
    chunks: int | None = None
    """Number of chunks to play, from ``first`` on; None for all that follow."""


def play_chunks(
    order: Exhaustion,
    cast_under_test: CachingCast,
    tasks: Iterable[Task],
    mine: Callable[[int, int], bool] = lambda events, chunk: True,
    ended: Callable[[], bool] = lambda: False,
) -> Iterator[ChunkResults]:
    """Play the remaining chunks for which ``mine`` is true.

    If ``ended`` returns True during a chunk, the chunk is not reported. If the implementation is abandoned in a chunk,
    the chunk is reported and is the last one.
    """
    prober = Prober(order, cast_under_test)
    for task in tasks:
        words = order.world.words(task.events, since=task.since)
        for chunk in islice(count(task.first), task.chunks):
            some = list(islice(words, CHUNK))
            if not some:
                break
            if chunk in task.done or not mine(task.events, chunk):
                continue
            share = ChunkResults(CampaignTally(cast_under_test.declaration), task.events, (chunk,))
            began = time.monotonic()
            for index, word in enumerate(some, task.before + chunk * CHUNK):
                if ended():
                    return
                try:
                    try:
                        prober.probe(word, index, share)
                    except AbandonedError:
                        if not prober.leave_out():
                            raise
                        prober.probe(word, index, share)
                except NotPlayedError as reason:
                    share.reason = str(reason)
                    yield share
                    return
            share.without = prober.left_out_kinds
            share.seconds = time.monotonic() - began
            share.otherwise = cast_under_test.otherwise
            yield share
