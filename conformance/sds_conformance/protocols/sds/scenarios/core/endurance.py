"""Many messages, many waiting messages, filters that become full, days that pass, and late duplicates."""

from __future__ import annotations

from sds_harness.schedules.expressions import FILTERS_ARE_KNOWN
from sds_harness.sds.operations import BuildFilter
from sds_harness.sds.script import Part, Peer, Period, Script, greatest
from sds_proto.testee.v1 import testee_pb2 as pb

from ...view.false_positives import QUERIES_AFTER_ROLL_OVER, queries_at_capacity
from ..scripts import DAY_MS, HOUR_MS, deliver_and_settle, resending, scenario, tick_every

CAPACITY = Period("bloom_capacity")

LARGEST_FILLED = 2_000
"""Maximum capacity of bloom filters that scenarios fill message by message and roll over."""
SIZE_IS_FILLED, SIZE_IS_NOT_FILLED = (f"{CAPACITY.text} {sign} {LARGEST_FILLED}" for sign in ("<=", ">"))
OFTEN_SHOWN = 100
SENDERS = 199


@scenario("DELIVER-06", "RECV-02")
def late_copies(script: Script, alice: Part, bob: Peer) -> None:
    """Duplicates of two messages arrive after thirty messages."""
    messages = [bob.content(script.now + number) for number in range(30)]
    deliver_and_settle(alice, *messages, messages[0], messages[5]).observe()


@scenario("RECV-08")
def many_wait_for_one(script: Script, alice: Part) -> None:
    """A hundred messages of two senders wait a day for one message; some name the missing message twice."""
    peers = [script.peer("bob"), script.peer("carol")]
    root = script.peer("dave").content(script.now + 1)
    for number in range(100):
        depends_on = [root, root] if number % 5 == 0 else [root]
        alice.receive(peers[number % 2].content(script.now + 2 + number, *depends_on))
    tick_every(alice, 5 * HOUR_MS, times=5)
    deliver_and_settle(alice, root).observe()


@scenario("RECV-08", "INSWEEP-01")
def waiting_for_an_own_message(script: Script) -> None:
    """A message depends on an own message that is sent later and is never received from the network."""
    script.need(pb.CAPABILITY_MESSAGE_ID_ACCEPTED)
    alice = script.open()
    alice.receive(script.peer("bob").content(script.now + 5, "mine-to-come"))
    alice.send(message_id="mine-to-come")
    alice.settle()
    alice.observe()


@scenario("RECV-08", "INSWEEP-01", of_one_text=True)
def waiting_for_an_own_message_behind_others(script: Script) -> None:
    """Three messages wait; an own message is the dependency of the second and the third, but not of the first."""
    script.need(pb.CAPABILITY_MESSAGE_ID_ACCEPTED)
    alice, bob = script.open(), script.peer("bob")
    alice.receive(bob.content(script.now + 4, "never-sent"))
    alice.receive(bob.content(script.now + 5, "mine-to-come"), bob.content(script.now + 6, "mine-to-come"))
    alice.send(message_id="mine-to-come")
    alice.settle()
    alice.observe()


@scenario("RECV-05")
def one_of_many_is_missing(script: Script, alice: Part, bob: Peer) -> None:
    """Only the last of ten dependencies is missing; then only the last of two hundred dependencies."""
    messages = [bob.content(script.now + number) for number in range(199)]
    alice.receive(*messages)
    for count in (9, 199):
        alice.receive(bob.content(script.now + 300 + count, *messages[:count], "never-sent"))
    alice.settle()


@scenario("RECV-07", "STATE-07", long=True, asked=pb.Configuration(bloom_capacity=1_000, bloom_error_rate=0.01))
def a_thousand_messages(script: Script, alice: Part) -> None:
    """A thousand messages of many senders fill a filter of that capacity; the last depends on the first."""
    # The capacity is large, because the false positive rate of a large filter varies little: by 4 % from one filter of
    # 1,000 IDs to another, but by 17 % for 50 IDs.
    peers = [script.peer("bob"), *(script.peer(f"p{number}") for number in range(SENDERS))]
    first, *others = (peer.content(script.now + number) for number, peer in enumerate(peers))
    alice.receive(first, *others)
    # The number is one less than the capacity, because some implementations roll over when a filter reaches its
    # capacity.
    fills = CAPACITY - 1 - len(peers)
    with script.when(SIZE_IS_FILLED), script.repeat(fills, LARGEST_FILLED):
        alice.after(1).receive(peers[0].content(script.now))
    with script.when(SIZE_IS_NOT_FILLED), script.repeat(999 - len(peers)):
        alice.after(1).receive(peers[0].content(script.now))
    alice.after(1_000).send()
    with script.repeat(1_000 - greatest(CAPACITY, 1 + len(peers)), LARGEST_FILLED):
        alice.receive(peers[0].content(script.now))
    with script.when("log_entries >= 1000"):
        alice.receive(peers[0].content(script.now + 2_000, first))
    _build_a_filter(script, times=1, strangers=queries_at_capacity(0))


