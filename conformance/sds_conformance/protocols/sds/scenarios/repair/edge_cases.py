"""SDS-R in several channels, with IDs that are nearly the same, in many groups, and in unusual orders."""

from __future__ import annotations

from sds_harness.sds.peer import signed
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HistoryEntry

from ..cast import Actor, ScriptedPeer, Stage, scenario, take_in
from ..core.near_ids import BUILT_IN, NEAR
from ..core.three_channels import CHANNELS
from .repairing import repair_scenario, repairing, t_max, t_min
from .requesting import missing, say, say_both
from .responding import ask, fine_ticks, holding, wait_out


@scenario("R-SWEEP-01", "R-RECV-03", "R-RECV-08", long=True, violated=("R-SEND-01", "STATE-16"))
def repairs_in_three_channels(stage: Stage) -> None:
    """In each of three channels a message is missing and another is asked for, with IDs that other channels use too."""
    alice = repairing(stage, channels=CHANNELS)
    peers = [stage.peer("bob", channel) for channel in CHANNELS]
    askers = [stage.peer("carol", channel) for channel in CHANNELS]
    names = [f"in-{number}" for number in range(3)]
    now = stage.now_ms
    held = [peer.content(now, message_id=name) for peer, name in zip(peers, names, strict=True)]
    alice.receive(*held)
    for number, peer in enumerate(peers):
        lost = HistoryEntry(names[(number + 1) % 3], None, "bob")
        alice.receive(peer.content(now + 1, lost, message_id=f"waits-{number}"))
        alice.observe(channel_id=peer.channel_id)
    for number, asker in enumerate(askers):
        alice.receive(asker.content(now + 2, requests=signed(held[number]), message_id=f"asks-{number}"))
    for number, asker in enumerate(askers):
        other = HistoryEntry(names[(number + 2) % 3], None, "bob")
        alice.receive(asker.sync(now + 3, requests=(other,)))
    wait_out(stage, alice)
    for channel in CHANNELS:
        alice.send(channel_id=channel)
        alice.observe(channel_id=channel)


@scenario("R-STATE-04", long=True, violated=("STATE-16", "R-STATE-01"))
def asked_for_in_another_channel(stage: Stage) -> None:
    """What one channel has, and what one misses, is asked for in another one alone."""
    alice = repairing(stage, channels=CHANNELS)
    first, second, third = (stage.peer("bob", channel) for channel in CHANNELS)
    held, lost = third.content(stage.now_ms), second.content(stage.now_ms)
    alice.receive(held, second.content(stage.now_ms + 1, *signed(lost)))
    alice.observe(channel_id=CHANNELS[1])
    alice.receive(stage.peer("carol", CHANNELS[0]).content(stage.now_ms + 2, requests=signed(held, lost)))
    for channel in CHANNELS:
        alice.observe(channel_id=channel)
    wait_out(stage, alice)
    alice.receive(first.content(stage.now_ms))
    alice.send(channel_id=CHANNELS[1])
    alice.observe(channel_id=CHANNELS[1])


