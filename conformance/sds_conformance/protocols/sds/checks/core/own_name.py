"""Section RECV: messages in the participant's own name, which it should ignore, whether it has sent them or not."""

from __future__ import annotations

from collections.abc import Iterator

from sds_proto.testee.v1 import testee_pb2 as pb

from .....judging.judgement import Observation, judged
from ...register import check
from ...view.channel_view import ChannelView
from ...view.histories import claimed_ids
from ...view.refusals import offered
from .send import judge_strangers
from .sync import in_no_history, in_no_log

_WHAT = "message in its own name that it has not sent"


@check("SDS-RECV-01", pb.CAPABILITY_DELIVERED, of="own-came")
def own_messages_ignored(view: ChannelView) -> Iterator[Observation]:
    """A message with the participant's own sender ID is ignored; to refuse it is a way to do so."""
    for received in offered(view):
        if received.own and (view.delivered or not received.rejected):
            seen = f"a delivery of {received.message.message_id!r}"
            expected = "the own message, reflected, to be ignored"
            yield judged(received.step, "delivered", not received.delivered, expected, seen)


@check("SDS-RECV-01", of="own-came")
def its_name_enters_no_log(view: ChannelView) -> Iterator[Observation]:
    """What claims to be its own, and is not, is in no log and in no causal history."""
    yield from in_no_history(view, _WHAT, claimed_ids, code="logged")
    yield from in_no_log(view, _WHAT, claimed_ids)


@check("SDS-RECV-01", of="outgoing own-came")
def its_name_enters_no_filter(view: ChannelView) -> Iterator[Observation]:
    """Nor in the bloom filter, where own IDs may be (AMB-19): these are none."""
    for sent in view.outgoing:
        holds = view.filter_of(sent.message.bloom_filter)
        ids = {message_id for message_id, since in claimed_ids(view).items() if since < sent.step.index}
        if holds is not None and ids and not sent.repeat:
            yield from judge_strangers(sent.step, holds, ids, f"no {_WHAT} in the filter", code="in-filter")
