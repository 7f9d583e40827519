"""The events of a small world of SDS, and the configuration of its participants."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from types import MappingProxyType

from sds_proto.testee.v1 import testee_pb2 as pb

from ..declaration import Declaration
from ..schedules.alphabet import Alphabet
from ..schedules.choices import NAMES
from ..schedules.word_schedules import Unfolded, unfold
from ..schedules.worlds import AlphabetPart, EventKind, Word, World
from .events import KINDS, REPAIRS, REST
from .odd_events import ODD, PATIENT, TWINS
from .odd_uses import (
    APPLICATION,
    CHANNEL,
    CHANNELS,
    CLOCK,
    CROWD,
    CROWD_OF,
    FORTY,
    MANY_CHANNELS,
    NAMELESS,
    PERIODIC,
    ROUND,
    SYNC_INTERVAL_MS,
    UNREPAIRED,
)
from .odd_values import MANY, VALUES
from .operations import Member, Schedule

REPAIR = "repair"
"""Not an event, but a setting: switches SDS-R on. Then the messages of all other events carry repair requests, and
participants respond to them."""
_KINDS = (*KINDS, EventKind("arrive", copies=1), EventKind("twice", copies=2))
ALPHABET = (*dict.fromkeys(kind.name for kind in _KINDS), REPAIR)
"""All names that a user can select."""
USUAL = (
    AlphabetPart(("send", "sync", "arrive", REPAIR)),
    AlphabetPart(("send", "time", "arrive", REPAIR)),
    AlphabetPart(("send", "sync", "time", "arrive", REPAIR), 6),
    AlphabetPart(("send", "sync", "ephemeral", "time", "arrive", "twice", REPAIR), 4),
    AlphabetPart(("send", "sync", "arrive", REST, REPAIR), 5),
    AlphabetPart(("send", "sync", "time", "arrive", ODD, APPLICATION, CLOCK, TWINS, CHANNEL, REPAIR), 2),
    AlphabetPart((PATIENT, VALUES, ROUND, PERIODIC, NAMELESS, FORTY, UNREPAIRED, CROWD, MANY, REPAIR), 1),
)
"""The parts that are played by default."""
_NEEDS = {
    "sync": pb.CAPABILITY_SYNC,
    "ephemeral": pb.CAPABILITY_EPHEMERAL,
    REPAIR: pb.CAPABILITY_SDS_R,
    CHANNEL: pb.CAPABILITY_CHANNELS,
    FORTY: pb.CAPABILITY_CHANNELS,
    NAMELESS: pb.CAPABILITY_UNNAMED_CHANNEL,
    PERIODIC: pb.CAPABILITY_PERIODIC_SYNC,
}


class SdsAlphabet(Alphabet):
    """The events in small worlds of SDS, and how their words become schedules."""

    names = ALPHABET
    usual: tuple[AlphabetPart, ...] = USUAL
    example = AlphabetPart(("send", "arrive"))
    others = MappingProxyType(
        {
            "arrive": "A message on its way arrives at a participant.",
            "twice": "A message on its way arrives at a participant twice.",
            REPAIR: "Not an event: the participants use SDS-R, and all messages carry repair requests.",
        }
    )

    def select_possible(
        self, declared: Declaration, profile: str, wanted: Collection[AlphabetPart]
    ) -> tuple[AlphabetPart, ...]:
        """The parts that the implementation can play. SDS-R is left out if the profile is ``core``, which does not
        judge SDS-R."""
        there = {name for name in self.names if name not in _NEEDS or declared.can(_NEEDS[name])}
        return self.select(there - {REPAIR} if profile == "core" else there, wanted)

    def world(self, participants: int, parts: Collection[AlphabetPart]) -> World:
        names = self.check(participants, len(NAMES), parts)
        sds_r = REPAIR in names
        kinds = tuple(kind for kind in _KINDS if kind.name in names and (sds_r or kind not in REPAIRS))
        # With SDS-R, the times of repair requests and the response groups depend on the names of participants and
        # messages.
        return World(participants, kinds, gaps_by_name=sds_r, parts=tuple(parts))

    def make_setting(self, parts: Collection[AlphabetPart]) -> Schedule:
        names = {name for part in parts for name in part.names}
        sds_r = REPAIR in names and UNREPAIRED not in names
        configuration: dict[str, int | float | bool] = {
            "bloom_capacity": 100,
            "sds_r": sds_r,
            "resend_unacknowledged_ms": 30_000,
            "resend_possibly_acknowledged_ms": 60_000,
        }
        if not names & {
            PATIENT,
            REST,
        }:  # with this timeout, participants may declare different messages lost
            configuration["lost_timeout_ms"] = 90_000
        if PERIODIC in names:
            configuration["sync_interval_ms"] = SYNC_INTERVAL_MS
        if sds_r:
            groups = {"num_participants": CROWD_OF} if CROWD in names else {"num_response_groups": 1}
            configuration |= {"t_min_ms": 10_000, "t_max_ms": 30_000, **groups}
        channels: tuple[str, ...] = CHANNELS[: 0 if NAMELESS in names else 1]
        if names & {CHANNEL, FORTY}:
            channels = CHANNELS + (MANY_CHANNELS if FORTY in names else ())
        return Schedule(tuple(map(Member, NAMES)), (), channels, configuration=tuple(sorted(configuration.items())))

    def unfold(self, world: World, word: Word, setting: Schedule) -> Unfolded:
        return unfold(world, word, setting)


class ProposedAlphabet(SdsAlphabet):
    """The alphabet of the proposal of 2024, which has no SDS-R.

    In this proposal, sync messages are part of the log, and messages that depend on a missing sync message are
    buffered.
    """

    names = tuple(name for name in ALPHABET if name != REPAIR)
    usual = tuple(part.without(REPAIR) for part in USUAL)

    def world(self, participants: int, parts: Collection[AlphabetPart]) -> World:
        world = super().world(participants, parts)
        ranked = (replace(kind, ranked=True, starts=True) if kind.name == "sync" else kind for kind in world.kinds)
        return replace(world, kinds=tuple(ranked))


SDS = SdsAlphabet()
PROPOSAL = ProposedAlphabet()
