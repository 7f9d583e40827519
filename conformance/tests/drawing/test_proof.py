"""Text of proofs and stories: the facts, and names that are the same everywhere."""

from __future__ import annotations

from diagrams import CAUSES, NOT_BOB, arrival, crowd, impatient, parsed, texts, unordered
from player_helpers import message, reference, shown
from sds_conformance.drawing import proof as module
from sds_conformance.drawing.names import MessageNames
from sds_conformance.drawing.proof import proof, story
from sds_conformance.drawing.spacetime import spacetime_svg
from sds_harness.sds import operations as ops
from sds_harness.sds.operations import Member, Route
from sds_harness.stage import START_MS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message, encode


def test_a_proof_begins_with_the_cause_that_was_not_waited_for() -> None:
    show, act = unordered()
    expected = f"{message(show, 'm1').message_id!r} delivered before {message(show, 'm2').message_id!r}, which names it"
    lines = proof(show, act, expected, "after it")
    assert lines[0] == (
        f"m2 was delivered at bob (step {act.number}) before m1, although m2's causal history names m1, "
        "which bob never delivered:"
    )
    assert lines[1:3] == ["expected: m1 delivered before m2, which names it", "seen: after it"]
    first, second = lines[3:]
    assert first.startswith("- m1: sent by alice at T, step 4 (Lamport timestamp T")
    assert "lost on the way to bob" in first
    assert "arrived at carol T (step 5)" in first
    assert second.startswith("- m2: sent by carol at T+10")
    assert "after m1" in second
    assert f"delivered at alice T+10 (step 7), bob T+10 (step {act.number})" in second


def test_a_cause_that_was_delivered_in_time_is_no_reproach() -> None:
    show = shown(ops.Send("alice", "m1"), ops.Send("carol", "m2"), handle=reference(impatient))
    act = arrival(show, "bob", 1)
    assert proof(show, act, "", "")[0] == f"step {act.number}, at T: bob receives m2, delivers m2"


def test_a_proof_tells_of_acknowledgements_copies_and_messages_that_wait() -> None:
    show = shown(*CAUSES, ops.Wait(30_000), ops.Tick("carol"), ops.Sync("alice"))
    act = show.acts[-1]
    lines = proof(show, act, f"something of {message(show, 'm1').message_id!r}", repr(message(show, "m2").message_id))
    assert "acknowledged at alice" in lines[3]
    assert "sent again by carol at T+30010" in lines[4]
    assert "never delivered at bob" in lines[4]


def test_a_proof_tells_of_a_message_that_nobody_sent() -> None:
    show = shown(ops.Say("eve", "x1", after=("zz",)))
    lines = proof(show, arrival(show, "bob"), "'never-zz' to be missing", "")
    assert lines[-1] == "- zz: never sent by anybody, but named by eve"


def test_a_proof_tells_why_a_copy_did_not_arrive() -> None:
    show = shown(
        ops.Cut(("alice",), ("bob",)),
        ops.Send("alice", "m1", route=Route(lost=("carol",))),
        ops.Heal(),
        ops.Send("alice", "m2", route=Route(late=(("bob", 50),))),
        ops.Crash("bob"),
        ops.Wait(100),
    )
    act = next(act for act in show.acts if act.step.command == "send")
    ids = f"{message(show, 'm1').message_id!r} {message(show, 'm2').message_id!r}"
    lines = proof(show, act, ids, "")
    assert "cut off from bob" in lines[2]
    assert "lost on the way to carol" in lines[2]
    assert "too late for bob: crashed" in lines[3]


def test_a_story_goes_operation_by_operation_with_the_blame_marked() -> None:
    show, act = unordered()
    lines = story(show, act)
    assert lines == [
        "  T         alice, bob, carol join",
        "  T         alice sends m1",
        "              carol receives m1, delivers m1",
        "              bob loses m1",
        "  T         10 ms pass",
        "  T+10      carol sends m2 (after m1)",
        "              alice receives m2, m1 acknowledged, delivers m2",
        f">             bob receives m2, misses m1, delivers m2  <- step {act.number}",
        "  T+10      everybody shows the state",
    ]


