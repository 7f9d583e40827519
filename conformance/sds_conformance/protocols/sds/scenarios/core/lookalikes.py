"""Similar but different channels, IDs, senders, contents and timestamps."""

from __future__ import annotations

from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import (
    MAX_LAMPORT,
    WIDE,
    Part,
    Peer,
    Period,
    Script,
    deliver_and_settle,
    least,
    may_be_ahead,
    scenario,
    signed,
)


@scenario("MSG-15", "STATE-05", "RECV-07")
def channels_with_similar_names(script: Script) -> None:
    """Messages arrive for channels whose names differ in case, a suffix, a space or the last letter, and for others."""
    names = ("c1", "C1", "c10", "c1 ", f"{'c' * 70}1", f"{'c' * 70}2")
    alice = script.open(channels=names)
    for channel in names:
        bob = script.peer("bob", channel)
        for number in range(7):
            # The first two IDs are the same in every channel.
            message_id = f"m{number}" if number < 2 else f"{channel}-{number}"
            alice.receive(bob.content(script.now + number, message_id=message_id))
        alice.observe(channel=channel)
    for channel in ("c", "c100", "nowhere"):
        alice.receive(script.peer("bob", channel).content(script.now + 9, message_id=f"lost-in-{channel}"))
    alice.receive(script.peer("bob").content(script.now + 9, message_id="lost-in-", empty=("channel",)))
    script.advance(50)
    for channel in names:
        alice.send(channel=channel)
        alice.observe(channel=channel)


JOINTS = ("", ":", "/", "-", "_", "|", ".", " ", ",", "#", "@")
"""Separators with which programs may join two names to one key."""


@scenario("RECV-05", "RECV-07", "RECV-08", "STATE-12", needs=(pb.CAPABILITY_CHANNELS,), long=True)
def names_that_join_alike(script: Script) -> None:
    """Messages of two channels have channel IDs, senders and IDs that become equal strings when a program joins them.

    Such messages (twins) arrive in each pair of channels. Two messages wait for messages whose twins arrive in the
    other channel, one before and one after the waiting message. A causal history names the twin of an own message.
    """
    channels = ("g", *[f"g{joint}h" for joint in JOINTS])
    alice, short = script.open(channels=channels), script.peer("bo", "g")
    for number, (joint, channel) in enumerate(zip(JOINTS, channels[1:], strict=True)):
        long = script.peer("bo", channel)
        alice.receive(short.content(script.now, message_id=f"h{joint}{number}"))
        alice.receive(long.content(script.now + 1, message_id=f"{number}"))
        alice.receive(long.content(script.now + 1, message_id=f"early-{number}"))
        alice.receive(short.content(script.now + 2, f"h{joint}early-{number}"))
        alice.receive(short.content(script.now + 2, f"h{joint}root-{number}"))
        alice.receive(long.content(script.now + 3, message_id=f"root-{number}"))
        alice.send(channel="g", message_id=f"h{joint}own-{number}")
        alice.receive(long.content(script.now + 4, f"own-{number}"))
        alice.settle()
        alice.receive(short.content(script.now + 5, message_id=f"h{joint}root-{number}"))
        other = script.peer(f"bo{joint}b", "g")
        alice.receive(short.content(script.now + 6, message_id=f"b{joint}x{number}"))
        alice.receive(other.content(script.now + 7, message_id=f"x{number}"))
    alice.settle()
    alice.observe(channel="g")


