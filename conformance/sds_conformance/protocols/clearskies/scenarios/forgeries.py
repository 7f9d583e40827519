"""Updates with the signature of another body, and updates that name the receiver as their writer."""

from __future__ import annotations

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.operations import SIGNATURES_OF_OTHER_TEXTS

from .scripts import HOUR_MS, Part, Peer, Script, request_all, scenario, subscribe


@scenario("06", needs=(pb.CAPABILITY_READ_ONLY,))
def signatures_of_other_texts(script: Script, rita: Part, bob: Peer, carol: Peer, rolf: Peer, ruth: Peer) -> None:
    """A read-only peer gets updates with signatures of bodies that differ in the order of members, or in blanks."""
    subscribe(rita, ruth)
    _sign_other_texts(rita, bob, carol, rolf)


@scenario("06")
def signatures_of_other_texts_for_a_writer(
    script: Script, alice: Part, bob: Peer, carol: Peer, rolf: Peer, ruth: Peer
) -> None:
    """A read-only peer sends updates with signatures of bodies that differ in the order of members, or in blanks."""
    subscribe(alice, ruth)
    _sign_other_texts(alice, bob, carol, rolf)


def _sign_other_texts(part: Part, bob: Peer, carol: Peer, rolf: Peer) -> None:
    part.link(bob).update("good", "one")
    request_all(part, read_only=True)
    for signature in SIGNATURES_OF_OTHER_TEXTS:
        part.link(rolf).send(bob.update(f"good, {signature}", "two", signature="read-write"))
        part.script.settle()
        part.link(rolf).send(carol.update(f"bad-{signature}", {"b": 1, "a": [1, 2]}, signature=signature))
        request_all(part, read_only=True)
    part.link(rolf).send(bob.update("good", "bad", signature="reordered"))
    request_all(part, read_only=True)


@scenario("16", "02")
def altered_updates_between_writers(script: Script, alice: Part, bob: Peer, carol: Peer, rolf: Peer) -> None:
    """A read-write peer sends signed updates, one of them altered, while a read-only peer is subscribed."""
    subscribe(alice, rolf)
    link = alice.link(bob)
    link.send(carol.update("good", 1, signature="read-write"))
    request_all(alice, read_only=True)
    link.send(carol.update("altered", 2, signature="read-write").altered)
    request_all(alice, read_only=True)


@scenario("06", needs=(pb.CAPABILITY_READ_ONLY,), long=True)
def a_forgery_after_many_updates(script: Script, rita: Part, bob: Peer, dave: Peer, rolf: Peer) -> None:
    """Forty valid updates of two writers are followed by forged ones: with the next revision, and with an old one."""
    link = rita.link(rolf)
    link.send(*(bob.update(f"record {number}", number, signature="read-write") for number in range(40)))
    dave.revision = 20
    link.send(dave.update("of dave", 1, signature="read-write"))
    request_all(rita, read_only=True)
    link.ask()
    link.send(bob.update("forged", "bad", signature="read-write").altered)
    request_all(rita, read_only=True)
    dave.revision = 9
    rita.link(rolf).send(dave.update("early", "bad", signature="read-write").altered)
    request_all(rita, read_only=True)


@scenario("06", needs=(pb.CAPABILITY_READ_ONLY,))
def forgeries_in_the_name_of_a_reader(script: Script, rita: Part, bob: Peer, carol: Peer, rolf: Peer) -> None:
    """A read-only peer receives altered updates that name it as the last writer."""
    link = rita.link(bob)
    link.update("one", 1)
    request_all(rita, read_only=True)
    script.advance(1_000)
    for number, key in enumerate(("one", "new")):
        forged = carol.update(key, "bad", poses_as="rita", revision=7 + number, signature="read-write")
        rita.link(rolf).send(forged.altered)
        request_all(rita, read_only=True)
    rita.observe()


@scenario("06", "03", long=True)
def forgeries_in_the_name_of_the_receiver(script: Script, alice: Part, bob: Peer, carol: Peer, rolf: Peer) -> None:
    """A read-only peer sends altered and unsigned updates that name the receiver as the last writer."""
    link = subscribe(alice, bob)
    link.update("one", 1)
    mine = alice.put("mine", 1)
    request_all(alice)
    script.advance(1_000)
    for number, signature in enumerate(("read-write", "none", "read-only")):
        for key in ("mine", "one", f"new {number}"):
            forged = carol.update(
                key,
                "bad",
                poses_as="alice",
                revision=20 + number,
                signature=signature,
                time=HOUR_MS,
                **({"after": mine} if key == "mine" else {}),
            )
            alice.link(rolf).send(forged.altered if signature == "read-write" else forged)
            request_all(alice)
    alice.observe()
    alice.put("mine too", 2)
    request_all(alice)