def test_a_story_tells_all_kinds_of_operations() -> None:
    show = shown(
        ops.Cut(("alice",), ("bob",)),
        ops.Ephemeral("alice"),
        ops.Heal(),
        ops.Links(loss_percent=100, sender="carol"),
        ops.Sync("carol"),
        ops.StepClock("bob", -5),
        ops.Say("eve", "x1", after=("zz",)),
        ops.Again("x1", "bob"),
        ops.Garble("bob", "00ff"),
        ops.Join("dora"),
        ops.Crash("bob"),
        ops.Lookup("alice"),
        ops.Calm(rounds=3),
        members=(Member("alice"), Member("bob"), Member("carol"), Member("dora", late=True)),
    )
    told = "\n".join(story(show))
    for words in (
        "network cut: alice ⇹ bob",
        "alice sends an ephemeral message (e1)",
        "bob loses e1 (the network is cut)",
        "the network heals",
        "links from carol: 100 % lost",
        "alice, bob lose s1",
        "the clock of bob is set by -5 ms",
        "eve, a scripted peer, says content x1 of eve",
        "bob receives x1, which waits, misses zz",
        "the network brings bob a copy of x1",
        "2 bytes arrive at bob: 00ff",
        "bob receives b1, refuses: ",
        "dora joins",
        "bob crashes",
        "alice retrieves missing messages from a store",
        "calm: the network heals",
    ):
        assert words in told


