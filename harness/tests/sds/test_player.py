"""The player: each participant acts and receives at the right time and from the right sender."""

from __future__ import annotations

from dataclasses import replace

import pytest

from player_helpers import NOT_CAROL, TRIO, arrivals, commands, delivered, heard, message, reference, shown, without
from sds_harness.schedules.performer import raise_if_stopped
from sds_harness.sds import operations as ops
from sds_harness.sds.encodings import ENCODINGS
from sds_harness.sds.operations import Member, Route
from sds_harness.sds.player import hint_of
from sds_harness.stage import START_MS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import UNNAMED_CHANNEL, Config, HistoryEntry, Message, build_filter, encode

# ---- Order and time --------------------------------------------------------------------------------------------------


def test_a_broadcast_reaches_the_others_in_order_before_the_next_operation_begins() -> None:
    show = shown(ops.Send("bob", "m1"), ops.Sync("alice"), ops.Tick("carol"), ops.Ephemeral("carol"), ops.Look("bob"))
    assert commands(show) == [
        *("bob send", "alice receive", "carol receive"),
        *("alice send_sync", "bob receive", "carol receive"),
        "carol tick",
        *("carol send_ephemeral", "alice receive", "bob receive"),
        "bob observe",
    ]
    assert [act.number for act in show.acts] == list(range(1, len(show.acts) + 1))
    assert [act.operation for act in show.acts] == [-1, -1, -1, 0, 0, 0, 1, 1, 1, 2, 3, 3, 3, 4]
    assert [packet.label for packet in show.packets] == ["m1", "", ""]
    assert delivered(show, "alice") == ["m1", ""]
    assert {act.source for act in show.acts} == {"network"}
    assert (show.breakdown, show.left_out, show.losses, show.storm) == (None, {}, [], False)


def test_a_message_is_of_its_channel_and_has_the_content_it_is_given() -> None:
    show = shown(
        *(ops.Send("alice", "m1"), ops.Send("alice", "m2", channel=1, content="hi"), ops.Send("bob", "m3", raw="00ff")),
        ops.Look("carol"),
        channels=("c1", "c2"),
    )
    messages = [message(show, label) for label in ("m1", "m2", "m3")]
    assert [one.channel_id for one in messages] == ["c1", "c2", "c1"]
    assert [one.content for one in messages] == [b"content m1 of alice", b"hi", b"\x00\xff"]
    looks = [act.step.request.observe for act in show.acts if act.step.command == "observe"]
    ids = [one.message_id for one in messages]
    assert [(look.channel_id, list(look.filter_ids)) for look in looks] == [("c1", ids[::2]), ("c2", ids[1:2])]


def test_every_step_of_a_trace_is_an_act_and_can_be_looked_up() -> None:
    show = shown(ops.Send("bob", "m1"), ops.Look())
    (trace,) = show.traces
    assert [act.step for act in show.acts] == trace.steps
    assert show.act_of(trace, 5) is show.acts[4]
    assert show.act_of(trace, 99) is None
    assert show.steps == len(trace.steps) == 9
    assert list(show.parties) == ["alice", "bob", "carol"]


def test_time_passes_and_what_is_under_way_arrives_when_it_is_due() -> None:
    show = shown(
        ops.Links(delay_ms=(40, 40)), ops.Send("alice", "m1"), ops.Wait(30), ops.Send("bob", "m2"), ops.Wait(100)
    )
    assert [act.at_ms for act in arrivals(show, "carol")] == [40, 70]
    assert [act.step.now_ms - START_MS for act in arrivals(show, "carol")] == [40, 70]
    assert show.began == {0: 0, 1: 0, 2: 0, 3: 30, 4: 30}
    assert [act.operation for act in arrivals(show, "carol")] == [4, 4]
    still_under_way = shown(ops.Links(delay_ms=(40, 40)), ops.Send("alice", "m1"), ops.Wait(39))
    assert commands(still_under_way) == ["alice send"]


def test_late_routes_turn_the_order_of_arrival_round() -> None:
    show = shown(
        *(ops.Send("alice", f"m{n}", route=Route(late=(("bob", 40 - 10 * n),))) for n in (1, 2, 3)), ops.Wait(100)
    )
    assert heard(show, "bob") == ["m3", "m2", "m1"]
    assert [act.at_ms for act in arrivals(show, "bob")] == [10, 20, 30]
    assert heard(show, "carol") == delivered(show, "carol") == delivered(show, "bob") == ["m1", "m2", "m3"]