def _build_a_filter(script: Script, times: int, strangers: int) -> None:
    """Let the codec build a filter if the suite cannot read the filters of messages, or if their capacity is too large
    to be filled message by message.

    The capacity of the built filter is that of a participant whose configuration names no capacity.
    """
    with script.when(f"max({FILTERS_ARE_KNOWN} == 0, {SIZE_IS_NOT_FILLED})"):
        script.need(pb.CAPABILITY_FILTER_CODEC)
        dora = script.open("dora")
    script.add(BuildFilter(who=dora.name, times=times, strangers=strangers))


@scenario("STATE-07", needs=(pb.CAPABILITY_FILTER_CODEC,), of_one_text=True)
def filters_of_accented_letters(script: Script, alice: Part) -> None:
    """The codec builds a filter of twenty IDs of accented letters; twenty other such IDs are looked up in it."""
    ids = tuple(str(number).translate(_ACCENTED) for number in range(10_000, 10_040))
    script.add(BuildFilter(ids[:20], ids))


_ACCENTED = str.maketrans("0123456789", "ÀÁÂÃÄÅÆÇÈÉ")
"""Letters of Latin-1, because published hashes treat some different characters beyond Latin-1 alike."""


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
    """The network returns own messages to their sender while the clock is frozen."""
    alice.given(alice.send(), alice.send()).send()
    alice.send()


