"""Section CONFLICT: "Resolve Conflicts"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sds_proto.testee.v1 import testee_pb2 as pb

from .....judging.judgement import Observation, judged
from ...register import check
from ...view.channel_view import ChannelView
from ...view.facts import LogItem
from ...view.log_orders import Neighbours, neighbours


def _judge(pair: Neighbours) -> Observation:
    first, second = pair.first.message_id, pair.second.message_id
    why = "equal Lamport timestamps, so the smaller ID (by UTF-8 bytes) first"
    expected, soft = f"{second!r} before {first!r} in the log: {why}", "AMB-88" if pair.in_utf16_order else ""
    return judged(pair.step, pair.in_order, expected, f"{first!r} before {second!r}", soft)


_HASH = re.compile("(?:[0-9a-f]{2}){4,}")


def _is_hash(item: LogItem) -> bool:
    return _HASH.fullmatch(item.message_id) is not None


@check("SDS-CONFLICT-01", pb.CAPABILITY_DELIVERED)
def ties_ascend_by_id(view: ChannelView) -> Iterator[Observation]:
    """Messages with equal Lamport timestamps are in ascending order of message ID."""
    for pair in neighbours(view):
        hashes = _is_hash(pair.first) and _is_hash(pair.second)
        if pair.tied and not hashes and not (pair.first.own or pair.second.own):
            yield _judge(pair)


@check("SDS-CONFLICT-02", pb.CAPABILITY_DELIVERED)
def lowest_hash_first(view: ChannelView) -> Iterator[Observation]:
    """Where IDs are hashes, the lowest hash comes first."""
    for pair in neighbours(view):
        hashes = _is_hash(pair.first) and _is_hash(pair.second)
        alike = len(pair.first.message_id) == len(pair.second.message_id)
        if pair.tied and hashes and alike and not (pair.first.own or pair.second.own):
            yield _judge(pair)


@check("SDS-CONFLICT-03", pb.CAPABILITY_DELIVERED)
def own_messages_take_part(view: ChannelView) -> Iterator[Observation]:
    """Own messages are ordered among those with equal timestamps like everybody else's."""
    for pair in neighbours(view):
        if pair.tied and pair.first.own != pair.second.own:
            yield _judge(pair)