def test_a_route_is_for_whatever_an_operation_broadcasts() -> None:
    show = shown(
        ops.Sync("alice", route=NOT_CAROL),
        ops.Ephemeral("alice", route=NOT_CAROL),
        ops.Say("xavier", "x1", route=NOT_CAROL),
        ops.Send("alice", "m1", route=Route(lost=("bob", "carol"))),
        ops.Wait(40_000),
        ops.Tick(route=NOT_CAROL),
    )
    assert [act.operation for act in arrivals(show, "bob")] == [0, 1, 2, 5]
    assert delivered(show, "bob")[-1] == "m1"
    assert heard(show, "carol") == []


def test_what_the_network_loses_is_told() -> None:
    show = shown(ops.Cut(("alice",), ("bob",)), ops.Send("alice", "m1", route=NOT_CAROL), ops.Wait(5))
    assert [(loss.packet.label, loss.listener, loss.why) for loss in show.losses] == [
        ("m1", "bob", "cut"),
        ("m1", "carol", "lost"),
    ]
    assert commands(show) == ["alice send"]


def test_clocks_that_are_off_or_stepped_are_those_of_one_participant() -> None:
    show = shown(
        ops.Tick(),
        ops.Wait(100),
        ops.StepClock("carol", -70),
        ops.StepClock("carol", 20),
        ops.Send("alice", "m1"),
        members=(Member("alice", clock_ms=500), Member("bob", clock_ms=-500), Member("carol")),
    )
    times = {name: [act.step.now_ms - START_MS for act in show.acts if act.who == name] for name in show.cast}
    assert times == {"alice": [500, 500, 600], "bob": [-500, -500, -400], "carol": [0, 0, 50]}
    assert [act.at_ms for act in show.acts] == [0] * 6 + [100] * 3


def test_no_clock_is_stepped_back_beyond_the_first_millisecond() -> None:
    far = -1_000_000_000_000
    show = shown(ops.StepClock("bob", far), ops.StepClock("bob", far), ops.Tick("bob"), ops.Send("bob", "m1"))
    assert [act.step.now_ms for act in show.acts if act.who == "bob"] == [START_MS, 1, 1]
    assert heard(show, "alice") == ["m1"]


# ---- Participants ----------------------------------------------------------------------------------------------------


def test_a_late_participant_hears_nothing_of_what_was_said_before_it_joined() -> None:
    show = shown(
        ops.Send("alice", "m1", route=Route(late=(("carol", 50),))),
        ops.Send("carol", "never"),
        ops.Wait(10),
        ops.Join("carol"),
        ops.Join("carol"),
        ops.Send("bob", "m2"),
        ops.Wait(100),
        members=(*TRIO[:2], Member("carol", late=True)),
    )
    assert [(act.step.command, act.at_ms) for act in show.acts if act.who == "carol"] == [("open", 10), ("receive", 10)]
    assert heard(show, "carol") == ["m2"]
    assert show.parties["carol"].opened_ms == START_MS + 10
    assert list(show.labels) == ["m1", "m2"]


def test_whoever_crashed_does_and_hears_nothing_more_and_does_not_come_back() -> None:
    show = shown(
        ops.Send("alice", "m1", route=Route(late=(("bob", 50),))),
        ops.Crash("bob"),
        ops.Crash("bob"),
        ops.Send("bob", "never"),
        ops.Tick(),
        ops.Join("bob"),
        ops.Say("xavier", "x1"),
        ops.Garble("bob", "00"),
        ops.Again("m1", "bob"),
        ops.Wait(100),
    )
    assert commands(show, "bob") == []
    assert show.crashed == {"bob": 1}
    assert [(loss.packet.label, loss.listener, loss.at_ms, loss.why) for loss in show.losses] == [
        ("m1", "bob", 50, "crashed")
    ]
    assert heard(show, "carol") == ["m1", "x1"]


def test_participants_are_configured_as_the_schedule_asks_with_exceptions_for_sds_r() -> None:
    show = shown(
        members=(Member("alice"), Member("bob", sds_r=False)),
        configuration=(("causal_history_size", 7), ("sds_r", True)),
        channels=("c1", "c2"),
    )
    forces = {name: party.in_force for name, party in show.parties.items()}
    assert [(force.causal_history_size, force.sds_r) for force in forces.values()] == [(7, True), (7, False)]
    assert {party.channels for party in show.parties.values()} == {("c1", "c2")}


