"""Schedules that generated ones come to once in ten thousand times or less: no check takes a legal answer to them for a
fault."""

from __future__ import annotations

import pytest

from global_schedules import play_schedule, schedule
from run_helpers import AMENDED, Handle, altered, of_channel, reference
from sds_conformance.exploration.assessment import Scope, assess
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_harness.schedules import Schedule
from sds_harness.sds.operations import Again, Look, Route, Say, Send, Sync, Tick, Wait
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import FORUM_2024, Config
from sds_reference.channel import Channel
from sds_reference.variants import VARIANTS

# The hashes that determine the times of requests and responses contain names.
RARE = {
    "SDS-R-FIELDS-02: the hint is forgotten when somebody else asks, and then named anew without": schedule(
        Say("xavier", "m1", after=("m2",), hint=True),
        Wait(2),
        Sync("🦊-fox"),
        Say("xavier", "m4", after=("m2",)),
        Wait(4),
        Sync("Ж-alice"),
        names=("Ж-alice", "🦊-fox"),
        configuration=(("sds_r", True), ("t_max_ms", 6), ("t_min_ms", 2)),
    ),
    "SDS-R-SWEEP-05: a sweep gives up what is missing before another one answers": schedule(
        Say("xavier", "m1", after=("ghost0",)),
        Wait(60_000),
        Say("xavier", "m5"),
        Say("xavier", "m9", asks=("m5",)),
        Look(),
        Tick(),
        Wait(7_500),
        Tick(),
        Look(),
        names=("Ж-alice",),
        channels=(),
        configuration=(("lost_timeout_ms", 60_000), ("sds_r", True)),
    ),
    "SDS-R-TREQ-03: between T_min and T_max is one millisecond": schedule(
        Say("xavier", "m1", after=tuple(f"ghost{number}" for number in range(50))),
        Look(),
        names=("alice", "bob", "carol", "dave"),
        configuration=(("sds_r", True), ("t_max_ms", 5_001), ("t_min_ms", 5_000)),
    ),
    "SDS-MSG-23: a sync message of somebody else has the ID of a message": schedule(
        Send("alice", "m1", route=Route(lost=("bob",))),
        Say("xavier", "m2", content=None, id_of="m1"),
        Wait(30_000),
        Tick(),
        names=("alice", "bob"),
        configuration=(("sds_r", True), ("sync_interval_ms", 10_000)),
    ),
}


def without_a_profile(request: pb.Request, reply: pb.Reply) -> None:
    """Its filters have a private encoding."""
    if reply.HasField("hello"):
        reply.hello.profiles.bloom = ""


SOON = (("sds_r", True), ("t_max_ms", 6), ("t_min_ms", 2))
LEGAL = {
    "SDS-STATE-05: another message has an own ID, which the filter leaves out (AMB-19)": (
        reference(VARIANTS["own-ids-never"].configure(Config())),
        schedule(Send("alice", "m1"), Say("xavier", "m2", id_of="m1"), Look("alice"), names=("alice",)),
    ),
    "SDS-R-TREQ-03: few whole seconds, of which the first is nearer": (
        reference(VARIANTS["whole-seconds"].configure(Config())),
        schedule(
            Wait(1),
            Say("xavier", "m1", after=tuple(f"ghost{number}" for number in range(60))),
            Look(),
            names=("alice", "bob", "carol", "dave"),
            configuration=(("sds_r", True), ("t_max_ms", 9_000), ("t_min_ms", 2_000)),
        ),
    ),
    "SDS-R-SWEEP-05: a sweep that nobody is told of delivers and answers": (
        reference(Config(cascade_on_receive=False), without={pb.CAPABILITY_DELIVERED}),
        schedule(
            Say("xavier", "m0", route=Route(lost=("alice",)), senders_named=True),
            Say("xavier", "m1", after=("m0",), senders_named=True),
            Say("xavier", "m5"),
            Say("xavier", "m9", asks=("m5",), content=None),
            Again("m0", "alice"),
            Look(),
            Wait(6),
            Tick(),
            Look(),
            names=("alice",),
            configuration=SOON,
        ),
    ),
    "SDS-R-FIELDS-01: what came first was dropped, and another message has its ID": (
        reference(Config(drops_the_lost=True)),
        schedule(
            Say("xavier", "m1", after=("ghost",)),
            Wait(60_000),
            Tick(),
            Wait(1),
            Say("zoe", "m2", id_of="m1"),
            Wait(1),
            Send("alice", "m3"),
            names=("alice",),
            configuration=(("lost_timeout_ms", 60_000), ("sds_r", True)),
        ),
    ),
    "SDS-SYNC-03: a sync message is due when a message from far ahead arrives, and goes out first": (
        reference(participant=VARIANTS["works-at-sends-and-receipts"].participant_class),
        schedule(
            Send("alice", "m1"),
            Wait(15_000),
            Say("xavier", "m2", lamport_ms=1 << 53),
            Wait(15_000),
            Say("xavier", "m3"),
            names=("alice",),
            configuration=(("sync_interval_ms", 10_000),),
        ),
    ),
    "SDS-ACK-02: a filter of a private encoding was made from more IDs than it takes (AMB-55)": (
        altered(without_a_profile, reference(without={pb.CAPABILITY_FILTER_CODEC})),
        schedule(
            Send("alice", "m", times=12),
            Say("xavier", "all", filter=tuple(f"m.{number}" for number in range(1, 12))),
            Say("xavier", "all-by-sync", content=None, filter=tuple(f"m.{number}" for number in range(1, 12))),
            Look(),
            names=("alice",),
            configuration=(("bloom_capacity", 10),),
        ),
    ),
    "SDS-R-STATE-01: what waited was dropped, is named again, and asked for": (
        reference(Config(drops_the_lost=True)),
        schedule(
            Say("xavier", "m1", after=("ghost",), senders_named=True),
            Wait(60_000),
            Tick(),
            Say("xavier", "m2", after=("m1",), senders_named=True),
            Wait(6),
            Sync("alice"),
            names=("alice",),
            configuration=(("lost_timeout_ms", 60_000), *SOON),
        ),
    ),
}


