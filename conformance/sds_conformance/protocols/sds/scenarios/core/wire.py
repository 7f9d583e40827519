"""Wire formats: encoded messages, and messages that must be decoded."""

from __future__ import annotations

from sds_harness.sds.operations import Entry
from sds_harness.sds.script import Part, Peer, Script, entry
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import deliver_and_settle, scenario

BINARY = bytes(range(256)) * 2


@scenario(
    *("MSG-01", "MSG-02", "MSG-03", "MSG-04", "MSG-05", "MSG-06", "MSG-07", "MSG-09", "MSG-13", "MSG-17"),
    *("MSG-20", "MSG-22", "SEND-07", "SYNC-02"),
)
def every_kind_of_message(script: Script, bob: Peer) -> None:
    """A participant with a non-ASCII ID sends content, sync and ephemeral messages, before and after receiving."""
    alice = script.open("alicé")
    alice.send(BINARY)
    script.advance(10)
    first = bob.content(script.now - 5)
    alice.given(first, bob.content(script.now - 4, first)).after(10).send(b"second")
    alice.after(10).send("dritte Nachricht ☕".encode())
    alice.after(10).send_sync(optional=True)
    alice.send_ephemeral(BINARY[::-1], optional=True)
    alice.after(10).send(b"fourth")


@scenario("MSG-09", "MSG-01", "RECV-07", "MSG-19", "MSG-18")
def contents_of_all_kinds(script: Script, alice: Part, bob: Peer) -> None:
    """Contents that are not text, and one of 100 KiB, arrive and are delivered."""
    binary = bob.content(script.now + 1, content=b"\x00\xff\xfe\x80\xc3\x28\n\r\n\x00")
    large = bob.content(script.now + 2, binary, content=bytes(range(256)) * 400)
    alice.receive(binary, large, bob.content(script.now + 3, large, content=b"\n"))
    alice.receive(bob.ephemeral(b"\x00\xff typing"))
    deliver_and_settle(alice, bob.sync(script.now + 4, large), bob.sync(script.now + 5, large, empty_content=True))


