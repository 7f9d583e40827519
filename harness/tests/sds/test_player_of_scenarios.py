"""The operations that mainly scenarios use: repetition, refused participants, times of repairs, parts and variants."""

from __future__ import annotations

import pytest

from player_helpers import arrivals, commands, message, reference, shown, without
from sds_harness.schedules.base_player import raise_if_stopped
from sds_harness.sds import operations as ops
from sds_harness.sds.group_trace import GroupTrace
from sds_harness.sds.operations import TWINS, Member
from sds_harness.stage import START_MS
from sds_proto.testee.v1 import testee_pb2 as pb

ALICE = (Member("alice"),)
REPAIRS = (("num_response_groups", 1), ("sds_r", True), ("t_max_ms", 120_000), ("t_min_ms", 30_000))
REPAIRING = (Member("alice", configuration=REPAIRS),)


def wires(group_trace: GroupTrace) -> list[bytes]:
    return [act.step.request.receive.wire for act in arrivals(group_trace, "alice")]


# ---- Repetition ------------------------------------------------------------------------------------------------------


def test_operations_are_repeated_and_each_round_has_messages_of_its_own() -> None:
    group_trace = shown(
        *(ops.Repeat(3, 3), ops.Write("zoe", "x", number=1), ops.Receive("alice", ("x",)), ops.Wait(10)),
        *(ops.Write("zoe", "y", number=4), ops.Receive("alice", ("y", "x"))),
        members=ALICE,
    )
    ids = [act.step.received.message.message_id for act in arrivals(group_trace, "alice") if act.step.received.message]
    assert ids == ["zoe-1", "zoe-2", "zoe-3", "zoe-4", "zoe-3"]
    assert [act.at_ms for act in arrivals(group_trace, "alice")] == [0, 10, 20, 30, 30]
    assert [act.operation for act in arrivals(group_trace, "alice")] == [2, 2, 2, 5, 5]


@pytest.mark.parametrize(
    ("repeat", "rounds"),
    [
        (ops.Repeat(1, 9, rounds="causal_history_size + 1"), 4),
        (ops.Repeat(1, 2, rounds="causal_history_size + 1"), 2),
        (ops.Repeat(1, 9, rounds="causal_history_size - 5"), 0),
        (ops.Repeat(1, 9, until="round_messages > 0"), 1),
        (ops.Repeat(1, 9, until="round_requests > 0"), 9),
        (ops.Repeat(1, 9, when="causal_history_size > 5"), 0),
        (ops.Repeat(5, 2), 2),
    ],
)
def test_rounds_end_at_a_number_or_at_a_condition(repeat: ops.Repeat, rounds: int) -> None:
    members = (Member("alice", configuration=(("causal_history_size", 3),)),)
    assert commands(shown(repeat, ops.Send("alice", "m"), members=members)) == ["alice send"] * rounds


def test_too_much_repetition_ends_the_schedule() -> None:
    group_trace = shown(*[ops.Repeat(1, 2_000), ops.Mark("t")] * 60, ops.Tick("alice"), members=ALICE)
    assert commands(group_trace) == []
    assert "100,000 operations were repeated" in next(iter(group_trace.left_out.values()))


def test_rounds_can_end_when_nothing_is_missing() -> None:
    lost = [ops.Write("zoe", f"x{number}") for number in range(7)]
    names = tuple(write.label for write in lost)
    naming = ops.Say("zoe", "naming", after=names, senders_named=True)
    ask = (ops.Repeat(3, 50, until="missing == 0"), ops.Send("alice", "m"), ops.Receive("alice", names, asked=True))
    group_trace = shown(*lost, naming, ops.Wait(120_000), *ask, ops.Wait(1_000), ops.Look("alice"), members=REPAIRING)
    sent = commands(group_trace).count("alice send")
    assert 1 < sent < 7
    assert {message(group_trace, name).message_id for name in names} <= {
        act.step.received.message.message_id for act in arrivals(group_trace, "alice") if act.step.received.message
    }


# ---- Participants that may be refused --------------------------------------------------------------------------------


def picky(request: pb.Request, reply: pb.Reply) -> None:
    """Refuses to open a participant called dora."""
    if request.WhichOneof("command") == "open" and request.open.participant_id == "dora":
        reply.rejected.reason = "no more participants"


@pytest.mark.parametrize("late", [False, True])
def test_the_operations_of_a_refused_participant_are_left_out(*, late: bool) -> None:
    operations = (
        *([ops.Join("dora")] if late else []),
        *(ops.Send("dora", "m1"), ops.Wait(5), ops.Look("dora"), ops.Tick(), ops.Crash("dora")),
    )

    def played(*, may_be_refused: bool) -> GroupTrace:
        members = (*ALICE, Member("dora", late=late, may_be_refused=may_be_refused))
        return shown(*operations, members=members, handle=reference(picky))

    tolerant = played(may_be_refused=True)
    assert commands(tolerant) == ["alice tick"]
    assert tolerant.left_out == {}
    raise_if_stopped(tolerant)
    assert any("no more participants" in why for why in played(may_be_refused=False).left_out.values())


