"""Similar but different channels, IDs, senders and contents, and entries and timestamps of unusual kinds."""

from __future__ import annotations

from sds_harness.sds.script import MAX_LAMPORT, Part, Peer, Period, Script, entry, least, signed, twins
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import QUICK_RESENDS, WIDE, deliver_and_settle, may_be_ahead, scenario, tick_every


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


@scenario("MSG-14", needs=(pb.CAPABILITY_CHANNELS,))
def names_sent_that_join_alike(script: Script) -> None:
    """The channel and the content, or the sender and the channel, become equal strings when a program joins them.

    Both messages of such a pair are sent at the same moment.
    """
    alice = script.open("bo", ("c", *(f"{start}{joint}1" for joint in JOINTS for start in ("c", "b"))))
    others = [script.open(f"bo{joint}b", ("1",)) for joint in JOINTS]
    for joint, other in zip(JOINTS, others, strict=True):
        script.advance(1_000)
        alice.send(f"1{joint}ok".encode(), channel="c")
        alice.send(b"ok", channel=f"c{joint}1")
        alice.send(b"ok", channel=f"b{joint}1")
        other.send(b"ok", channel="1")


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


@scenario("RECV-07")
def senders_that_differ_at_one_end(script: Script) -> None:
    """The own ID is long, and the IDs of two senders differ from it in the first or in the last character only."""
    alice = script.open(f"a{'x' * 70}1")
    for sender in (f"a{'x' * 70}2", f"b{'x' * 70}1"):
        alice.receive(script.peer(sender).content(script.now))
    alice.settle()


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


NEAR = (
    ("Abc", "aBC"),
    ("message-2026-1", "message-2026-2"),
    ("k", " k"),
    ("l", "l\t"),
    ("\ufeffm", "m"),
    ("v\u200b", "v"),
    ("o\U0001f98a", "o"),
    ("p" * 64, "p" * 63),
    ("007", "7"),
    ("1e3", "1000"),
)
"""IDs that an implementation may confuse. They differ in case, after 12 characters, in blanks, a byte order mark,
invisible characters, characters with two units in UTF-16 or one more character, or are equal as numbers.
"""
BUILT_IN = ("constructor", "__proto__", "toString", "hasOwnProperty", "length")
"""IDs that are names of built-in properties of objects in some languages."""