OF_OTHER_REVISIONS = {
    "a sync message of the proposal precedes content of the same step": (
        FORUM_2024.name,
        reference(participant=VARIANTS["works-at-sends-and-receipts"].participant_class),
        schedule(
            Send("alice", "m1"),
            Wait(15_000),
            Send("alice", "m2"),
            names=("alice",),
            configuration=(("sync_interval_ms", 10_000),),
        ),
    ),
    "SDS-R-RECV-04: a message that others requested is given up before it is requested again (AMB-81)": (
        AMENDED,
        reference(VARIANTS["lets-requests-expire"].configure(Config())),
        schedule(
            Say("xavier", "m1", after=("m4",), senders_named=True),
            Say("xavier", "m2", asks=("m4",), senders_named=True),
            Say("xavier", "m3"),
            Sync("alice"),
            Wait(14),
            Sync("alice"),
            names=("alice",),
            configuration=SOON,
        ),
    ),
}
CASES = {name: (CURRENT, reference(), what) for name, what in RARE.items()}
CASES |= {name: (CURRENT, *case) for name, case in LEGAL.items()} | OF_OTHER_REVISIONS


@pytest.mark.parametrize(("revision", "start", "what"), CASES.values(), ids=CASES)
def test_a_legal_answer_to_a_rare_schedule_is_no_fault(revision: str, start: Handle, what: Schedule) -> None:
    group_trace = play_schedule(what, lambda: start, revision)
    assessment = assess(group_trace, Scope.select(revision=revision))
    assert (assessment.findings, assessment.errors) == ([], {})
    assert group_trace.breakdown is None


class RequestsWhatWaits(Channel):
    """Requests messages that wait in the incoming buffer, too (AMB-70)."""

    def __init__(self, participant_id: str, channel_id: str, config: Config, now_ms: int) -> None:
        super().__init__(participant_id, channel_id, config, now_ms)
        if self.repair is not None:
            self.repair.has_arrived = self.log.__contains__


def test_a_request_for_a_waiting_message_is_one_warning() -> None:
    """Its retrieval hint is not judged in addition."""
    what = schedule(
        Say("xavier", "m2", after=("m3",), senders_named=True, route=Route(lost=("alice",))),
        Say("xavier", "m1", after=("m2",), hint=True, senders_named=True),
        Again("m2", "alice"),
        Say("xavier", "m4", after=("m2",), senders_named=True),
        Wait(6),
        Sync("alice"),
        names=("alice",),
        configuration=SOON,
    )
    findings = assess(play_schedule(what, lambda: of_channel(RequestsWhatWaits)), Scope.select()).findings
    assert {(f.requirement, f.severity, f.position) for f in findings} == {("SDS-R-STATE-01", Verdict.WARN, "AMB-70")}
