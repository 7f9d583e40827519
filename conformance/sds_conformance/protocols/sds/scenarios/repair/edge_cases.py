"""SDS-R in several channels, with nearly equal IDs, in many response groups, and in unusual orders."""

from __future__ import annotations

from sds_harness.sds.operations import RepairTimes
from sds_harness.sds.script import Part, Peer, Script, entry, signed
from sds_proto.testee.v1 import testee_pb2 as pb

from ..core.channels import CHANNELS
from ..core.lookalikes import BUILT_IN, NEAR, TWINS
from ..scripts import deliver_and_settle, scenario
from .participants import T_MAX, T_MIN, open_with_repairs, repair_scenario
from .requests import lose_messages, send_both_kinds, send_in_turn
from .responses import deliver_messages, observe_responses, request_messages, request_one_by_one, wait_for_responses


@scenario("R-SWEEP-01", "R-RECV-03", "R-RECV-08", "STATE-16", long=True, violated=("R-SEND-01",))
def repairs_in_three_channels(script: Script) -> None:
    """In each of three channels a message is missing and another is requested; other channels use the same IDs."""
    alice = open_with_repairs(script, channels=CHANNELS)
    peers = [script.peer("bob", channel) for channel in CHANNELS]
    askers = [script.peer("carol", channel) for channel in CHANNELS]
    names = [f"in-{number}" for number in range(3)]
    now = script.now
    held = [peer.content(now, message_id=name) for peer, name in zip(peers, names, strict=True)]
    alice.receive(*held)
    for number, peer in enumerate(peers):
        lost = entry(names[(number + 1) % 3], sender="bob")
        alice.receive(peer.content(now + 1, lost, message_id=f"waits-{number}"))
        alice.observe(channel=peer.channel)
    for number, asker in enumerate(askers):
        alice.receive(asker.content(now + 2, requests=signed(held[number]), message_id=f"asks-{number}"))
        alice.observe(channel=asker.channel)
    for number, asker in enumerate(askers):
        other = entry(names[(number + 2) % 3], sender="bob")
        alice.receive(asker.sync(now + 3, requests=(other,)))
        for channel in CHANNELS:
            alice.observe(channel=channel)
    wait_for_responses(alice)
    for channel in CHANNELS:
        alice.send(channel=channel)
        alice.observe(channel=channel)


@scenario("R-STATE-04", long=True, violated=("STATE-16", "R-STATE-01"))
def asked_for_in_another_channel(script: Script) -> None:
    """A message of one channel and a missing message of another are requested only in the third channel."""
    alice = open_with_repairs(script, channels=CHANNELS)
    first, second, third = (script.peer("bob", channel) for channel in CHANNELS)
    held, lost = third.content(script.now), second.content(script.now)
    alice.receive(held, second.content(script.now + 1, *signed(lost)))
    alice.observe(channel=CHANNELS[1])
    alice.receive(script.peer("carol", CHANNELS[0]).content(script.now + 2, requests=signed(held, lost)))
    for channel in CHANNELS:
        alice.observe(channel=channel)
    wait_for_responses(alice)
    alice.receive(first.content(script.now))
    alice.send(channel=CHANNELS[1])
    alice.observe(channel=CHANNELS[1])