# ---- Times of repairs ------------------------------------------------------------------------------------------------

MISSING = (*(ops.Write("zoe", "lost"), ops.Say("zoe", "naming", after=("lost",), senders_named=True)),)
ASKED = (
    *(ops.Write("zoe", "held"), ops.Receive("alice", ("held",)), ops.Wait(5)),
    ops.Say("bob", "asking", asks=("held",)),
)


@pytest.mark.parametrize(("before", "label", "buffer"), [(MISSING, "lost", 0), (ASKED, "held", 1)])
def test_time_passes_until_a_repair_is_due_by_what_is_shown_or_by_the_hash(
    before: tuple[ops.Operation, ...], label: str, buffer: int
) -> None:
    await_ = ops.Await("alice", (label,), ms=-7)
    shows = shown(*before, ops.Look("alice"), await_, ops.Tick("alice"), members=REPAIRING)
    state = next(act.step.state for act in shows.acts if act.step.command == "observe")
    assert state is not None
    (entry,) = (state.outgoing_repairs, state.incoming_repairs)[buffer].entries
    assert shows.acts[-1].step.now_ms == entry.due_ms - 7 > START_MS
    blind = shown(*(*before, await_, ops.Tick("alice")), members=REPAIRING, handle=without(pb.CAPABILITY_OBSERVE))
    assert blind.acts[-1].step.now_ms == entry.due_ms - 7


def test_the_nth_repair_is_awaited_and_no_longer_than_a_period() -> None:
    names = ("x1", "x2", "x3")
    before = (
        *(ops.Write("zoe", name) for name in names),
        ops.Say("zoe", "naming", after=names, senders_named=True),
        ops.Look("alice"),
    )

    def waited(**fields: object) -> int:
        await_ = ops.Await("alice", names).with_values(**fields)
        return shown(*before, await_, ops.Tick("alice"), members=REPAIRING).acts[-1].at_ms

    first, second, third = (waited(nth=number) for number in (1, 2, 3))
    assert 30_000 <= first < second < third <= 120_000
    assert waited(nth=3, most="t_min_ms") == 30_000


