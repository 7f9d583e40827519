"""Messages with the fields of SDS-R arrive at participants with the extension and without it."""

from __future__ import annotations

from sds_harness.sds.script import Part, Peer, Script, entry, signed
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import deliver_and_settle, scenario
from .participants import T_MAX, repair_scenario
from .requests import send_both_kinds, send_either
from .responses import request_messages, wait_for_responses


@repair_scenario("MSG-12", "MSG-08", "R-FIELDS-01", "R-FIELDS-02")
def entries_name_senders(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Own and received messages of several senders are logged, others are missing; entries name the senders."""
    alice.given(bob.content(script.now - 9), carol.content(script.now - 8)).send()
    lost = bob.content(script.now - 5), carol.content(script.now - 4)
    # Dave's message reveals that two messages of other senders are missing.
    alice.given(dave.content(script.now + 1, *signed(*lost))).observe()
    for _ in range(2):
        alice.send()
    script.advance(T_MAX)
    for _ in range(4):
        send_either(alice.after(1_000), content=False)
        alice.receive_asked(*lost)
        alice.receive(dave.sync(script.now))
    alice.settle()
    alice.send()
    send_either(alice, content=False)


@repair_scenario("R-FIELDS-01")
def sender_is_named_later(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """A causal history names a missing message without its sender, and a later history with it; T_max passes."""
    for content_first in (True, False):
        lost = bob.content(script.now - 1)
        alice.given(carol.content(script.now + 1, entry(lost))).observe()
        alice.after(1_000).receive(dave.content(script.now, *signed(lost)))
        send_both_kinds(alice, T_MAX - 1_000, 500, content_first=content_first)
        deliver_and_settle(alice, lost)


@repair_scenario("R-FIELDS-01", "MSG-12", "R-STATE-07", long=True)
def authors_with_long_ids(script: Script, alice: Part, bob: Peer) -> None:
    """The IDs of two authors are as long as encoded public keys, and differ only in the last character.

    Of each author, one message is delivered and later requested, and another message is missing.
    """
    authors = [script.peer(f"0x04{'5a' * 64}{number}") for number in range(2)]
    known = [author.content(script.now - 5, message_id=f"known-{n}") for n, author in enumerate(authors)]
    lost = [author.content(script.now - 1, message_id=f"lost-{n}") for n, author in enumerate(authors)]
    alice.given(*known).send()
    alice.receive(bob.content(script.now + 1, *signed(*lost)))
    send_both_kinds(alice, T_MAX, 1_000)
    request_messages(bob, alice, *known)
    wait_for_responses(alice)


@repair_scenario("R-FIELDS-02", needs=(pb.CAPABILITY_RETRIEVAL_HINTS,))
def requests_with_hints(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Missing and logged messages are named with retrieval hints; requests repeat the hints of the missing ones."""
    first, second, here = (bob.content(script.now - number) for number in (5, 4, 3))
    alice.receive(here)
    alice.receive(
        carol.content(
            script.now + 1,
            entry(first, b"where-it-is", "bob"),
            entry(second, b"\xff\x00\x80", "bob"),
            entry(here, b"here", "bob"),
        )
    )
    script.advance(T_MAX)
    for _ in range(3):
        alice.after(1_000).send()
        alice.receive_asked(first, second)


@repair_scenario("R-FIELDS-02")
def requests_with_long_hints(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Missing messages are named with retrieval hints of 33 and 64 bytes; requests repeat the hints, or omit them."""
    lost = [bob.content(script.now - number) for number in (2, 1)]
    hints = (bytes(range(33)), bytes(range(64)))
    named = (entry(message, hint, "bob") for message, hint in zip(lost, hints, strict=True))
    alice.receive(carol.content(script.now + 1, *named))
    send_both_kinds(alice, T_MAX, 1_000)
    deliver_and_settle(alice, *lost)


@repair_scenario("R-STATE-01", "R-RECV-12", "R-RECV-03", long=True)
def empty_hints_in_requests(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Missing and requested messages are named with an empty retrieval hint, and without one."""
    first, held, lost, gone = (bob.content(script.now - number) for number in (5, 4, 3, 2))
    missing = (entry(lost, b"", "bob"), gone.signed)
    alice.given(first, held, carol.content(script.now, *missing)).observe()
    asked = (entry(held, b"", "bob"), first.signed)
    alice.given(carol.content(script.now, requests=asked)).observe()
    send_both_kinds(alice, T_MAX, 1_000)
    wait_for_responses(alice)


@repair_scenario("R-FIELDS-02")
def logged_messages_are_not_requested(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages depend on logged and own messages and on a missing one; only the missing one may be requested."""
    first = bob.content(script.now - 5)
    own = alice.given(first).send()
    lost = bob.content(script.now - 4)
    alice.receive(carol.content(script.now + 1, *signed(first, own)))
    alice.receive(carol.content(script.now + 2, *signed(first, lost, own)))
    send_both_kinds(alice, *3 * [T_MAX // 2 + 1_000])


@scenario("R-FIELDS-03", "R-FIELDS-04", asked=pb.Configuration(sds_r=False))
def without_sds_r(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A participant without SDS-R receives repair requests and entries with sender IDs, and misses messages."""
    first = bob.content(script.now + 1)
    own = alice.given(first).send()
    lost = bob.content(script.now + 2)
    alice.receive(carol.content(script.now + 3, *signed(first)))
    alice.receive(carol.content(script.now + 4, *signed(first, own), requests=signed(first, own)))
    alice.receive(carol.content(script.now + 5, *signed(lost)))
    alice.receive(bob.content(script.now + 6, requests=["nobody-knows-this"]))
    alice.receive(bob.sync(script.now + 7, *signed(lost), requests=signed(own)))
    alice.settle()
    alice.send()
    send_both_kinds(alice, 600_000, content_first=True)
    deliver_and_settle(alice, lost)