@scenario("MSG-09", "RECV-07", "INSWEEP-04")
def contents_of_all_kinds_wait(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages wait whose contents are not text, are blank, or have 100 KiB; their dependency arrives."""
    root = carol.content(script.now)
    contents = (b"\x00\xff\xfe\x80\xc3\x28\n\r\n\x00", b" \n", "dritte Nachricht ☕".encode(), bytes(range(256)) * 400)
    alice.receive(*[bob.content(script.now + 1 + n, root, content=content) for n, content in enumerate(contents)])
    deliver_and_settle(alice, root)


@scenario("MSG-20")
def sends_empty_content(script: Script, alice: Part) -> None:
    """The application sends empty content, which other participants would treat as a sync message."""
    alice.send(b"", may_be_refused=True)
    alice.send_ephemeral(b"", optional=True)


@scenario("MSG-14", "MSG-03")
def equal_contents(script: Script, alice: Part, bob: Peer) -> None:
    """Messages with equal contents are sent in bursts and by several senders; each message must have its own ID."""
    carol = script.open("carol")
    alice.receive(bob.content(script.now - 1, content=b"ok"))
    for number in range(12):
        alice.send(b"ok")
        carol.send(b"ok")
        if number % 3 == 0:
            script.advance(1)
    alice.send_ephemeral(b"ok", optional=True)


@scenario("MSG-14")
def same_content_sent_again(script: Script, alice: Part, bob: Peer) -> None:
    """The same content is sent again after an acknowledgement: it is a new message."""
    first = alice.send(b"good morning")
    alice.given(bob.content(script.now + 1, first)).after(60_000).send(b"good morning")
    alice.after(60_000).send(b"anything else")


@scenario("MSG-10", "MSG-11", "SEND-08", needs=(pb.CAPABILITY_RETRIEVAL_HINTS,))
def transport_hints(script: Script, alice: Part, bob: Peer) -> None:
    """The transport has names of its own for messages; they travel as hints and never replace message IDs."""
    first = bob.content(script.now + 1, message_id="sds-1")
    alice.receive(first, hint=b"t-1")
    alice.send(b"one", hint=b"t-own-1")
    script.advance(1)
    second = bob.content(script.now + 5, message_id="sds-2")
    alice.receive(second, hint=b"\xff\x00\xc3\x28")
    alice.send(b"two", hint=b"t-own-2")
    unseen = entry("sds-unseen", b"\xff\x00\xc3\x28")
    alice.receive(bob.content(script.now + 9, unseen, second), hint=b"t-3")
    alice.receive(bob.content(script.now + 7, entry("sds-unseen-2", b"plain"), entry("sds-2", b"h2")))
    alice.after(20).send(b"three")


@scenario("MSG-23")
def entries_with_hints_and_senders(script: Script, alice: Part, bob: Peer) -> None:
    """Dependencies are named with and without hints and sender IDs; only the ID counts."""
    first = bob.content(script.now + 1)
    alice.receive(first)
    for number, named in enumerate(
        (
            entry(first),
            entry(first, b"some hint"),
            entry(first, None, "bob"),
            entry(first, b"another hint", "somebody"),
            entry(first, b"", ""),
        )
    ):
        alice.receive(bob.content(script.now + 2 + number, named))


@scenario("MSG-11", needs=(pb.CAPABILITY_MISSING,), of_one_text=True)
def missing_messages_with_long_hints(script: Script, alice: Part, bob: Peer) -> None:
    """Missing messages are named with retrieval hints of 33 to 64 bytes, which the application needs as they are."""
    for length in (33, 48, 64):
        lost = entry(f"never-sent-{length}", bytes(range(length)))
        alice.receive(bob.content(script.now + length, lost))


@scenario("MSG-11", "MSG-23", "RECV-05", "RECV-07", "ACK-01", "SEND-08", long=True)
def empty_retrieval_hints(script: Script, alice: Part, bob: Peer) -> None:
    """Entries have empty retrieval hints; if the implementation accepts hints, the transport gives empty hints, too."""
    first = bob.content(script.now)
    second = bob.content(script.now + 1, entry(first, b""))
    alice.receive(first, hint=b"t-1", optional=True)
    alice.receive(second, hint=None)
    named = [entry(alice.after(1).send(hint=None), b"") for _ in range(3)]
    alice.receive(bob.content(script.now, Entry(named[2].label)))
    alice.receive(bob.content(script.now, named[0]), bob.sync(script.now, named[1]))
    alice.receive(bob.content(script.now, entry("never-sent", b"")))
    alice.after(1).send()


@scenario("RECV-07", "RECV-08", "SEND-04", "STATE-10", long=True, of_one_text=True)
def messages_that_name_no_sender(script: Script, alice: Part, bob: Peer) -> None:
    """Messages without a sender arrive, as in an older revision, and other messages depend on them."""
    nobody = script.peer("nobody")
    first, second, third = (nobody.content(script.now + n, message_id=f"unsigned-{n}", sender=None) for n in range(3))
    alice.given(first, second).observe()
    alice.given(bob.content(script.now + 5, second)).after(10).send()
    deliver_and_settle(alice, bob.content(script.now, third), third)
    alice.after(100).send()


@scenario("MSG-24")
def unusual_encodings(script: Script, alice: Part, bob: Peer) -> None:
    """Legal but rare encodings arrive: another field order, unknown fields, over-long varints, repeated scalars."""
    plain = bob.content(script.now + 1)
    alice.receive(plain)
    # The bytes are those of the released transcripts, also in other revisions.
    for number, encoding in enumerate(("reversed", "unknown", "twice", "overlong-last")):
        alice.receive(bob.content(script.now + 2 + number, plain, encoding=encoding, layout="sds-2026-01"))
    alice.settle()


@scenario("MSG-24", of_one_text=True)
def unknown_fields_in_history_entries(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Entries of causal histories have unknown fields, in two content messages and a sync message."""
    known = carol.content(script.now)
    alice.receive(known)
    for number in range(2):
        alice.receive(bob.content(script.now + 1 + number, known, encoding="unknown-inside"))
    alice.receive(bob.sync(script.now + 4, known, encoding="unknown-inside"))
    alice.settle()


@scenario("MSG-24")
def unknown_fields_of_fixed_length(script: Script, alice: Part, bob: Peer) -> None:
    """One message has an unknown field of four bytes, and another one of eight bytes; an ordinary message follows."""
    for encoding in ("unknown-4", "unknown-8"):
        alice.receive(bob.content(script.now, encoding=encoding))
    alice.receive(bob.content(script.now + 1))
    alice.settle()