@repair_scenario("R-STATE-04", "R-RECV-09", "R-RECV-08", long=True)
def asked_for_lookalikes(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A participant gets requests for IDs similar to those of its messages, and for IDs such as `__proto__`."""
    pairs = (*NEAR, *TWINS)
    alice.receive(*[bob.content(script.now + number, message_id=known) for number, (known, _) in enumerate(pairs)])
    request_messages(carol, alice, *[bob.content(script.now, message_id=other) for _, other in pairs])
    alice.observe()
    wait_for_responses(alice)
    built_in = [bob.content(script.now, message_id=name) for name in BUILT_IN]
    alice.receive(*built_in)
    request_one_by_one(carol, alice, *built_in)
    wait_for_responses(alice)


@repair_scenario("R-STATE-01", "R-STATE-09", "R-SEND-01", "R-TREQ-01", "R-RECV-03", long=True)
def lookalikes_of_missing_messages(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages are missing; other messages with similar IDs arrive, are requested, or are missing, too."""
    for own, relation in enumerate(("comes", "asked", "missing")):
        pairs = [(f"{known}~{own}", f"{other}~{own}") for known, other in NEAR if known[:12] != other[:12]]
        pairs += [(f"message-{own}-2026-1", f"message-{own}-2026-2")]
        pairs += [(name, f"{name}_") for name in BUILT_IN] if relation == "missing" else []
        lost = [bob.content(script.now, message_id=known) for known, _ in pairs]
        twins = [bob.content(script.now, message_id=other) for _, other in pairs]
        alice.given(bob.content(script.now + 1, *signed(*lost))).observe()
        if relation == "comes":
            alice.receive(*twins)
        elif relation == "asked":
            alice.receive(carol.sync(script.now, requests=signed(*twins)))
        else:
            alice.given(bob.content(script.now + 2, *signed(*twins))).observe()
        alice.observe()
        script.advance(T_MAX)
        sought = (*lost, *twins) if relation == "missing" else lost
        send_in_turn(alice, len(sought) + 3, *sought)
        send_both_kinds(alice, 1_000)
        alice.receive_missing()


@repair_scenario("R-STATE-09", "R-SEND-01", "R-TREQ-01", long=True)
def twins_come_and_are_asked_for(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages are missing; messages with similar IDs arrive or are requested; the missing ones must be requested."""
    for comes in (True, False):
        which, number = ("came", 17) if comes else ("asked", 18)
        pairs = [*((f"{which}-{known}", f"{which}-{other}") for known, other in TWINS), (f"0{number}", f"{number}")]
        pairs += [("x" * number * 4 + last, "x" * number * 4 + other) for last, other in ("12", "34")]
        lost = [bob.content(script.now, message_id=known) for known, _ in pairs]
        twins = [bob.content(script.now, message_id=other) for _, other in pairs]
        alice.given(bob.content(script.now + 1, *signed(*lost))).observe()
        if comes:
            alice.receive(*twins)
        else:
            alice.receive(carol.sync(script.now, requests=signed(*twins)))
        script.advance(T_MAX)
        send_in_turn(alice, len(lost) + 3, *lost)
        send_both_kinds(alice, 1_000)
        alice.receive_missing()


@repair_scenario("R-RECV-03", "R-RECV-12", "R-STATE-01", long=True)
def odd_entries_that_ask(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """In a causal history and in a repair request, valid entries follow repeated entries."""
    first, second, third = deliver_messages(alice, bob, 3)
    gone = [entry(f"never-sent-{number}", sender="bob") for number in range(3)]
    known, held = signed(first)[0], signed(second, third)
    alice.given(bob.content(script.now, gone[0], gone[0], known, known, gone[1])).observe()
    alice.given(carol.content(script.now, requests=(known, gone[2], gone[2], known, *held))).observe()
    wait_for_responses(alice)
    send_both_kinds(alice, T_MAX, 1_000)


@repair_scenario("R-TREQ-01", "R-GLOBAL-09", "R-TRESP-01", long=True, violated=("R-RECV-06",))
def named_again(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """T_req and T_resp do not change when a missing message is named again and a stored message is requested again."""
    (lost,) = lose_messages(alice, bob, observe=True)
    alice.receive(carol.sync(script.now, requests=signed(lost)))
    alice.observe()
    alice.after(5_000).given(carol.content(script.now, *signed(lost))).observe()
    send_both_kinds(alice, T_MIN - 1_000, T_MAX, 1_000)
    deliver_and_settle(alice, lost)
    (held,) = deliver_messages(alice, bob, 1)
    for _ in range(2):
        request_messages(carol, alice, held)
        observe_responses(alice)
    more = [carol.content(script.now + number) for number in range(8)]
    alice.given(bob.content(script.now + 9, *signed(*more))).observe()


@repair_scenario("R-STATE-07", "R-RECV-08", "R-FIELDS-01", long=True, violated=("R-STATE-08",))
def repaired_after_detours(script: Script, alice: Part, bob: Peer, carol: Peer, erin: Peer) -> None:
    """A participant gets requests for messages that had waited, that others requested, or that arrived twice."""
    root, (lost,) = carol.content(script.now - 50), lose_messages(alice, bob)
    waited = bob.content(script.now - 40, *signed(root))
    alice.receive(waited, carol.sync(script.now, requests=signed(lost)))
    alice.after(1_000).receive(root)
    alice.settle()
    alice.receive(lost, lost, waited)
    request_one_by_one(erin, alice, waited, lost, root)
    alice.observe()
    wait_for_responses(alice)


@repair_scenario("R-STATE-07", "R-RECV-08", long=True, violated=("R-STATE-08",))
def asked_for_old_ones(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A participant gets requests for the first, the 21st and the last of sixty messages that it has."""
    messages = deliver_messages(alice, bob, 60)
    request_one_by_one(carol, alice, messages[0], messages[20], messages[-1])
    wait_for_responses(alice)


@repair_scenario("R-RECV-08", "R-SWEEP-04", long=True)
def others_go_on_before_an_answer(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """While a response is pending, others name the requested message, its requester sends, and two sweeps run."""
    (held,) = deliver_messages(alice, bob, 1)
    own = alice.send()
    alice.receive(bob.content(script.now, own))
    request_messages(carol, alice, held, own)
    alice.tick()
    alice.tick()
    alice.receive(bob.content(script.now + 5, *signed(held)), carol.sync(script.now + 6))
    alice.receive(bob.sync(script.now + 7, *signed(held)))
    for _ in range(24):
        script.advance(T_MAX // 20)
        alice.tick()
        alice.tick()
    wait_for_responses(alice)


@repair_scenario("R-SEND-04", "R-SEND-03", long=True, asked=pb.Configuration(max_repair_requests=3))
def more_is_due_than_there_is_room(script: Script, alice: Part, bob: Peer) -> None:
    """Six messages are missing, detected one after the other; when all requests are due, few messages are sent."""
    for number in range(6):
        lose_messages(alice, bob)
        script.advance(20_000 if number < 5 else 0)
    alice.observe()
    send_both_kinds(alice, T_MAX, 1_000)


GROUPS = (3, 128, 129, 130, 200, 256, 257, 300)


@scenario("R-GROUP-01", needs=(pb.CAPABILITY_REPAIR_TIMES,), long=True, violated=("R-TRESP-01",))
def response_groups_by_number(script: Script) -> None:
    """The codec computes T_resp of twelve participants for the messages of the others, with few and many groups."""
    open_with_repairs(script)
    people = [f"{name}-{number}" for name in ("ann", "ben", "zoe") for number in range(4)]
    for groups in GROUPS:
        for message in ("one", "two"):
            for own in people:
                for author in people if groups == 3 else people[:6]:
                    script.add(RepairTimes(own, author, message, groups))


@repair_scenario("R-STATE-04", "R-RECV-03", "R-RECV-08", long=True)
def repairs_of_a_channel_that_was_not_joined(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages of a channel that was not joined have the IDs of a missing and a requested message, or request messages.

    These messages change nothing.
    """
    held, unasked, lost = (bob.content(script.now + number) for number in range(3))
    elsewhere = script.peer("bob", "elsewhere")
    alice.receive(held, unasked, bob.content(script.now + 3, *signed(lost)))
    request_messages(carol, alice, held)
    alice.receive(*[elsewhere.content(script.now + 4, "unknown", message_id=f"bob-{n}") for n in (1, 3)])
    alice.receive(elsewhere.sync(script.now + 5, requests=signed(unasked, lost)))
    alice.observe()
    wait_for_responses(alice)
    send_both_kinds(alice, 1_000)
