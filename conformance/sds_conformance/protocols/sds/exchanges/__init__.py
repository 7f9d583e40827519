"""Who understands whom among implementations of SDS: the exchanges, and what is said of each side."""

from __future__ import annotations

from sds_proto.testee.v1 import testee_pb2 as pb

from ...exchanges import Exchange, Exchanges, Pair
from .agreeing import ORDERING, agrees, repairing, repairs
from .aspects import MEANINGS, Aspect, introduced, notes
from .heard import Heard
from .understanding import (
    BACKWARDS,
    GREETING,
    REPLIES,
    SYNCING,
    TYPING,
    acknowledges,
    delivers,
    hears_ephemerals,
    reads,
    reads_filters,
    reads_syncs,
    waits,
)


def _both_repair(pair: Pair) -> str:
    needed = (pb.CAPABILITY_SDS_R, pb.CAPABILITY_VIRTUAL_CLOCK)
    return pair.sender.lacks(*needed) or pair.receiver.lacks(*needed)


def _both_type(pair: Pair) -> str:
    mine = pair.sender.lacks(pb.CAPABILITY_EPHEMERAL)
    return mine or pair.receiver.lacks(pb.CAPABILITY_EPHEMERAL, pb.CAPABILITY_DELIVERED)


_ALL = (
    Exchange("the wire as it is", (GREETING,), {Aspect.WIRE: reads}, translated=False),
    Exchange("content", (GREETING,), {Aspect.CONTENT: delivers}),
    Exchange("dependencies", (BACKWARDS,), {Aspect.DEPENDENCIES: waits}),
    Exchange("replies", (REPLIES,), {Aspect.ACKNOWLEDGED: acknowledges, Aspect.FILTER: reads_filters}),
    Exchange(
        "sync messages",
        (SYNCING,),
        {Aspect.SYNC: reads_syncs},
        needs=lambda pair: pair.sender.lacks(pb.CAPABILITY_SYNC),
    ),
    Exchange("ephemeral messages", (TYPING,), {Aspect.EPHEMERAL: hears_ephemerals}, needs=_both_type),
    Exchange("order", (ORDERING,), {Aspect.ORDER: agrees}),
    # Who cannot be configured may have a T_max as long as the text recommends at most.
    Exchange("repairs", (repairing(120_000), repairing(600_000)), {Aspect.REPAIR: repairs}, needs=_both_repair),
)

EXCHANGES = Exchanges(
    MEANINGS,
    Aspect.CONTENT,
    _ALL,
    Heard,
    introduced,
    ("bloom", "hash"),
    notes,
    # Filters of another size are foreign: some drop what carries one, and after that nothing of note happens.
    {"bloom_capacity": 24},
)
