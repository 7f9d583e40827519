"""The alphabet of ClearSkies: the events from which ``exhaust`` builds schedules, and how participants are configured.

Each event is a function that returns one operation, or several that belong together. Its arguments are the participant,
a label that no other event has, and a route, which is unused because the links of ClearSkies are streams. The first
line of its docstring is printed to users.

All applications use few keys, so that their changes meet: one record is changed by several participants, and several
records have one key.

**Symmetry.** Schedules that differ only in the names of participants count as one if a single participant writes. With
two writers, names can matter: equal update times are decided by the content of records, which contain the IDs of their
writers. The reduction assumes that an implementation treats all links in the same way, and prefers
the ID of no other peer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial, wraps
from itertools import combinations
from types import MappingProxyType
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb

from ..declaration import Declaration
from ..schedules.alphabet import Alphabet
from ..schedules.choices import NAMES
from ..schedules.operations import Route
from ..schedules.word_schedules import Unfolded
from ..schedules.worlds import AlphabetPart, EventKind, Word, World, Write
from . import operations as ops
from .word_schedules import STRANGERS, stranger_of, unfold

PERIOD_MS = 31_000
"""Milliseconds of virtual time after which implementations have sent their messages: some collect them for seconds."""
KEY, OTHER_KEY = "k", "k2"
RECORD = "of strangers"
"""The name of the record that all scripted peers change."""
HOUR_MS = 3_600_000
RESTART, REST = "restart", "rest"
READER = "reader"
"""In an alphabet, this name is not an event: it makes the second participant a read-only peer."""
UUIDS = "uuids"
"""In an alphabet, this name is not an event: it lets the application give the uuids of new records. Without it,
implementations choose uuids at random, and answer differently each time."""
Operations = tuple[ops.Operation, ...]

_KINDS: list[EventKind] = []
"""All kinds of events, except those that depend on the names of all participants. ``exhaust`` tries the first kinds
first."""


def event(name: str, **rest: Any) -> Callable[[Write], Write]:
    """Register a kind of events under its name in an alphabet. ``rest`` are further fields of ``EventKind``."""

    def register(write: Write) -> Write:
        _KINDS.append(EventKind(name, write, **rest))
        return write

    return register


# ---- applications ----------------------------------------------------------------------------------------------------

change = partial(event, broadcasts=True, ranked=True, starts=True)
"""A change of a record. Concurrent changes of one kind have equal update times; changes of different kinds are seconds
apart, because times within one second may count as equal (CA-9)."""


@change("write")
def write(who: str, label: str, route: Route) -> ops.Operation:
    """The application writes a value."""
    return ops.Put(who, label, KEY)


@change("later", after_ms=4_000)
def later(who: str, label: str, route: Route) -> ops.Operation:
    """The application waits four seconds, and then writes a value."""
    return ops.Put(who, label, KEY)


@change("other")
def other(who: str, label: str, route: Route) -> ops.Operation:
    """The application writes a value with another key."""
    return ops.Put(who, label, OTHER_KEY)


@change("delete", after_ms=2_000)
def delete(who: str, label: str, route: Route) -> ops.Operation:
    """The application waits two seconds, and then deletes the record."""
    return ops.Delete(who, label, KEY)


@change("rename")
def rename(who: str, label: str, route: Route) -> ops.Operation:
    """The application gives the record another key."""
    return ops.Rename(who, label, KEY, OTHER_KEY)


# ---- scripted peers --------------------------------------------------------------------------------------------------

stranger = partial(event, broadcasts=True, starts=True, equals=False, aware=True)
"""An event of a scripted peer, which has a link to one participant."""
contested = partial(stranger, "stranger", most=2)
odd = partial(stranger, "odd", most=1)


@stranger("ask", most=1)
def ask(who: str, label: str, route: Route) -> ops.Operation:
    """A scripted peer asks for all records, and receives all later updates."""
    return ops.Ask(stranger_of(who), who, link=stranger_of(who))


def _say(who: str, label: str, **rest: Any) -> ops.Say:
    return ops.Say(stranger_of(who), label=label, key=KEY, record=RECORD, to=who, link=stranger_of(who), **rest)


def _repeat_message(who: str, label: str) -> ops.Again:
    return ops.Again(stranger_of(who), who, label=label, link=stranger_of(who))


@contested()
def deletes(who: str, label: str, route: Route) -> ops.Operation:
    """A scripted peer deletes the record that others change as well."""
    return _say(who, label, deleted=True)


@contested()
def repeats(who: str, label: str, route: Route) -> Operations:
    """A scripted peer changes the record twice, and sends both changes again."""
    one, two = f"{label}.1", f"{label}.2"
    return _say(who, one), _say(who, two), _repeat_message(who, one), _repeat_message(who, two)


def _at(ms: int) -> Callable[[str, str, Route], ops.Operation]:
    def changes_at(who: str, label: str, route: Route) -> ops.Operation:
        """A scripted peer changes the record, with the current update time or one that is an hour off."""
        return _say(who, label, at_ms=ms)

    return changes_at


for _ms in (-HOUR_MS, HOUR_MS, 0):
    contested()(_at(_ms))


def _odd_update(signature: str = "usual", oddity: str = "") -> Callable[[str, str, Route], ops.Operation]:
    def is_odd(who: str, label: str, route: Route) -> ops.Operation:
        """A scripted peer sends an update with an odd body or a wrong signature."""
        return _say(who, label, signature=signature, odd=oddity)

    return is_odd


for _signature in ops.SIGNATURES[1:]:
    odd()(_odd_update(signature=_signature))
for _oddity in ops.ODDITIES[1:]:
    # Playing one body of almost 16 MiB takes a second, and forms of JSON have no effect on other events.
    if _oddity not in ("large", "blanks", "escaped"):
        odd()(_odd_update(oddity=_oddity))


# ---- all participants ------------------------------------------------------------------------------------------------


@event("time", broadcasts=True, everybody=True, after_ms=PERIOD_MS, due=True)
def time(who: str, label: str, route: Route) -> ops.Operation:
    """Time passes until the next work is due, and all participants run their periodic work."""
    return ops.Tick(who)


@event(REST, everybody=True, aware=True, ends=True)
def rest(who: str, label: str, route: Route) -> Operations:
    """All messages arrive, time passes until nothing new happens, and a new scripted peer requests all records."""
    return (ops.Calm(), ops.Read()) if who == NAMES[0] else ()


def _reconnect(names: Collection[str], who: str, label: str, route: Route) -> Operations:
    """All links break, messages in transit are lost, and the links are connected again."""
    pairs = list(combinations(names, 2)) if who == NAMES[0] else []
    return (*(ops.Unlink(*pair) for pair in pairs), *(ops.LinkPeers(*pair, held=True) for pair in pairs))


def _restart(names: Collection[str], who: str, label: str, route: Route) -> Operations:
    """The first participant is closed, opened with the content of its store, and linked again."""
    if who != NAMES[0]:
        return ()
    return (ops.Close(who), ops.Reopen(who), *(ops.LinkPeers(who, other, held=True) for other in names if other != who))


def _bind_names(write: Callable[..., Operations], names: Collection[str]) -> Write:
    """An event whose operations depend on the names of all participants."""

    @wraps(write)
    def write_with_names(who: str, label: str, route: Route) -> Operations:
        return write(names, who, label, route)

    return write_with_names


def _give_uuids(write: Write) -> Write:
    """An event whose new records have the uuids that the application gives."""

    @wraps(write)
    def write_with_uuids(who: str, label: str, route: Route) -> ops.Operation | Operations:
        operation = write(who, label, route)
        return operation.with_values(record=label) if isinstance(operation, ops.Put) else operation

    return write_with_uuids


def _kinds(names: Collection[str]) -> tuple[EventKind, ...]:
    """All kinds of events of schedules with the participants ``names``."""
    anew: dict[str, Any] = {"broadcasts": True, "everybody": True, "cuts": True}
    return (
        *_KINDS,
        EventKind("reconnect", _bind_names(_reconnect, names), **anew),
        EventKind(RESTART, _bind_names(_restart, names), **anew, equals=False, aware=True),
        EventKind("arrive", copies=1, broadcasts=True),
    )


class ClearSkiesAlphabet(Alphabet):
    """The alphabet of ClearSkies."""

    names = (*dict.fromkeys(kind.name for kind in _kinds(())), READER, UUIDS)
    usual = (
        AlphabetPart(("write", "later", "delete", "arrive", UUIDS)),
        AlphabetPart(("write", "delete", "arrive", "reconnect", "time", UUIDS), 5),
        AlphabetPart(("write", "other", "rename", "delete", "arrive", UUIDS), 4),
        AlphabetPart(("write", "later", "delete", "arrive", REST, UUIDS), 5),
        AlphabetPart(("write", "delete", "arrive", "ask", "stranger", UUIDS), 3),
        AlphabetPart(("write", "delete", "arrive", "reconnect", RESTART, UUIDS), 4),
        AlphabetPart(("write", "arrive", "odd", UUIDS), 2),
    )
    example = AlphabetPart(("write", "arrive"))
    others = MappingProxyType(
        {
            "arrive": "A message on its way arrives at a peer.",
            READER: "Not an event: the second peer may only read.",
            UUIDS: "Not an event: the application gives the uuids of new records, so that they are not random.",
        }
    )

    def select_possible(
        self, declared: Declaration, profile: str, wanted: Collection[AlphabetPart]
    ) -> tuple[AlphabetPart, ...]:
        return self.select([name for name in self.names if name not in _NEEDS or declared.can(_NEEDS[name])], wanted)

    def world(self, participants: int, parts: Collection[AlphabetPart]) -> World:
        names = self.check(participants, len(STRANGERS), parts)
        kinds = tuple(kind for kind in _kinds(NAMES[:participants]) if kind.name in names)
        if UUIDS in names:
            kinds = tuple(replace(kind, write=_give_uuids(kind.write)) if kind.write else kind for kind in kinds)
        return World(participants, kinds, alike=READER not in names, parts=tuple(parts), streams=True)

    def make_setting(self, parts: Collection[AlphabetPart]) -> ops.Schedule:
        names = {name for part in parts for name in part.names}
        members = (ops.Member(NAMES[0], store=RESTART in names), ops.Member(NAMES[1], read_only=READER in names))
        return ops.Schedule((*members, *map(ops.Member, NAMES[2:])), (), ())

    def unfold(self, world: World, word: Word, setting: ops.Schedule) -> Unfolded:
        return unfold(world, word, setting)


_NEEDS = {
    "rename": pb.CAPABILITY_RENAME,
    RESTART: pb.CAPABILITY_STORE,
    READER: pb.CAPABILITY_READ_ONLY,
    UUIDS: pb.CAPABILITY_UUID_ACCEPTED,
}
CLEARSKIES = ClearSkiesAlphabet()