@scenario("RECV-05", "RECV-07", "RECV-08", "STATE-05", "RECV-04", long=True, asked=WIDE, violated=("RECV-06",))
def lookalikes_of_dependencies(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A message waits for one whose ID is similar to a known ID, which then arrives; messages with similar IDs wait."""
    root = carol.content(script.now)
    waiting = []
    for known, other in NEAR:
        alice.receive(bob.content(script.now, message_id=known), carol.content(script.now + 2, other))
        alice.receive(bob.content(script.now + 1, message_id=other))
        alice.after(10).send()
        waiting += [bob.content(script.now + 1_000, root, message_id=twin + "-w") for twin in (known, other)]
    waiting += [bob.content(script.now + 1_001, root, message_id=twin) for twin in ("\ufeffw", "w", " w", "W")]
    waiting += [bob.content(script.now + 1_002, root, message_id=f"waiting-2026-{number}") for number in range(2)]
    waiting += [bob.content(script.now + 1_003, root, message_id=number) for number in ("017", "17", "1e1", "10")]
    alice.receive(*waiting)
    deliver_and_settle(alice, root).observe()
    alice.after(2_000).send()


@scenario("RECV-05", "RECV-07", "RECV-08", long=True, violated=("ACK-01",))
def ids_of_built_in_names(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages wait for messages whose IDs are names such as `__proto__`; then these messages arrive."""
    for number, message_id in enumerate(BUILT_IN):
        alice.receive(carol.content(script.now + 10 + number, message_id))
        alice.receive(bob.content(script.now + number, message_id=message_id))
    alice.settle()
    alice.send()


@scenario("RECV-05", "RECV-07", "RECV-08", needs=(pb.CAPABILITY_CHANNELS,), long=True)
def senders_and_channels_of_built_in_names(script: Script) -> None:
    """Channels and senders have the names of built-in properties, such as `toString`; some of their messages wait."""
    alice = script.open("toString", channels=BUILT_IN)
    for channel in BUILT_IN:
        first, *others = [script.peer(name, channel) for name in BUILT_IN if name != "toString"]
        root = first.content(script.now)
        alice.receive(*[peer.content(script.now + 1 + number, root) for number, peer in enumerate(others)])
        alice.receive(root, *[peer.content(script.now + 9) for peer in (first, *others)])
        alice.settle()
        alice.after(1).send(channel=channel)
        alice.observe(channel=channel)


@scenario("STATE-12", "ACK-05", long=True, violated=("RECV-06",))
def lookalikes_of_own_ids(script: Script, alice: Part, bob: Peer) -> None:
    """Causal histories name, and filters hold, IDs that are similar to the ID of an own message."""
    for own in (alice.send(), alice.send()):
        for twin in twins(own):
            alice.receive(bob.content(script.now, twin))
        alice.receive(bob.content(script.now, holds=twins(own)))
    alice.observe()


@scenario("STATE-12", "SEND-10", "ACK-01", long=True)
def lookalikes_of_given_ids(script: Script, alice: Part, bob: Peer) -> None:
    """The application chooses message IDs; received causal histories name similar IDs, and then the same IDs."""
    own = (("UPPER", "upper"), (" y", "y"), ("message-of-2026-1", "message-of-2"))
    for known, other in (*NEAR, *own, *((name, name + "_") for name in BUILT_IN), *OWN_TWINS):
        sent = alice.send(message_id=known)
        alice.receive(bob.content(script.now, other))
        alice.receive(bob.content(script.now, holds=[other]))
        alice.observe()
        alice.receive(bob.content(script.now, sent))


@scenario("RECV-05", "RECV-07", long=True, violated=("RECV-06",))
def odd_entries_of_histories(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Causal histories repeat entries, or name a message that was never sent, with any sender ID and hint.

    The repeated entries name a known message and two missing ones, which arrive in the end.
    """
    now = script.now
    known, first, second = carol.content(now), carol.content(now + 1), carol.content(now + 2)
    alice.receive(known)
    alice.receive(bob.content(now + 10, first, first, second), bob.content(now + 11, second, first, second, known))
    alice.receive(bob.content(now + 12, known, known, second), bob.content(now + 13, first, first))
    for sender in (alice.participant_id, "bob", "carol", ""):
        alice.receive(bob.content(now + 14, entry(f"never-sent-{sender}", None, sender)))
        alice.receive(bob.content(now + 15, known, entry(f"never-sent-too-{sender}", b"hint", sender)))
    alice.given(first).tick()
    deliver_and_settle(alice, second).observe()
    alice.after(20).send()


@scenario("RECV-05")
def empty_entries_of_histories(script: Script, alice: Part, bob: Peer) -> None:
    """Two messages depend on an empty ID, and one of them also on a known ID; both wait forever or are refused."""
    known = bob.content(script.now)
    alice.receive(known, bob.content(script.now + 1, entry("")), bob.content(script.now + 2, known, entry("")))
    alice.settle()


@scenario("ACK-01", "ACK-05", long=True)
def odd_entries_that_acknowledge(script: Script, alice: Part, bob: Peer) -> None:
    """Causal histories name own messages after unknown IDs, after repeated entries, and with any senders and hints."""
    known = bob.content(script.now)
    alice.receive(known)
    own = [alice.send() for _ in range(8)]
    now = script.now
    alice.receive(bob.content(now + 1, "never-sent", own[0]), bob.content(now + 2, known, known, own[1]))
    alice.receive(bob.content(now + 3, own[2], own[2], own[3]))
    alice.receive(bob.content(now + 4, known, entry(own[4], b"hint", "bob")))
    alice.receive(bob.sync(now + 5, entry(own[5], None, "zoe"), known, entry(own[6], b"", "")))
    alice.receive(bob.content(now + 6, *[known] * 20, own[7]))
    alice.observe()


CONTENTS = (b"\xef\xbb\xbfwith a mark", b"\0", b" ", b"\r\n", b"one\r\ntwo\n", b"\xef\xbb\xbf", b"0", b"false", b"null")


@scenario("MSG-09", "MSG-20", "RECV-07", long=True)
def contents_of_few_bytes(script: Script, alice: Part, bob: Peer) -> None:
    """Contents are a byte order mark, one zero byte, a blank, a line end, or a word that other formats reserve.

    Each arrives twice from one sender, and is sent once.
    """
    for number, content in enumerate(CONTENTS):
        alice.receive(bob.content(script.now + number, content=content))
        alice.receive(bob.content(script.now + number, content=content))
        alice.after(1).send(content)


@scenario("STATE-08", asked=QUICK_RESENDS, long=True, violated=("OUTSWEEP-05",))
def equal_contents_are_resent(script: Script, alice: Part) -> None:
    """A participant sends equal content three times, and no acknowledgement arrives."""
    period = alice.in_force.resend_unacknowledged_ms
    for _ in range(3):
        alice.after(1).send(b"the same")
    alice.observe()
    tick_every(alice, period // 2 + 1, times=8).observe()


@scenario("SYNC-12", "ACK-07", long=True, of_one_text=True, violated=("SYNC-08",))
def syncs_that_look_known(script: Script, alice: Part, bob: Peer) -> None:
    """Sync messages with a known ID, without an ID or with an old timestamp all acknowledge own messages."""
    logged, waiting = bob.content(script.now), bob.content(script.now + 1, "never-sent")
    alice.receive(logged, waiting)
    own = [alice.send() for _ in range(5)]
    now = script.now
    alice.receive(bob.sync(now + 10, own[0], message_id=logged))
    alice.receive(bob.sync(now + 10, own[1], message_id=waiting))
    alice.receive(bob.sync(now + 10, own[2], message_id=""))
    alice.receive(bob.sync(now - 1_000, own[3]), bob.sync(now - 2_000, own[4], empty_content=True))
    alice.receive(bob.sync(now + 11, message_id="same"), bob.sync(now + 11, message_id="same"))
    alice.observe()