# ---- Stores, copies, scripted peers ----------------------------------------------------------------------------------


def test_a_lookup_fetches_what_is_missing_through_all_dependencies() -> None:
    missed = [ops.Send("alice", f"m{n}", route=NOT_CAROL) for n in (1, 2, 3)]
    show = shown(
        *missed,
        ops.Send("bob", "m4"),
        ops.Lookup("bob"),
        ops.Lookup("carol"),
        ops.Lookup("carol"),
        configuration=(("causal_history_size", 1),),
    )
    assert [(act.packet.label if act.packet else "", act.source, act.operation) for act in arrivals(show, "carol")] == [
        ("m4", "network", 3),
        *((label, "store", 5) for label in ("m3", "m2", "m1")),
    ]
    assert delivered(show, "carol") == ["m1", "m2", "m3", "m4"]
    assert heard(show, "bob") == ["m1", "m2", "m3"]


def test_no_store_has_what_was_never_sent() -> None:
    show = shown(ops.Say("xavier", "x1", after=("never", "m1")), ops.Send("alice", "m1", route=NOT_CAROL), ops.Lookup())
    # x1 depends on a message that was never sent, and not on the one that was sent later with that label.
    assert message(show, "x1").causal_history == (HistoryEntry("never-never"), HistoryEntry("never-m1"))
    assert [act.source for act in show.acts] == ["network"] * len(show.acts)
    assert heard(show, "carol") == ["x1"]


def test_a_copy_comes_out_of_the_blue_and_may_ask_for_something() -> None:
    show = shown(
        ops.Send("alice", "m1"),
        ops.Send("alice", "m2", route=NOT_CAROL),
        ops.Cut(("alice",), ("bob",)),
        ops.Again("m2", "carol"),
        ops.Again("m2", "bob", asks=("m1", "never")),
        ops.Again("never", "bob"),
        members=(*TRIO, Member("dave", late=True)),
    )
    assert [(act.packet, act.source) for act in show.acts[-2:]] == [(show.labels["m2"], "again")] * 2
    assert [act.who for act in show.acts[-2:]] == ["carol", "bob"]
    original, copy = message(show, "m2"), show.acts[-1].step.received.message
    asked = (HistoryEntry(message(show, "m1").message_id, None, "alice"), HistoryEntry("never-never", None, "nobody"))
    assert copy == replace(original, repair_request=asked)
    assert show.acts[-2].step.received.message == original
    assert delivered(show, "carol") == ["m1", "m2"]


def test_a_scripted_peer_says_whatever_it_is_told_to() -> None:
    show = shown(
        ops.Send("alice", "m1"),
        ops.Wait(100),
        ops.Say("xavier", "x1", lamport_ms=-30, after=("m1", "x0"), hint=True, senders_named=True, asks=("m1",)),
        ops.Say("xavier", "x2", lamport_ms=None, content=None, filter=("m1",), to="bob", channel=1),
        ops.Say("xavier", "x3", lamport_ms=1 << 64, id_of="m1", poses_as="alice", raw_filter="00ff", raw="7f"),
        ops.Say("xavier", "x4", lamport_ms=-(10**13), id_of="never", content="hi", filter=()),
        channels=("c1", "c2"),
    )
    first = message(show, "m1").message_id
    m1, x0 = HistoryEntry(first, hint_of("m1"), "alice"), HistoryEntry("never-x0", hint_of("x0"), "nobody")
    size = Config().bloom_profile, Config().bloom_parameters
    now = START_MS + 100
    asked = (replace(m1, retrieval_hint=None),)
    said = [
        Message("xavier", "xavier-x1", "c1", now - 30, (m1, x0), None, asked, b"content x1 of xavier"),
        Message("xavier", "xavier-x2", "c2", None, (), build_filter(*size, [first])),
        Message("alice", first, "c1", (1 << 64) - 1, (), b"\x00\xff", (), b"\x7f"),
        Message("xavier", "never-never", "c1", 0, (), build_filter(*size, []), (), b"hi"),
    ]
    assert [message(show, label) for label in ("x1", "x2", "x3", "x4")] == said
    assert {(packet.sender, packet.act) for packet in show.packets[1:]} == {("xavier", 0)}
    assert heard(show, "bob") == ["m1", "x1", "x2", "x3", "x4"]
    assert heard(show, "carol") == ["m1", "x1", "x3", "x4"]


