"""Much of everything: many messages, many that wait, days that pass, copies that come late."""

from __future__ import annotations

from sds_harness.stage import ScheduleStoppedError
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import PROFILES

from ...view.false_positives import QUERIES_AFTER_ROLL_OVER, queries_at_capacity, unknown_ids
from .. import cast
from ..cast import Actor, ScriptedPeer, Stage
from ..scripts import HOUR_MS, Part, Peer, Script, deliver_and_settle, resending, scenario, tick_every

LARGEST_FILLED = 2_000
"""Bloom filters for more IDs are not filled message by message, and not rolled over."""
LARGEST_BUILT = 100_000
OFTEN_SHOWN = 100
SENDERS = 199
ASKED_AT_ONCE = 20_000
"""IDs in one query: a third of a megabyte."""


@scenario("DELIVER-06", "RECV-02")
def late_copies(script: Script, alice: Part, bob: Peer) -> None:
    """Copies arrive after thirty other messages."""
    messages = [bob.content(script.now + number) for number in range(30)]
    deliver_and_settle(alice, *messages, messages[0], messages[5]).observe()


@scenario("RECV-08")
def many_wait_for_one(script: Script, alice: Part) -> None:
    """A hundred messages of two senders wait for one, for a day; some name it twice."""
    peers = [script.peer("bob"), script.peer("carol")]
    root = script.peer("dave").content(script.now + 1)
    for number in range(100):
        depends_on = [root, root] if number % 5 == 0 else [root]
        alice.receive(peers[number % 2].content(script.now + 2 + number, *depends_on))
    tick_every(alice, 5 * HOUR_MS, times=5)
    deliver_and_settle(alice, root).observe()


@scenario("RECV-08", "INSWEEP-01")
def waiting_for_an_own_message(script: Script) -> None:
    """A message depends on an own one that is sent later, which is not received from the network."""
    script.need(pb.CAPABILITY_MESSAGE_ID_ACCEPTED)
    alice = script.open()
    alice.receive(script.peer("bob").content(script.now + 5, "mine-to-come"))
    alice.send(message_id="mine-to-come")
    alice.settle()
    alice.observe()


@scenario("RECV-08", "INSWEEP-01", of_one_text=True)
def waiting_for_an_own_message_behind_others(script: Script) -> None:
    """Three messages wait; an own message releases the second and the third, the oldest keeps waiting."""
    script.need(pb.CAPABILITY_MESSAGE_ID_ACCEPTED)
    alice, bob = script.open(), script.peer("bob")
    alice.receive(bob.content(script.now + 4, "never-sent"))
    alice.receive(bob.content(script.now + 5, "mine-to-come"), bob.content(script.now + 6, "mine-to-come"))
    alice.send(message_id="mine-to-come")
    alice.settle()
    alice.observe()


@scenario("RECV-05")
def one_of_many_is_missing(script: Script, alice: Part, bob: Peer) -> None:
    """The last of ten dependencies, and the last of two hundred, is missing."""
    messages = [bob.content(script.now + number) for number in range(199)]
    alice.receive(*messages)
    for count in (9, 199):
        alice.receive(bob.content(script.now + 300 + count, *messages[:count], "never-sent"))
    alice.settle()