def test_where_times_are_unknown_another_period_passes_or_none() -> None:
    def hidden(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello"):
            reply.hello.capabilities.remove(pb.CAPABILITY_OBSERVE)
            reply.hello.profiles.hash = ""

    tick = ops.Tick("alice")
    await_ = ops.Await("alice", ("lost",), otherwise="t_max_ms + 1")
    group_trace = shown(*MISSING, await_, tick, members=REPAIRING, handle=reference(hidden))
    assert group_trace.acts[-1].at_ms == 120_001
    none = shown(*MISSING, ops.Await("alice", ("lost",)), tick, members=REPAIRING, handle=reference(hidden))
    assert (commands(none)[-1], none.acts[-1].at_ms) == ("alice tick", 0)
    raise_if_stopped(none)
    early = (ops.Write("zoe", "m"), ops.Await("alice", ("m",)), tick)
    group_trace = shown(*early, members=REPAIRING, handle=without(pb.CAPABILITY_OBSERVE))
    assert group_trace.acts[-1].at_ms == 0, "nothing has arrived"


def test_a_time_that_is_none_of_the_messages_is_not_awaited() -> None:
    group_trace = shown(*MISSING, ops.Await("alice", ("lost",), nth=3), ops.Tick("alice"), members=REPAIRING)
    assert "nth is 3, and the number of messages is 1" in next(iter(group_trace.left_out.values()))


def test_only_unanswered_requests_arrive() -> None:
    asking = [ops.Write("bob", f"asks-{number}", asks=(f"x{number}",)) for number in (1, 2)]
    group_trace = shown(
        *(ops.Write("zoe", name) for name in ("x1", "x2")),
        *(ops.Receive("alice", ("x1", "x2")), *asking, ops.Receive("alice", ("asks-1",)), ops.Mark("t")),
        *(ops.Repeat(2, 60), ops.Wait(5_000), ops.Tick("alice")),
        ops.Receive("alice", ("asks-1", "asks-2"), unanswered_since="t"),
        members=REPAIRING,
    )
    assert any(act.step.messages for act in group_trace.acts)
    assert [act.packet.label for act in arrivals(group_trace, "alice") if act.packet][3:] == ["asks-2"]


# ---- Parts and variants of messages ----------------------------------------------------------------------------------


def test_a_part_of_a_message_arrives() -> None:
    whole = (ops.Write("zoe", "x"), ops.Receive("alice", ("x",)))
    parts = (ops.Garble("alice", label="x", end=-3), ops.Garble("alice", label="x", percent=50))
    full, without_end, half = wires(shown(*whole, *parts, members=ALICE))
    assert (without_end, half) == (full[:-3], full[: len(full) // 2])
    assert wires(shown(ops.Garble("alice", label="never"), members=ALICE)) == []


def test_ids_resemble_that_of_a_message_and_are_not_the_same() -> None:
    twins = tuple(ops.Entry("m", twin=twin) for twin in TWINS)
    group_trace = shown(
        *(ops.Send("alice", "m"), ops.Say("zoe", "x", after=twins)),
        ops.Say("zoe", "y", id_of="m", twin="longer"),
        members=ALICE,
    )
    own = message(group_trace, "m").message_id
    named = [entry.message_id for entry in message(group_trace, "x").causal_history]
    assert len(named) == len(TWINS)
    assert {own, ""}.isdisjoint(named)
    assert named[:2] == [own[:-1], own + "0"]
    assert message(group_trace, "y").message_id == own + "0"


def test_an_id_that_would_be_the_same_is_one_that_was_never_sent() -> None:
    small = (ops.Say("zoe", "a", message_id="abc"), ops.Say("zoe", "x", after=(ops.Entry("a", twin="lower"),)))
    (entry,) = message(shown(*small, members=ALICE), "x").causal_history
    assert entry.message_id == "never-lower"


def test_filters_and_contents_have_the_size_that_is_asked_for() -> None:
    group_trace = shown(
        *(ops.Send("alice", "m"), ops.Say("zoe", "x", ones="filter_bytes - 1"), ops.Say("zoe", "y", length=3)),
        members=ALICE,
    )
    own = message(group_trace, "m").bloom_filter
    assert own is not None
    assert message(group_trace, "x").bloom_filter == b"\xff" * (len(own) - 1)
    assert message(group_trace, "y").content == bytes(3)


def test_hints_may_be_empty_and_are_left_out_where_there_can_be_none() -> None:
    receive = (ops.Write("zoe", "x"), ops.Receive("alice", ("x",), empty=("hint",)))

    def hinted(group_trace: GroupTrace) -> bool:
        return arrivals(group_trace, "alice")[0].step.request.receive.HasField("retrieval_hint")

    assert hinted(shown(*receive, members=ALICE))
    assert not hinted(shown(*receive, members=ALICE, handle=without(pb.CAPABILITY_RETRIEVAL_HINTS)))


def test_an_ephemeral_message_without_content_may_be_refused() -> None:
    def refuses(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("send_ephemeral"):
            reply.rejected.reason = "nothing to send"

    empty = ops.Ephemeral("alice", empty=("content",), may_be_refused=True)
    group_trace = shown(empty, members=ALICE, handle=reference(refuses))
    assert (commands(group_trace), group_trace.left_out) == (["alice send_ephemeral"], {})
    assert group_trace.acts[-1].step.request.send_ephemeral.content == b""


# ---- Codec -----------------------------------------------------------------------------------------------------------


def codec_steps(group_trace: GroupTrace, command: str) -> list[pb.Request]:
    return [step.request for step in group_trace.traces[0].steps if step.command == command]


def test_the_codec_builds_a_filter_and_is_asked_for_ids() -> None:
    group_trace = shown(ops.BuildFilter(("a", "b"), ("a", "c")), members=ALICE)
    (built,) = codec_steps(group_trace, "build_filter")
    (query,) = codec_steps(group_trace, "query_filter")
    assert list(built.build_filter.message_ids) == ["a", "b"]
    assert list(query.query_filter.message_ids) == ["a", "c"]


def test_the_codec_fills_a_filter_of_the_size_of_a_participant() -> None:
    def unreadable(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello"):
            reply.hello.profiles.bloom = "its-own"

    members = (Member("alice", configuration=(("bloom_capacity", 50),)),)
    fill = ops.BuildFilter(who="alice", times=3, strangers=4)
    group_trace = shown(fill, members=members, handle=reference(unreadable))
    (built,) = codec_steps(group_trace, "build_filter")
    (query,) = codec_steps(group_trace, "query_filter")
    assert len(built.build_filter.message_ids) == 150
    newest, strangers = list(query.query_filter.message_ids)[:-4], list(query.query_filter.message_ids)[-4:]
    assert newest == [f"bob-{number}" for number in range(146, 151)]
    assert not set(strangers) & set(built.build_filter.message_ids)
    assert codec_steps(shown(fill, members=members), "query_filter") == []


def test_the_codec_is_asked_for_the_times_of_a_repair() -> None:
    question = ops.RepairTimes("ann", "ben", "m", num_response_groups=3)
    (asked,) = codec_steps(shown(question, members=ALICE), "repair_times")
    times = asked.repair_times
    assert (times.participant_id, times.sender_id, times.message_id) == ("ann", "ben", "m")
    assert (times.num_response_groups, times.t_min_ms, times.t_max_ms) == (3, 30_000, 120_000)


@pytest.mark.parametrize(
    ("name", "handle", "value"),
    [
        ("filters_are_known", reference(), 1),
        ("repairs_are_shown", reference(), 1),
        ("repairs_are_shown", without(pb.CAPABILITY_OBSERVE), 0),
    ],
)
def test_names_tell_what_an_implementation_shows(name: str, handle: object, value: int) -> None:
    looks = (ops.Look("alice"), ops.Tick("alice", when=f"{name} == {value}"))
    assert commands(shown(*looks, members=REPAIRING, handle=handle))[-1:] == ["alice tick"]  # type: ignore[arg-type]