def test_what_has_no_length_and_what_has_an_id_that_was_given() -> None:
    show = shown(
        ops.Send("alice", "m0", empty=("content",)),
        ops.Send("alice", "m1", message_id="given\0", hint=True, empty=("hint",)),
        ops.Send("alice", "m2", hint=True),
        ops.Say(
            "xavier", "x1", after=("m1", "m2"), hint=True, message_id="x" * 1_000, empty=("sender", "hints", "filter")
        ),
        ops.Say("xavier", "x2", after=("m1",), filter=("m1",), empty=("sender",)),
    )
    m1, m2, x1, x2 = (message(show, label) for label in ("m1", "m2", "x1", "x2"))
    assert "m0" not in show.labels, "content of no length is none"
    assert m1.message_id == "given\0"
    assert m2.causal_history == (HistoryEntry("given\0", b""),)
    assert (x1.message_id, x1.sender_id, x1.bloom_filter) == ("x" * 1_000, "", b"")
    assert x1.causal_history == (HistoryEntry("given\0", b""), HistoryEntry(m2.message_id, b""))
    assert (x2.sender_id, x2.causal_history) == ("", (HistoryEntry("given\0"),))
    assert x2.bloom_filter


def test_a_scripted_peer_writes_the_same_in_other_ways() -> None:
    show = shown(ops.Send("alice", "m1"), *(ops.Say("xavier", "x1", after=("m1",), encoding=way) for way in ENCODINGS))
    usual, *others = [packet.wire for packet in show.packets[1:]]
    assert {usual.message} == {wire.message for wire in others}
    assert len({usual.raw, *(wire.raw for wire in others)}) == len(ENCODINGS)
    assert encode(message(show, "x1")) == usual.raw
    assert delivered(show, "bob") == ["m1", "x1"]


def test_an_ephemeral_message_says_what_it_is_told_to() -> None:
    show = shown(ops.Ephemeral("alice"), ops.Ephemeral("alice", raw="00ff"))
    messages = [packet.wire.message for packet in show.packets]
    assert [one.content for one in messages if one is not None] == [b"typing", b"\x00\xff"]


def test_without_a_channel_all_use_the_one_without_a_name() -> None:
    show = shown(ops.Send("alice", "m1"), ops.Say("xavier", "x1", after=("m1",)), ops.Calm(rounds=9), channels=())
    assert {party.channels for party in show.parties.values()} == {(UNNAMED_CHANNEL,)}
    assert delivered(show, "bob") == ["m1", "x1"]
    assert "send_sync" in commands(show, "bob")


def test_what_is_garbled_arrives_as_it_is_at_one_participant() -> None:
    show = shown(
        ops.Garble("bob", "0aff"), ops.Garble("carol", encode(Message("zoe", "z1", "c1", 1, content=b"z")).hex())
    )
    assert commands(show) == ["bob receive", "carol receive"]
    assert show.acts[-2].step.request.receive.wire == b"\x0a\xff"
    assert show.acts[-2].step.answer == "rejected"
    assert [event.message_id for event in show.acts[-1].step.events] == ["z1"]


def test_several_messages_at_once_have_labels_of_their_own() -> None:
    show = shown(ops.Send("alice", "m", times=3))
    assert heard(show, "bob") == ["m.1", "m.2", "m"]
    assert len({message(show, label).message_id for label in show.labels}) == 3


def test_a_label_is_that_of_the_first_message_that_was_sent_with_it() -> None:
    show = shown(ops.Send("alice", "m1"), ops.Send("bob", "m1"), ops.Again("m1", "carol"))
    assert message(show, "m1").sender_id == "alice"
    assert show.acts[-1].packet is show.packets[0]


@pytest.mark.parametrize("place", [0, 1])
def test_of_what_a_step_broadcasts_the_requested_message_has_the_label(place: int) -> None:
    def chatter(request: pb.Request, reply: pb.Reply) -> None:
        if request.WhichOneof("command") == "send":
            other = encode(Message("alice", "more", "c1", START_MS, content=b"more"))
            broadcasts = [*reply.effects.broadcasts]
            broadcasts.insert(place, other)
            reply.effects.ClearField("broadcasts")
            reply.effects.broadcasts.extend(broadcasts)

    show = shown(ops.Send("alice", "m1"), handle=reference(chatter))
    assert heard(show, "bob") == (["", "m1"] if place == 0 else ["m1", ""])
    assert [act.number for act in show.acts if act.step.broadcasts] == [packet.act for packet in show.packets[:1]]