def test_what_is_sent_beyond_a_few_is_counted_and_what_the_finding_names_is_told() -> None:
    def floods(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("send"):
            for number in range(20):
                extra = Message("eve", f"x-{number:02}", "c1", START_MS + number, content=b"x")
                reply.effects.broadcasts.append(encode(extra))

    show = shown(ops.Send("alice", "m1"), handle=reference(floods))
    act = next(act for act in show.acts if act.step.command == "send")
    told = "\n".join(story(show, act, "one broadcast, and not 'x-19'"))
    (named,) = MessageNames(show).find_quoted("'x-19'", "c1")
    assert f"alice sends m1, sends c1, c2, c3, c4, c5, {MessageNames(show).name_of(named)} and 14 more" in told


def test_a_story_shows_the_request_in_a_copy_and_the_step_that_the_finding_names() -> None:
    show = shown(
        ops.Send("alice", "m1"),
        ops.Say("eve", "x1"),
        *(ops.Sync("carol"),) * 4,
        ops.Say("eve", "x2", asks=("m1",), content=None, to="bob"),
        ops.Tick("bob"),
    )
    request = next(act for act in show.acts if act.packet is not None and act.packet.label == "x2")
    act = show.acts[-1]
    about = f"{message(show, 'm1').message_id!r} sent again after the request of step {request.number}"
    lines = story(show, act, about)
    assert f"              bob receives x2 (asks for m1)  <- step {request.number}" in lines
    assert [line for line in lines if line.startswith(">")] == [
        f"> T         bob does periodic work  <- step {act.number}"
    ]


def test_a_story_shows_the_logs_of_a_finding_in_their_order() -> None:
    show = shown(ops.Send("alice", "m1"), ops.Send("carol", "m2"), ops.Look())
    act = show.acts[-1]
    first, second = (repr(message(show, name).message_id) for name in ("m1", "m2"))
    lines = story(show, act, f"{second} before {first} in the log of carol, as in that of alice")
    assert f">             carol shows its state, the log is m1, then m2  <- step {act.number}" in lines
    assert "              alice shows its state, the log is m1, then m2" in lines


def test_malformed_bytes_are_told_in_hex() -> None:
    lines = story(shown(ops.Garble("bob", "80"), ops.Garble("bob", "ff" * 70)))
    assert "  T         1 byte arrives at bob: 80" in lines
    assert any("70 bytes arrive at bob: ffffffff " in line and line.endswith("... and 6 more bytes") for line in lines)


def test_whoever_answers_for_an_own_message_repairs_it() -> None:
    repairing = (("sds_r", True), ("t_min_ms", 1_000), ("t_max_ms", 3_000), ("num_response_groups", 1))
    steps = (
        ops.Send("alice", "m1", route=NOT_BOB),
        ops.Send("carol", "m2"),
        ops.Wait(5_000),
        ops.Sync("bob"),
        ops.Tick("alice"),
    )
    asked = "\n".join(story(shown(*steps, configuration=repairing)))
    assert "repairs m1" in asked
    assert "resends m1" not in asked
    unasked = "\n".join(story(shown(steps[0], ops.Wait(40_000), ops.Tick("alice"))))
    assert "resends m1" in unasked
    assert "repairs m1" not in unasked


def test_a_long_story_is_told_around_the_blame() -> None:
    show = crowd()
    act = show.acts[600]
    lines = story(show, act)
    assert len(lines) <= module.MOST_LINES + 2
    assert sum(line.startswith(">") for line in lines) == 1


def test_names_are_the_same_in_proof_story_and_diagram() -> None:
    show = shown(ops.Send("alice", "m1", route=NOT_BOB), ops.Sync("carol"), ops.Ephemeral("bob"), ops.Sync("carol"))
    act = arrival(show, "bob")
    sync = act.packet.wire.message if act.packet is not None else None
    assert sync is not None
    written = " ".join(texts(parsed(spacetime_svg(show, act))))
    told = "\n".join([*story(show, act), *proof(show, act, repr(sync.message_id), "")])
    for name in ("m1", "s1", "e1"):
        assert name in written
        assert name in told
    assert "- s1: sync, sent by carol" in told
    assert sync.message_id not in told


def test_times_and_lists_are_put_in_words() -> None:
    show = shown(ops.Send("alice", "m1"), ops.Send("alice", "m2"))
    ids = [message(show, label).message_id for label in ("m1", "m2")]
    assert MessageNames(show).replace_ids(f"{ids} at {START_MS + 7}, and []") == "m1, m2 at T+7, and none"
    assert MessageNames(show).replace_ids("None") == "nothing"


def test_an_id_that_is_cut_off_is_still_known() -> None:
    show = shown(ops.Say("eve", "x" * 5000))
    text = f"expected: {message(show, 'x' * 5000).message_id!r}"[:300] + "…"
    assert MessageNames(show).replace_ids(text) == f"expected: {'x' * 20}… …"


def test_the_same_id_in_two_channels_is_two_messages() -> None:
    show = shown(ops.Say("eve", "x1"), ops.Say("eve", "x2", id_of="x1", channel=1), channels=("c1", "c2"))
    names = MessageNames(show)
    assert names.replace_ids("'eve-x1' twice", "c1") == "x1 twice"
    assert names.replace_ids("'eve-x1' twice", "c2") == "x2 twice"


def test_labels_that_look_alike_get_different_names() -> None:
    show = shown(ops.Say("eve", "x" * 30), ops.Say("eve", "x" * 31), ops.Say("eve", "s1"), ops.Sync("alice"))
    names = MessageNames(show)
    assert len({names.name_packet(packet) for packet in show.packets}) == 4


def test_two_messages_of_one_id_are_told_apart() -> None:
    show = shown(ops.Say("eve", "x1"), ops.Say("eve", "x2", id_of="x1"))
    names = MessageNames(show)
    assert [names.name_packet(packet) for packet in show.packets] == ["x1", "x2 (ID of x1)"]


def test_hostile_texts_are_cut_and_cleared() -> None:
    show = shown(ops.Say("e\x1b[31mve" * 99, "x\n" * 3000, content="\x07" * 5000))
    lines = [*story(show, show.acts[-1]), *proof(show, show.acts[-1], "y" * 9000, "\x1b[31m")]
    assert all(line.isprintable() and len(line) <= module.LONGEST_LINE + 1 for line in lines)
