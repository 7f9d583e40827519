"""Content of a story: the steps that explain a finding, described for readers. Stored snapshots, read by eye once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from syrupy.assertion import SnapshotAssertion

from run_helpers import T, altered, entries_with_senders, open_with_repairs, reference, stage
from sds_conformance.judging.verdict import Finding, Verdict
from sds_conformance.presentation.evidence import Evidence
from sds_conformance.protocols.sds.protocol import PROTOCOL
from sds_conformance.protocols.sds.scenarios.repair.participants import T_MIN_MS
from sds_conformance.protocols.sds.words import Narrator
from sds_harness.sds.actor import Actor
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HistoryEntry


def story(on: Stage, expected: str, seen: str = "nothing", step: int = 0) -> Evidence:
    """The evidence of a finding at a step of alice, the last one by default."""
    step = step or len(on.trace.steps)
    found = Finding("SDS-X-01", "wrong", "by-hand", "plain", "alice", "c1", step, expected, seen, "", Verdict.FAIL)
    return Evidence(found, on.trace, PROTOCOL.narrator(on.trace))


def chatter(actor: Actor, count: int) -> None:
    bystander = actor.stage.peer("bystander")
    for _ in range(count):
        actor.receive(bystander.content(T))


def steps_that_the_finding_does_not_name() -> Evidence:
    on = stage()
    alice = on.open()
    chatter(alice, 10)
    late = on.peer("bob").content(T + 99)
    alice.receive(late)
    return story(on, f"{late.message_id!r} delivered")


def steps_after_a_message_that_should_have_come() -> Evidence:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    root = bob.content(T + 1)
    alice.receive(bob.content(T + 2, root))
    chatter(alice, 3)
    alice.receive(root)
    alice.tick()
    alice.tick()
    return story(on, "'bob-2' delivered", step=2)


def long_story(step: int = 32) -> Evidence:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    own = alice.send()
    for number in range(30):
        alice.receive(bob.content(T + number, own))
    return story(on, f"{own.message_id!r} once", step=step)


def timestamp_that_a_message_introduced() -> Evidence:
    on = stage()
    alice = on.open()
    chatter(alice, 3)
    alice.receive(on.peer("bob").content(T + 500))
    chatter(alice, 20)
    alice.send()
    rule = f"lamport_timestamp {T + 1} = max(now {T}, previous {T} + 1): other channels change nothing"
    return story(on, rule, str(T + 501))


def periodic_work() -> Evidence:
    on = stage()
    alice = on.open()
    alice.send(message_id="own")
    for _ in range(20):
        alice.after(90_000).tick()
    return story(on, "no copy of 'own'", "one")


def deliveries_in_their_order() -> Evidence:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    root = bob.content(T + 1, message_id="z-root")
    first = bob.content(T + 2, root, message_id="m-1")
    alice.receive(first, bob.content(T + 3, first, message_id="a-2"), root)
    return story(on, "'m-1' delivered after 'a-2'", "before it")


def bytes_that_are_no_message() -> Evidence:
    def refuses(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("receive"):
            reply.rejected.reason = "it does not split"

    on = stage(altered(refuses))
    on.open().receive(b"\x80", bytes(range(0x80, 0xC2)))
    return story(on, f"'m-{T}' and '{T}' and {2**63}", f"{T - 7} and []")


def crowded_state(expected: str = "'bob-9' in the incoming buffer") -> Evidence:
    on = stage()
    alice, bob = open_with_repairs(on), on.peer("bob")
    alice.receive(bob.content(T + 5, *(f"lost-{number}" for number in range(9))))
    for _ in range(8):
        alice.receive(bob.content(T + 9, "never"))
    alice.observe()
    return story(on, expected)


def filters() -> Evidence:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    for number in range(3):
        alice.send(message_id=f"own-{number}", content=b"x")
    for bloom_filter in (on.filter_over("own-0", "own-2"), on.filter_over("another"), b"\x00"):
        alice.receive(bob.content(T, bloom_filter=bloom_filter))
    return story(on, "'own-0' and 'own-2' possibly acknowledged")


def buffers_of_repairs() -> Evidence:
    def fixes_times(request: pb.Request, reply: pb.Reply) -> None:
        for entry in reply.state.outgoing_repairs.entries if reply.HasField("state") else ():
            entry.due_ms = T + T_MIN_MS
        for entry in reply.state.incoming_repairs.entries if reply.HasField("state") else ():
            entry.due_ms = T

    on = stage(altered(fixes_times))
    alice, bob = open_with_repairs(on), on.peer("bob")
    here = bob.content(T + 1)
    alice.receive(here, bob.content(T + 3, HistoryEntry("lost", None, "bob"), requests=entries_with_senders(here)))
    alice.observe()
    return story(on, "'lost' and 'bob-1' in the buffers of repairs")


STORIES: tuple[Callable[[], Evidence], ...] = (
    steps_that_the_finding_does_not_name,
    steps_after_a_message_that_should_have_come,
    long_story,
    timestamp_that_a_message_introduced,
    periodic_work,
    deliveries_in_their_order,
    bytes_that_are_no_message,
    crowded_state,
    filters,
    buffers_of_repairs,
)


@pytest.mark.parametrize("output", STORIES, ids=lambda output: output.__name__)
def test_a_story_shows_the_steps_that_explain_its_finding(
    output: Callable[[], Evidence], snapshot: SnapshotAssertion
) -> None:
    evidence = output()
    lines = []
    for exhibit in evidence.exhibits():
        number = exhibit.step.index if exhibit.step is not None else ""
        lines += [f"{'>' if exhibit.blamed else ' '} {number:<3} {exhibit.text}"]
        lines += [f"        {effect}" for effect in exhibit.effects]
    lines += [f"Expected {evidence.expected}", f"Seen {evidence.seen} {evidence.difference}".rstrip()]
    assert "\n".join(lines) == snapshot


def test_hostile_names_are_cleaned() -> None:
    def hostile(request: pb.Request, reply: pb.Reply) -> None:
        if reply.effects.message_id:
            reply.effects.message_id = "\x1b[31mred\x07"

    on = stage(altered(hostile, reference()))
    on.open("ali\x1b[31mce").send()
    narrator = Narrator(on.trace)
    assert all(narrator.done(step).isprintable() for step in on.trace.steps)
