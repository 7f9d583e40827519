"""Messages with the fields of SDS-R meet participants with the extension and without."""

from __future__ import annotations

from sds_harness.sds.peer import signed
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HistoryEntry

from ..cast import Actor, ScriptedPeer, Stage, scenario, take_in
from .repairing import repair_scenario, t_max
from .requesting import say, say_both
from .responding import wait_out


@repair_scenario("MSG-12", "MSG-08", "R-FIELDS-01", "R-FIELDS-02")
def entries_name_senders(stage: Stage, alice: Actor) -> None:
    """Messages of several senders are logged, own ones too, others are missing; what is sent then names senders."""
    bob, carol, dave = (stage.peer(name) for name in ("bob", "carol", "dave"))
    alice.given(bob.content(stage.now_ms - 9), carol.content(stage.now_ms - 8)).send()
    lost = bob.content(stage.now_ms - 5), carol.content(stage.now_ms - 4)
    # Dave reveals both gaps; neither message is his.
    alice.given(dave.content(stage.now_ms + 1, *signed(*lost))).observe()
    for _ in range(2):
        alice.send()
    stage.advance(t_max(alice))
    for _ in range(4):
        asking = say(alice.after(1_000), content=False)
        asked = [entry.message_id for entry in asking.repair_request] if asking is not None else []
        alice.receive(*[message for message in lost if message.message_id in asked] or [dave.sync(stage.now_ms)])
    alice.settle()
    alice.send()
    say(alice, content=False)


@repair_scenario("R-FIELDS-02", needs=(pb.CAPABILITY_RETRIEVAL_HINTS,))
def requests_with_hints(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """What is missing was named with retrieval hints, what is logged was, too; the requests repeat the former."""
    first, second, here = (bob.content(stage.now_ms - number) for number in (5, 4, 3))
    alice.receive(here)
    alice.receive(
        carol.content(
            stage.now_ms + 1,
            HistoryEntry(first.message_id, b"where-it-is", bob.name),
            HistoryEntry(second.message_id, b"\xff\x00\x80", bob.name),
            HistoryEntry(here.message_id, b"here", bob.name),
        )
    )
    stage.advance(t_max(alice))
    for _ in range(3):
        asking = alice.after(1_000).send()
        for message in first, second:
            if any(entry.message_id == message.message_id for entry in asking.repair_request):
                alice.receive(message)


@repair_scenario("R-STATE-01", "R-RECV-12", "R-RECV-03", long=True)
def hints_of_no_length_in_requests(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """What is missing was named with a retrieval hint of no length or with none, and so is what is asked for."""
    first, held, lost, gone = (bob.content(stage.now_ms - number) for number in (5, 4, 3, 2))
    missing = (HistoryEntry(lost.message_id, b"", bob.name), HistoryEntry(gone.message_id, None, bob.name))
    alice.given(first, held, carol.content(stage.now_ms, *missing)).observe()
    asked = (HistoryEntry(held.message_id, b"", bob.name), HistoryEntry(first.message_id, None, bob.name))
    alice.given(carol.content(stage.now_ms, requests=asked)).observe()
    say_both(alice, t_max(alice), 1_000)
    wait_out(stage, alice)


@repair_scenario("R-FIELDS-02")
def what_is_here_is_not_asked_for(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Messages depend on what is logged, own ones too, and on one that is missing; only that one is asked for."""
    first = bob.content(stage.now_ms - 5)
    own = alice.given(first).send()
    lost = bob.content(stage.now_ms - 4)
    alice.receive(carol.content(stage.now_ms + 1, *signed(first, own)))
    alice.receive(carol.content(stage.now_ms + 2, *signed(first, lost, own)))
    say_both(alice, *3 * [t_max(alice) // 2 + 1_000])


@scenario("R-FIELDS-03", "R-FIELDS-04", asked=pb.Configuration(sds_r=False))
def without_the_extension(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """A participant without SDS-R meets requests and senders in entries, and misses messages itself."""
    first = bob.content(stage.now_ms + 1)
    own = alice.given(first).send()
    lost = bob.content(stage.now_ms + 2)
    alice.receive(carol.content(stage.now_ms + 3, *signed(first)))
    alice.receive(carol.content(stage.now_ms + 4, *signed(first, own), requests=signed(first, own)))
    alice.receive(carol.content(stage.now_ms + 5, *signed(lost)))
    alice.receive(bob.content(stage.now_ms + 6, requests=[HistoryEntry("nobody-knows-this")]))
    if stage.trace.declaration.can(pb.CAPABILITY_SYNC):
        alice.receive(bob.sync(stage.now_ms + 7, *signed(lost), requests=signed(own)))
    alice.settle()
    alice.send()
    say_both(alice, 600_000, content_first=True)
    take_in(alice, lost)