@scenario(
    *("SEND-09", "STATE-05", "STATE-06", "RECV-04"),
    long=True,
    asked=pb.Configuration(bloom_capacity=50, bloom_error_rate=0.01),
)
def a_filter_rolls_over(script: Script, alice: Part, bob: Peer) -> None:
    """Enough messages arrive to fill a filter three times; it must contain the newest tenth, and few other IDs."""
    # An error rate of 1 %, because double hashing in a small filter causes more errors than configured: published
    # filters for 50 IDs at 0.1 % have an error rate of 0.3 %.
    script.require(
        f"{CAPACITY.text} >= 1",
        "the capacity of its bloom filter is unknown, so it is unknown when the filter must roll over",
    )
    # Own messages are sent often enough to show a filter soon after each roll-over, whatever share of the IDs the
    # filter keeps.
    often, seldom = f"{CAPACITY.text} <= {OFTEN_SHOWN}", f"{CAPACITY.text} > {OFTEN_SHOWN}"
    for condition, counts in ((often, (2, 3)), (f"min({seldom}, {SIZE_IS_FILLED})", (7,))):
        with script.when(condition), script.repeat(CAPACITY * 3 // sum(counts), 3 * LARGEST_FILLED // sum(counts)):
            for count in counts:
                for _ in range(count):
                    alice.after(1).receive(bob.content(script.now))
                alice.send()
    alice.send()
    _build_a_filter(script, times=3, strangers=QUERIES_AFTER_ROLL_OVER)


@scenario("STATE-06", "STATE-05", long=True, asked=pb.Configuration(bloom_capacity=100, bloom_error_rate=0.01))
def a_filter_is_shown_now_and_then(script: Script, alice: Part, bob: Peer) -> None:
    """Enough messages arrive to fill a filter three times, and few own messages are sent between them."""
    with script.when(f"min({CAPACITY.text} >= 8, {SIZE_IS_FILLED})"):
        for number, rounds in enumerate((CAPACITY - 1, *[CAPACITY // 4] * 8)):
            with script.repeat(rounds, LARGEST_FILLED):
                alice.after(1).receive(bob.content(script.now))
            if number:
                alice.send()
        alice.after(1).given(bob.content(script.now)).send()


@scenario("STATE-05")
def many_are_missing(script: Script, alice: Part, bob: Peer) -> None:
    """A message is sent while six dependencies of received messages are missing."""
    for number in range(3):
        alice.receive(bob.content(script.now + number, f"gone-{number}", f"gone-too-{number}"))
    alice.after(50).send()


SMALL = pb.Configuration(bloom_capacity=20, bloom_error_rate=0.001)
LARGEST_SMALL = 50
WIDEST = 600
"""Number of entries of the longest causal history."""


@scenario("RECV-05", "ACK-01", "STATE-09", long=True)
def hundreds_are_missing(script: Script, alice: Part, bob: Peer) -> None:
    """Messages depend on 64 to 512 missing messages, or only the last of many dependencies is missing."""
    for count in (64, 128, 255, 256, 257, 512):
        alice.receive(bob.content(script.now, *[f"never-sent-{number}" for number in range(count)]))
    alice.observe()
    alice.send()
    known = [bob.content(script.now) for _ in range(WIDEST)]
    alice.receive(*known)
    for count in (255, 256, 300, WIDEST):
        alice.receive(bob.content(script.now, *known[:count], f"never-sent-after-{count}"))
    own = [alice.send() for _ in range(4)]
    for message, count in zip(own, (99, 128, 255, WIDEST), strict=True):
        alice.receive(bob.content(script.now, *known[:count], message))
    alice.settle()


@scenario("ACK-02", long=True)
def a_filter_with_old_messages(script: Script, alice: Part, bob: Peer) -> None:
    """A filter holds the first and the 101st of 130 own messages."""
    own = [alice.send() for _ in range(130)]
    alice.given(bob.content(script.now, holds=[own[0], own[100]])).observe()


@scenario("STATE-06", "RECV-04", "STATE-05", long=True, asked=SMALL)
def a_small_filter_message_by_message(script: Script, alice: Part, bob: Peer) -> None:
    """Messages arrive one by one, up to three times the capacity of a filter; the newest IDs are checked after each."""
    with script.when(f"{CAPACITY.text} <= {LARGEST_SMALL}"), script.repeat(CAPACITY * 3 // 5, 3 * LARGEST_SMALL // 5):
        for _ in range(5):
            message = bob.content(script.now)
            alice.after(1).receive(message)
            alice.observe_newest()
        alice.send()


@scenario("RECV-04", "STATE-06", long=True, asked=SMALL)
def a_small_filter_is_sent_once_a_round(script: Script, alice: Part, bob: Peer) -> None:
    """The number of messages that arrive between own messages grows from half the capacity of a filter to the whole.

    So after a roll-over a filter can contain as many IDs as the filter of the previous own message, but different IDs.
    """
    for more in range(LARGEST_SMALL // 2 + 3):
        between = CAPACITY // 2 - 1 + more
        condition = f"min({CAPACITY.text} >= 8, {CAPACITY.text} <= {LARGEST_SMALL}, ({between}) <= {CAPACITY.text} + 1)"
        with script.when(condition):
            for _ in range(4):
                with script.repeat(between, LARGEST_SMALL + 1):
                    alice.receive(bob.content(script.now))
                alice.observe_newest()
                alice.after(100).send()


@scenario("RECV-04", long=True, violated=("STATE-06",), asked=SMALL)
def copies_and_syncs_beside_a_small_filter(script: Script, alice: Part, bob: Peer) -> None:
    """Few messages arrive, then many duplicates and sync messages: the filter has room for the few messages."""
    with script.when(f"min({CAPACITY.text} >= 8, {CAPACITY.text} <= {LARGEST_SMALL})"):
        messages = [bob.content(script.now + number) for number in range(5)]
        alice.receive(*messages)
        with script.repeat(CAPACITY, LARGEST_SMALL):
            alice.receive(messages[-1])
        alice.observe(*messages)
        alice.after(10).send()
        with script.repeat(CAPACITY, LARGEST_SMALL):
            alice.receive(bob.sync(script.now))
        alice.observe(*messages)
        alice.after(10).send()
        deliver_and_settle(alice, bob.content(script.now, messages[0]))


@scenario("STATE-05", needs=(pb.CAPABILITY_VIRTUAL_CLOCK,), asked=SMALL)
def a_small_filter_on_the_next_day(script: Script, alice: Part, bob: Peer) -> None:
    """Fifteen messages arrive, and another a day later. A filter with room for all of them must still hold all."""
    with script.when(f"min({CAPACITY.text} >= 18, {CAPACITY.text} <= {LARGEST_SMALL})"):
        messages = [bob.content(script.now + number) for number in range(16)]
        alice.receive(*messages[:-1])
        alice.after(DAY_MS + HOUR_MS).receive(messages[-1])
        alice.observe(*messages)
        alice.send()


@scenario("RECV-04", asked=SMALL)
def copies_after_a_roll_over(script: Script, alice: Part, bob: Peer) -> None:
    """More messages arrive than fit into a small filter, then duplicates of the first ones, and new messages."""
    messages = [bob.content(script.now + number) for number in range(50)]
    alice.receive(*messages)
    alice.observe(messages[-1], messages[-2])
    alice.receive(*messages[:20])
    alice.observe(messages[-1], messages[-2])
    alice.send()
    later = [bob.content(script.now) for _ in range(3)]
    alice.receive(*later)
    alice.observe(*later)
    alice.send()


@scenario(long=True, violated=("RECV-04", "STATE-06"), needs=(pb.CAPABILITY_OBSERVE,))
def a_large_filter_is_filled(script: Script, alice: Part, bob: Peer) -> None:
    """A filter is filled up to the capacity that the implementation chose, and must then hold the newest IDs."""
    half = CAPACITY // 2
    with script.when(f"min({CAPACITY.text} >= 1, {CAPACITY.text} <= {LARGEST_FILLED})"):
        for rounds in (1, 1, half - 1, CAPACITY - half - 1, 1, 1, half - 1, CAPACITY - half - 1, 1, 1):
            with script.repeat(rounds, LARGEST_FILLED):
                alice.receive(bob.content(script.now))
            alice.observe_newest()