# ---- Scenarios -------------------------------------------------------------------------------------------------------

ALICE = (Member("alice"),)


def test_a_scenario_is_not_stopped_by_a_period_that_nobody_tells() -> None:
    def untold(request: pb.Request, reply: pb.Reply) -> None:
        if request.WhichOneof("command") == "open":
            reply.opened.configuration.ClearField("t_min_ms")

    show = shown(ops.Wait(0, "t_min_ms // 2"), ops.Tick("alice"), members=ALICE, handle=reference(untold))
    assert "does not tell its t_min_ms" in show.left_out[0]
    raise_if_stopped(show)


def test_content_goes_out_in_place_of_a_sync_message_where_there_are_none() -> None:
    sync = ops.Sync("alice", label="m1", or_content=True)
    assert commands(shown(sync, members=ALICE)) == ["alice send_sync"]
    show = shown(sync, members=ALICE, handle=without(pb.CAPABILITY_SYNC))
    assert commands(show) == ["alice send"]
    assert message(show, "m1").content == b"message 1 of alice"


def test_settling_for_a_message_that_was_delivered_takes_no_time() -> None:
    root, after = ops.Write("zoe", "m1"), ops.Write("zoe", "m2", after=("m1",))
    settle = ops.Settle("alice", undelivered="m2")
    told = shown(root, after, ops.Receive("alice", ("m1", "m2")), settle, members=ALICE)
    assert commands(told) == ["alice receive", "alice receive"]
    waiting = shown(root, after, ops.Receive("alice", ("m2",)), settle, members=ALICE)
    assert commands(waiting) == ["alice receive", "alice tick", "alice tick"]
    blind = without(pb.CAPABILITY_DELIVERED)
    assert commands(shown(root, after, ops.Receive("alice", ("m2",)), settle, members=ALICE, handle=blind)) == [
        "alice receive"
    ]


def limited(request: pb.Request, reply: pb.Reply) -> None:
    """Declares a limit."""
    if reply.HasField("hello"):
        reply.hello.limits.log_entries = 7


@pytest.mark.parametrize(
    ("when", "played"),
    [
        ("log_entries == 7", True),
        ("log_entries > 7", False),
        ("waiting_messages > 1000000", True),
        ("max_lamport > 4294967295", True),
        ("now_ms - start_ms == 50", True),
        ("causal_history_size > 100", False),
    ],
)
def test_an_operation_is_played_only_if_its_condition_holds(when: str, *, played: bool) -> None:
    show = shown(ops.Wait(50), ops.Tick("bob", when=when), ops.Tick("carol"), handle=reference(limited))
    assert commands(show) == [*(["bob tick"] if played else []), "carol tick"]
    assert (1 in show.began, show.left_out) == (played, {})


def test_a_timestamp_is_an_expression() -> None:
    largest = ops.Say("xavier", "x1", lamport="min(max_lamport, 99) + 1", to="bob")
    show = shown(largest, ops.Say("xavier", "x2", lamport=5, to="bob"))
    assert [message(show, label).lamport_timestamp for label in ("x1", "x2")] == [100, 5]


def refuses(request: pb.Request, reply: pb.Reply) -> None:
    """Refuses to send."""
    if reply.HasField("effects") and request.HasField("send"):
        reply.rejected.reason = "the clock is at its end"


def test_a_message_that_may_be_refused_is_not_left_out() -> None:
    tick = ops.Tick("bob")
    tolerant = shown(ops.Send("alice", "m", may_be_refused=True), tick, handle=reference(refuses))
    assert (commands(tolerant), tolerant.left_out) == (["alice send", "bob tick"], {})
    strict = shown(ops.Send("alice", "m"), tick, handle=reference(refuses))
    assert commands(strict) == commands(tolerant)
    assert "the clock is at its end" in strict.left_out[0]


def test_a_condition_is_about_the_configuration_of_a_participant_that_was_opened() -> None:
    members = (Member("alice", configuration=(("t_max_ms", 300_000), ("t_min_ms", 60_000))),)

    def show(condition: str) -> str:
        return shown(ops.Require(condition=condition, reason="too long"), ops.Tick(), members=members).ended

    assert show("t_max_ms == 300000") == ""
    assert show("t_max_ms <= 60000") == "too long"
    both = ops.Require(("no-such",), "t_max_ms <= 60000")
    assert shown(both, members=members).ended == "needs the capability no-such"
