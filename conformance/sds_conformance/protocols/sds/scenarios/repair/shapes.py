"""Messages of all shapes reveal missing messages, and request others."""

from __future__ import annotations

from sds_harness.sds.script import Part, Peer, Script, entry, signed

from ..core.shapes import list_ages, list_shapes
from .participants import T_MAX, repair_scenario
from .requests import send_both_kinds, send_in_turn
from .responses import deliver_messages, observe_responses, request_one_by_one


@repair_scenario("R-RECV-03", "R-STATE-01", "R-STATE-09", "R-SEND-01", long=True)
def messages_of_all_shapes_reveal_others(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages of many shapes each name one missing message; all missing messages must be requested."""
    shapes = list_shapes(script.now, "reveals")
    lost = [carol.content(script.now - 1) for _ in shapes]
    for missing, (at, fields) in zip(lost, shapes, strict=True):
        alice.receive(bob.content(at, *signed(missing), **fields))
    lost.append(carol.content(script.now - 1))
    alice.receive(bob.content(script.now + 8, *signed(lost[-1])), hint=b"where it is stored", optional=True)
    alice.observe()
    script.advance(T_MAX)
    send_in_turn(alice, len(lost) + 1, *lost)
    send_both_kinds(alice, 1_000)


@repair_scenario("R-RECV-08", "R-SWEEP-02", long=True)
def messages_of_all_shapes_request_others(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages of all shapes request one message each; the last one has a long causal history with repetitions."""
    shapes = list_shapes(script.now, "requests")
    *messages, hinted, last = deliver_messages(alice, carol, len(shapes) + 2)
    for requested, (at, fields) in zip(messages, shapes, strict=True):
        alice.receive(bob.content(at, requests=signed(requested), **fields))
    alice.receive(bob.content(script.now + 8, requests=signed(hinted)), hint=b"where it is stored", optional=True)
    alice.receive(bob.content(script.now + 9, *signed(*messages[:6], messages[0]), requests=signed(last)))
    observe_responses(alice)


@repair_scenario("R-RECV-08", "R-SWEEP-01", "R-SWEEP-02", "R-STATE-07", long=True)
def messages_of_all_shapes_are_requested(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages of many shapes are requested, also with hints, and with repeated or many entries in causal histories."""
    earlier = [bob.content(script.now - number) for number in range(20, 0, -1)]
    messages = [bob.content(at, **fields) for at, fields in list_shapes(script.now, "requested")]
    first = messages[0]
    messages.append(bob.content(script.now + 8, *signed(first, first)))
    messages.append(bob.content(script.now + 9, entry(first, b"where it is stored", "bob")))
    messages.append(bob.content(script.now + 10, *signed(*messages, *earlier)))
    alice.receive(*earlier, *messages)
    messages.append(bob.content(script.now + 11))
    alice.receive(messages[-1], hint=b"where it is stored", optional=True)
    alice.settle()
    request_one_by_one(carol, alice, *messages)
    observe_responses(alice)


@repair_scenario("R-RECV-13", "R-SWEEP-02", long=True)
def syncs_of_all_ages_reveal_and_request(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Sync messages with timestamps far behind and far ahead of the clock name missing messages or request messages."""
    ages = list_ages(script.now)
    messages = deliver_messages(alice, carol, len(ages))
    lost = [carol.content(script.now - 1) for _ in ages]
    for at, requested, missing in zip(ages, messages, lost, strict=True):
        alice.receive(bob.sync(at, *signed(missing)), bob.sync(at, requests=signed(requested)))
    observe_responses(alice)
    send_in_turn(alice, len(lost) + 1, *lost)
    send_both_kinds(alice, 1_000)