@scenario("RECV-07", of_one_text=True)
def equal_contents_arrive(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages with equal content arrive from several senders, and two from one, with equal and other timestamps."""
    for peer, lamport in ((bob, 1), (carol, 1), (bob, 2), (bob, 2), (bob, -7_200_000)):
        alice.receive(peer.content(script.now + lamport, content=b"ok"))
    alice.receive(bob.sync(script.now, message_id="later"))
    deliver_and_settle(alice, bob.content(script.now + 9, message_id="later"))


@scenario("MSG-14")
def same_content_sent_at_once(script: Script) -> None:
    """Two participants send the same content at the same moment, twice."""
    _send_the_same(script, ("c1",))


@scenario("MSG-14")
def same_content_sent_at_once_in_two_channels(script: Script) -> None:
    """Two participants send the same content at the same moment in each of two channels, twice."""
    _send_the_same(script, ("c1", "c2"))


def _send_the_same(script: Script, channels: tuple[str, ...]) -> None:
    parts = [script.open(name, channels) for name in ("alice", "dora")]
    for _ in range(2):
        for part in parts:
            for channel in channels:
                part.send(b"ok", channel=channel)


@scenario("RECV-07", long=True)
def contents_of_growing_length(script: Script, alice: Part, bob: Peer) -> None:
    """A history entry has a sender ID, as with SDS-R; contents of 65 bytes to 4 KiB arrive; a send follows each."""
    root = bob.content(script.now)
    alice.given(root, bob.content(script.now + 1, *signed(root))).after(10).send()
    for length in (65, 300, 4_096):
        alice.given(bob.content(script.now + 1, content=b"x" * length)).after(10).send()


@scenario("MSG-09", "MSG-20")
def contents_sent_of_all_kinds(script: Script, alice: Part) -> None:
    """The application sends contents that end in zero bytes or blanks, have one byte, or have 100 KiB."""
    for content in (b"\0", b"x\0\0", b" \n", bytes(range(256)) * 400):
        alice.send(content)
        script.advance(1)


@scenario("RECV-05", "RECV-07")
def ids_that_look_alike(script: Script, alice: Part, bob: Peer) -> None:
    """Missing IDs differ from known IDs in case, blanks, normal form or the end; sender IDs resemble the own ID."""
    for message_id in ("Dep", "sp", "é", "x" * 64 + "1"):
        alice.receive(bob.content(script.now + 1, message_id=message_id))
    for number, message_id in enumerate(("dep", " sp", "sp ", "e\u0301", "x" * 64 + "2")):
        alice.receive(bob.content(script.now + 2 + number, message_id))
    for sender in ("Alice", "alice2", "alic", " alice"):
        alice.receive(script.peer(sender).content(script.now + 20))
    alice.settle()


TWINS = (("n", "n\0"), ("n\0a", "n\0b"), ("\u00e9", "e\u0301"), ("\u2126", "\u03a9"), ("\ufb01", "fi"))
"""Pairs of different IDs that are equal up to a NUL or in a Unicode normal form. IDs must not be normalised (AMB-89).
"""
OWN_TWINS = (*TWINS, ("z\0", "z"), ("\U00010000\U000103ff", "\ud7ff\U000103ff"))
"""`TWINS` and two more pairs for IDs of own messages; the IDs of the last pair are similar in UTF-16."""


@scenario("RECV-05", "RECV-07", "RECV-08", "SEND-04", "STATE-05", "RECV-04", asked=WIDE, long=True)
def ids_with_one_start_or_one_form(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Two IDs differ after a NUL or in normal form: one arrives, then a message that depends on the other ID.

    Then the message with the other ID arrives. At the end, messages with such IDs wait at the same time.
    """
    root = carol.content(script.now)
    waiting = []
    for known, other in TWINS:
        alice.receive(bob.content(script.now, message_id=known), carol.content(script.now + 2, other))
        alice.receive(bob.content(script.now + 1, message_id=other))
        alice.after(10).send()
        waiting += [bob.content(script.now + 1_000, root, message_id="w" + twin) for twin in (known, other)]
    alice.receive(*waiting)
    deliver_and_settle(alice, root).observe()
    alice.after(2_000).send()


@scenario("STATE-12", "SEND-10", long=True)
def acknowledged_under_a_twin_id(script: Script, alice: Part, bob: Peer) -> None:
    """The application gives the IDs of own messages; causal histories and filters contain similar IDs."""
    for own, other in OWN_TWINS:
        alice.send(message_id=own)
        alice.receive(bob.content(script.now, other))
        alice.receive(bob.content(script.now, holds=[other]))
    alice.observe()


@scenario("RECV-07", "MSG-15", long=True)
def senders_and_channels_with_twins(script: Script) -> None:
    """Sender and channel IDs differ from the participant's only in Unicode normal form or after a NUL."""
    alice = script.open("alici\u00e9", channels=("c\u00e9",))
    for sender, channel in (("alicie\u0301", "ce\u0301"), ("alici\u00e9\0x", "c\u00e9\0x")):
        here = script.peer(sender, "c\u00e9")
        alice.receive(here.content(script.now), script.peer("bob", channel).content(script.now + 1))
    alice.settle()
    alice.send()


@scenario("RECV-07", "MSG-15", long=True)
def channels_with_numbers_for_names(script: Script) -> None:
    """Two joined channels, and some that were not joined, have names that are equal as numbers."""
    alice = script.open(channels=("7", "07"))
    for number, channel in enumerate(("7", "07", "007", "7.0", "+7", " 7")):
        alice.receive(script.peer("bob", channel).content(script.now + number, message_id=f"of-channel-{number}"))
    alice.settle()
    for channel in ("7", "07"):
        alice.observe(channel=channel)
        alice.after(10).send(channel=channel)


@scenario("STATE-11", "DELIVER-04", "MSG-05", asked=WIDE)
def timestamps_of_all_lengths(script: Script, alice: Part, bob: Peer) -> None:
    """Timestamps have different numbers of digits, and some beyond 2^53 differ by one."""
    power = Period(f"{10**9} + (max_lamport > {10**12}) * {10**12 - 10**9}", simple=False)
    """A large timestamp: 10^12, or 10^9 in a wire layout that cannot encode 10^12."""
    for lamport in (power, power - 1, 5, 40, script.now):
        alice.receive(bob.content(lamport))
    alice.observe()
    alice.send()
    large = least(2**53, MAX_LAMPORT - 1_000)
    with script.when(may_be_ahead(large)):
        alice.given(bob.content(large + 1, message_id="a"), bob.content(large, message_id="b")).observe()
        alice.send()


@scenario("CONFLICT-01", "DELIVER-05", asked=WIDE)
def ties_at_the_ends(script: Script, alice: Part, bob: Peer) -> None:
    """Messages with the timestamp 0, and messages with a timestamp beyond 2^53, arrive in no order of their IDs."""
    alice.receive(*[bob.content(0, message_id=f"zero-{end}") for end in "bca"])
    alice.observe()
    alice.send()
    large = least(2**53 + 3, MAX_LAMPORT - 1_000)
    with script.when(may_be_ahead(large)):
        alice.receive(*[bob.content(large, message_id=f"large-{end}") for end in "bca"])
        alice.observe()
        alice.send()


@scenario("RECV-08", "STATE-05")
def two_participants_of_one_process(script: Script, alice: Part, bob: Peer) -> None:
    """Two participants of one process receive and send in turn; neither is affected by the messages of the other."""
    root = bob.content(script.now + 1)
    alice.receive(bob.content(script.now + 2, root))
    carol = script.open("carol")
    for number in range(5):
        carol.receive(script.peer(f"p{number}").content(script.now + number))
    alice.send()
    deliver_and_settle(alice, root).observe()
    alice.after(50).send()
    carol.send()


@scenario("RECV-05")
def waiting_in_two_channels(script: Script) -> None:
    """A message waits in one channel; its dependency arrives in the other channel first, then in the same one."""
    alice = script.open(channels=("c1", "c2"))
    in_c1, in_c2 = script.peer("bob", "c1"), script.peer("bob", "c2")
    alice.given(in_c1.content(script.now + 1, "root", message_id="kid")).observe(channel="c2")
    deliver_and_settle(alice, in_c2.content(script.now + 2, message_id="root")).observe(channel="c1")
    deliver_and_settle(alice, in_c1.content(script.now + 3, message_id="root")).observe(channel="c1")


@scenario("SEND-08", "MSG-11", needs=(pb.CAPABILITY_RETRIEVAL_HINTS,))
def hints_only_where_given(script: Script, alice: Part, bob: Peer) -> None:
    """Some messages have transport hints, one of 256 bytes; the messages around them have none."""
    first = bob.content(script.now - 9)
    alice.receive(first, hint=b"t1")
    for _ in range(2):
        alice.after(1).send()
    alice.after(5).given(bob.content(script.now, first)).after(1).send()
    alice.receive(bob.content(script.now, message_id="z"), hint=b"\xff\xfe")
    alice.after(1).send()
    alice.after(5).receive(bob.content(script.now), hint=bytes(range(256)))
    alice.after(1).send()