@cast.scenario("RECV-07", "STATE-07", long=True, asked=pb.Configuration(bloom_capacity=1_000, bloom_error_rate=0.01))
def a_thousand_messages(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """A thousand messages of many fill a bloom filter made for them, and the last depends on the first."""
    # So large that the rates of two such filters hardly differ: by 4 %, where they differ by 17 % for 50 IDs.
    capacity = alice.party.in_force.bloom_capacity
    # One less, for "once it reaches" its capacity some implementations roll over.
    full = capacity - 1 if 1 < capacity <= LARGEST_FILLED else 999
    peers = [bob, *(stage.peer(f"p{number}") for number in range(SENDERS))]
    messages = [peers[number % len(peers)].content(stage.now_ms + number) for number in range(max(full, 999))]
    alice.given(*messages[:full]).after(max(1_000, full)).send()
    if messages[full:]:
        alice.receive(*messages[full:])
    bound = stage.trace.declaration.limit("log_entries")
    if bound is None or bound >= 1_000:
        alice.receive(bob.content(stage.now_ms + 2_000, messages[0]))
    if not 0 < capacity <= LARGEST_FILLED or stage.trace.declaration.profile("bloom") not in PROFILES:
        in_force = stage.open("dora").party.in_force
        _build_a_filter(stage, in_force.bloom_capacity, 1, queries_at_capacity(in_force.bloom_error_rate))


def _build_a_filter(stage: Stage, capacity: int, times: int, asked: int) -> None:
    """The size of the filter is the implementation's own choice, and its codec, where it has one, builds it."""
    stage.need(pb.CAPABILITY_FILTER_CODEC)
    if not 0 < times * capacity <= LARGEST_BUILT:
        how_many = f"{capacity:,}" if capacity else "an unknown number of"
        raise ScheduleStoppedError(
            f"a bloom filter for {how_many} IDs cannot be filled: {LARGEST_BUILT // times:,} at most"
        )
    members = [f"bob-{number}" for number in range(1, times * capacity + 1)]
    step = stage.step("", pb.Request(build_filter=pb.BuildFilter(message_ids=members)))
    built = step.reply.filter.bloom_filter if step.reply is not None else b""
    if not built or stage.trace.declaration.profile("bloom") in PROFILES:
        return
    ids = [*members[-(capacity // 10) :], *unknown_ids(asked)]
    for start in range(0, len(ids), ASKED_AT_ONCE):
        query = pb.QueryFilter(bloom_filter=built, message_ids=ids[start : start + ASKED_AT_ONCE])
        stage.step("", pb.Request(query_filter=query))


@cast.scenario("STATE-07", needs=(pb.CAPABILITY_FILTER_CODEC,), of_one_text=True)
def filters_of_accented_letters(stage: Stage, alice: Actor) -> None:
    """The codec builds a filter of twenty IDs of accented letters, and twenty other IDs of them are looked up in it."""
    ids = [str(number).translate(_ACCENTED) for number in range(10_000, 10_040)]
    step = stage.step("", pb.Request(build_filter=pb.BuildFilter(message_ids=ids[:20])))
    if step.reply is not None and step.answer == "filter":
        query = pb.QueryFilter(bloom_filter=step.reply.filter.bloom_filter, message_ids=ids)
        stage.step("", pb.Request(query_filter=query))


_ACCENTED = str.maketrans("0123456789", "ÀÁÂÃÄÅÆÇÈÉ")
"""Letters of Latin-1: published hashes mix up characters beyond it."""


@scenario("STATE-03", "RECV-07", "SEND-10")
def days_pass(script: Script, alice: Part) -> None:
    """Two days pass, and old messages arrive; the first own messages are still unacknowledged."""
    alice.send()
    alice.after(48 * HOUR_MS).send()
    alice.send()
    alice.receive(script.peer("bob").content(script.now - 25 * HOUR_MS))
    for _ in range(3):
        alice.tick()
        script.advance(HOUR_MS)
    alice.observe()
    alice.send()


@resending("OUTSWEEP-01")
def unacknowledged_while_others_send(script: Script, alice: Part) -> None:
    """A message stays unacknowledged while others send."""
    alice.send()
    period = alice.in_force.resend_unacknowledged_ms
    for number in range(12):
        alice.after(period // 2).given(script.peer(f"p{number}").content(script.now)).tick()


@scenario("RECV-11", "SEND-01")
def own_copies_under_a_frozen_clock(script: Script, alice: Part) -> None:
    """Copies of own messages arrive under a frozen clock."""
    alice.given(alice.send(), alice.send()).send()
    alice.send()


@cast.scenario("SEND-09", "STATE-05", "STATE-06", "RECV-04", long=True)
def a_filter_rolls_over(stage: Stage, bob: ScriptedPeer) -> None:
    """Three times a filter's capacity arrives; the newest tenth must still be in it, and little else."""
    # At 1 %, for double hashing over the few bits of so small a filter cannot do much better: at 0.1 % for 50 IDs, the
    # filters that are published give 0.3 %.
    alice = stage.open(configuration=pb.Configuration(bloom_capacity=50, bloom_error_rate=0.01))
    capacity = alice.party.in_force.bloom_capacity
    if not capacity:
        raise ScheduleStoppedError("how many IDs its bloom filter is for is not known, nor when it must be rolled over")
    if capacity > LARGEST_FILLED:
        _build_a_filter(stage, stage.open("dora").party.in_force.bloom_capacity, 3, QUERIES_AFTER_ROLL_OVER)
        return
    for number in range(3 * capacity):
        alice.after(1).receive(bob.content(stage.now_ms))
        # Often enough to show a filter soon after each roll-over, for any share of IDs that is kept.
        if number % 5 in (1, 4) if capacity <= OFTEN_SHOWN else number % 7 == 6:
            alice.send()
    alice.send()
    if stage.trace.declaration.profile("bloom") not in PROFILES:
        # The codec reads filters of the size that the implementation chose, and this is another.
        _build_a_filter(stage, stage.open("dora").party.in_force.bloom_capacity, 3, QUERIES_AFTER_ROLL_OVER)


@cast.scenario("STATE-06", "STATE-05", long=True)
def a_filter_is_shown_now_and_then(stage: Stage, bob: ScriptedPeer) -> None:
    """Three times a filter's capacity arrives; few own messages show it, so that few of their IDs can be in it."""
    alice = stage.open(configuration=pb.Configuration(bloom_capacity=100, bloom_error_rate=0.01))
    capacity = alice.party.in_force.bloom_capacity
    if not 8 <= capacity <= LARGEST_FILLED:
        return
    for number in range(1, 3 * capacity + 1):
        alice.after(1).receive(bob.content(stage.now_ms))
        if number > capacity and (number + 1) % (capacity // 4) == 0:
            alice.send()
    alice.send()


@scenario("STATE-05")
def many_are_missing(script: Script, alice: Part, bob: Peer) -> None:
    """A message is sent while six dependencies of received messages are missing."""
    for number in range(3):
        alice.receive(bob.content(script.now + number, f"gone-{number}", f"gone-too-{number}"))
    alice.after(50).send()
