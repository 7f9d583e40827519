"""IDs that are nearly the same, entries that are odd, and contents of few bytes."""

from __future__ import annotations

from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import QUICK_RESENDS, WIDE, Part, Peer, Script, deliver_and_settle, entry, scenario, tick_every, twins

NEAR = (
    ("Abc", "aBC"),
    ("message-2026-1", "message-2026-2"),
    ("k", " k"),
    ("l", "l\t"),
    ("\ufeffm", "m"),
    ("n\u200b", "n"),
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
    for known, other in (*NEAR, *own, *((name, name + "_") for name in BUILT_IN)):
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


@scenario("SYNC-05", "SYNC-08", long=True)
def own_syncs_before_a_message(script: Script, alice: Part, bob: Peer) -> None:
    """A participant sends some sync messages, then content, whose filter must not hold the IDs of the sync messages."""
    alice.receive(bob.content(script.now))
    syncs = [alice.after(10).send_sync() for _ in range(6)]
    sent = alice.after(10).send()
    alice.observe(*[sync for sync in syncs if sync is not None], sent)
    alice.after(10).send()