@repair_scenario("R-STATE-04", "R-RECV-09", "R-RECV-08", long=True)
def asked_for_nearly_the_same(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """A participant is asked for IDs that are nearly those that it has, then for those with names of built-in parts."""
    alice.receive(*[bob.content(stage.now_ms + number, message_id=known) for number, (known, _) in enumerate(NEAR)])
    ask(stage, carol, alice, *[bob.content(stage.now_ms, message_id=other) for _, other in NEAR])
    alice.observe()
    wait_out(stage, alice)
    built_in = [bob.content(stage.now_ms, message_id=name) for name in BUILT_IN]
    alice.receive(*built_in)
    for message in built_in:
        ask(stage, carol, alice, message)
    wait_out(stage, alice)


@repair_scenario("R-STATE-01", "R-STATE-09", "R-SEND-01", "R-TREQ-01", "R-RECV-03", long=True)
def nearly_the_same_is_missing(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Messages are missing; others with nearly their IDs come, or are asked for, or are missing, too."""
    for number, what in enumerate(("comes", "asked", "missing")):
        own = (stage.now_ms // 1000) % 1000 + number
        pairs = [(f"{known}~{own}", f"{other}~{own}") for known, other in NEAR if known[:12] != other[:12]]
        pairs += [(f"message-{own}-2026-1", f"message-{own}-2026-2")]
        pairs += [(name, f"{name}_") for name in BUILT_IN] if what == "missing" else []
        lost = [bob.content(stage.now_ms, message_id=known) for known, _ in pairs]
        twins = [bob.content(stage.now_ms, message_id=other) for _, other in pairs]
        alice.given(bob.content(stage.now_ms + 1, *signed(*lost))).observe()
        if what == "comes":
            alice.receive(*twins)
        elif what == "asked":
            alice.receive(carol.sync(stage.now_ms, requests=signed(*twins)))
        else:
            alice.given(bob.content(stage.now_ms + 2, *signed(*twins))).observe()
        alice.observe()
        stage.advance(t_max(alice))
        left = {message.message_id: message for message in (*lost, *(twins if what == "missing" else ()))}
        for count in range(len(left) + 3):
            asking = say(alice, content=count % 2 == 0)
            asked = [entry.message_id for entry in asking.repair_request] if asking is not None else []
            found = [left.pop(message_id) for message_id in asked if message_id in left]
            if found:
                alice.receive(*found)
            if not left:
                break
        say_both(alice, 1_000)
        if left:
            alice.receive(*left.values())


@repair_scenario("R-RECV-03", "R-RECV-12", "R-STATE-01", long=True)
def odd_entries_that_ask(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Entries repeat, in a causal history and in a repair request, before others that are missing, or are held."""
    first, second, third = holding(stage, alice, 3)
    gone = [HistoryEntry(f"never-sent-{number}", None, "bob") for number in range(3)]
    known, held = signed(first)[0], signed(second, third)
    alice.given(bob.content(stage.now_ms, gone[0], gone[0], known, known, gone[1])).observe()
    alice.given(carol.content(stage.now_ms, requests=(known, gone[2], gone[2], known, *held))).observe()
    wait_out(stage, alice)
    say_both(alice, t_max(alice), 1_000)


@repair_scenario("R-TREQ-01", "R-GLOBAL-09", "R-TRESP-01", long=True, violated=("R-RECV-06",))
def named_again(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """What is missing is overheard, then named again: its time is that of the formula both times. So is an answer's."""
    (lost,) = missing(stage, alice, bob)
    alice.observe()
    alice.receive(carol.sync(stage.now_ms, requests=signed(lost)))
    alice.observe()
    alice.after(5_000).given(carol.content(stage.now_ms, *signed(lost))).observe()
    say_both(alice, t_min(alice) - 1_000, t_max(alice), 1_000)
    take_in(alice, lost)
    (held,) = holding(stage, alice, 1)
    for _ in range(2):
        ask(stage, carol, alice, held)
        alice.observe()
        fine_ticks(stage, alice)
        wait_out(stage, alice)
    more = [carol.content(stage.now_ms + number) for number in range(8)]
    alice.given(bob.content(stage.now_ms + 9, *signed(*more))).observe()


@repair_scenario("R-STATE-07", "R-RECV-08", "R-FIELDS-01", long=True, violated=("R-STATE-08",))
def repaired_after_detours(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """A participant is asked for what waited, for what others had asked for before it came, for what came as a copy."""
    erin = stage.peer("erin")
    root, (lost,) = carol.content(stage.now_ms - 50), missing(stage, alice, bob)
    waited = bob.content(stage.now_ms - 40, *signed(root))
    alice.receive(waited, carol.sync(stage.now_ms, requests=signed(lost)))
    alice.after(1_000).receive(root)
    alice.settle()
    alice.receive(lost, lost, waited)
    for message in (waited, lost, root):
        ask(stage, erin, alice, message)
    alice.observe()
    wait_out(stage, alice)


@repair_scenario("R-STATE-07", "R-RECV-08", long=True, violated=("R-STATE-08",))
def asked_for_old_ones(stage: Stage, alice: Actor, carol: ScriptedPeer) -> None:
    """A participant is asked for the first and the last of sixty messages that it has."""
    messages = holding(stage, alice, 60)
    for message in (messages[0], messages[20], messages[-1]):
        ask(stage, carol, alice, message)
    wait_out(stage, alice)


@repair_scenario("R-RECV-08", "R-SWEEP-04", long=True)
def others_go_on_before_an_answer(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Before the time to answer, others name the message, and the asker says more; two sweeps are in one moment."""
    (held,) = holding(stage, alice, 1)
    own = alice.send()
    alice.receive(bob.content(stage.now_ms, own))
    ask(stage, carol, alice, held, own)
    alice.tick()
    alice.tick()
    alice.receive(bob.content(stage.now_ms + 5, *signed(held)), carol.sync(stage.now_ms + 6))
    alice.receive(bob.sync(stage.now_ms + 7, *signed(held)))
    for _ in range(24):
        stage.advance(t_max(alice) // 20)
        alice.tick()
        alice.tick()
    wait_out(stage, alice)


@repair_scenario("R-SEND-04", "R-SEND-03", long=True, asked=pb.Configuration(max_repair_requests=3))
def more_is_due_than_there_is_room(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Six messages are missing, each found a while after the other; all are due, and one message goes out."""
    for number in range(6):
        missing(stage, alice, bob)
        stage.advance(20_000 if number < 5 else 0)
    alice.observe()
    say_both(alice, t_max(alice), 1_000)


GROUPS = (3, 128, 129, 130, 200, 256, 257, 300)


@scenario("R-GROUP-01", needs=(pb.CAPABILITY_REPAIR_TIMES,), long=True, violated=("R-TRESP-01",))
def response_groups_by_number(stage: Stage) -> None:
    """Which of twelve participants are in the response group of each other's messages, in few groups and in many."""
    repairing(stage)
    people = [f"{name}-{number}" for name in ("ann", "ben", "zoe") for number in range(4)]
    for groups in GROUPS:
        for message in ("one", "two"):
            pairs = [(own, author) for own in people for author in (people if groups == 3 else people[:6])]
            for own, author in pairs:
                times = pb.RepairTimes(
                    now_ms=stage.now_ms,
                    participant_id=own,
                    sender_id=author,
                    message_id=message,
                    t_min_ms=30_000,
                    t_max_ms=120_000,
                    num_response_groups=groups,
                )
                stage.step("", pb.Request(repair_times=times))
