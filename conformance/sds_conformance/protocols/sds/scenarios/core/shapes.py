"""Messages of many shapes wait and acknowledge others: old, new, short and long, with unusual IDs and filters."""

from __future__ import annotations

from typing import Any

from sds_harness.sds.script import Moment, Part, Peer, Script

from ..scripts import HOUR_MS, WIDE, deliver_and_settle, scenario


def list_shapes(now: Moment, name: str) -> list[tuple[Moment | int, dict[str, Any]]]:
    """Return Lamport timestamps and further fields of messages that differ in as many ways as possible.

    ``name`` makes the message IDs unique.
    """
    return [
        (0, {}),
        (1, {}),
        (now - 25 * HOUR_MS, {}),
        (now - 2 * HOUR_MS, {}),
        (now + 2 * HOUR_MS, {}),
        (now + 1, {"content": bytes(range(256)) * 8}),
        (now + 2, {"content": b"x"}),
        (now + 3, {"content": b"\xff\xfe"}),
        (now + 4, {"message_id": f"{name}-{'i' * 100}"}),
        (now + 5, {"message_id": f"{name}-\u00ef\U0001f98a"}),
        (now + 6, {"message_id": f"{len(name)}"}),
        (now + 7, {"bloom_filter": b"zz"}),
    ]


def list_ages(now: Moment) -> list[Moment | int]:
    """Lamport timestamps far behind the clock, and up to a day ahead of it."""
    return [0, 1, *(now + hours * HOUR_MS for hours in (-25, -2, 0, 2, 23))]


@scenario("RECV-08", "INSWEEP-04", "STATE-09", "DELIVER-04", asked=WIDE, long=True)
def messages_of_all_shapes_wait(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages of all shapes wait for one dependency.

    All filters can be read. Messages with unreadable filters would test SDS-RECV-08 as well.
    """
    root = carol.content(script.now)
    shapes = [(at, fields) for at, fields in list_shapes(script.now, "waits") if "bloom_filter" not in fields]
    alice.given(*[bob.content(at, root, **fields) for at, fields in shapes]).observe()
    deliver_and_settle(alice, root).observe()
    alice.send()


@scenario("ACK-01", "RECV-03", "RECV-04", "STATE-05", "SEND-09", asked=WIDE, long=True)
def messages_of_all_shapes_acknowledge(script: Script, alice: Part, bob: Peer) -> None:
    """Messages of all shapes acknowledge own messages and enter the filter. Some wait forever."""
    for waits in (False, True):
        shapes = list_shapes(script.now, f"waits-{waits}")
        own = [alice.send() for _ in shapes]
        missing = ("never-sent",) if waits else ()
        messages = [bob.content(at, one, *missing, **fields) for one, (at, fields) in zip(own, shapes, strict=True)]
        alice.receive(*messages)
        hinted = bob.content(script.now + 8, alice.send(), *missing)
        alice.receive(hinted, hint=b"where it is stored", optional=True)
        alice.observe(*messages)
        alice.send()


@scenario("SYNC-12", "ACK-07", asked=WIDE, long=True)
def syncs_of_all_ages_acknowledge(script: Script, alice: Part, bob: Peer) -> None:
    """Sync messages with timestamps far behind the clock and far ahead of it acknowledge own messages.

    For each timestamp, one sync message names an own message, one has a filter with another own message, and one also
    names a missing message.
    """
    for at in list_ages(script.now):
        named, held, waiting = alice.send(), alice.send(), alice.send()
        alice.receive(bob.sync(at, named), bob.sync(at, holds=[held]), bob.sync(at, waiting, "never-sent"))
    alice.observe()


@scenario("SYNC-12", "ACK-07", asked=WIDE, long=True)
def syncs_of_all_shapes_acknowledge(script: Script, alice: Part, bob: Peer) -> None:
    """Sync messages with long causal histories and with unusual IDs acknowledge own messages."""
    known = [bob.content(script.now - number) for number in range(60, 0, -1)]
    alice.given(*known)
    for count in (3, 8, 9, 16, 17, 60):
        first, last, held = alice.send(), alice.send(), alice.send()
        alice.receive(bob.sync(script.now, first, *known[:count]), bob.sync(script.now, *known[:count], last))
        alice.receive(bob.sync(script.now, *known[:count], holds=[held]))
    for message_id in ("i" * 100, "\u00ef\U0001f98a", "7", "with blanks"):
        alice.receive(bob.sync(script.now, alice.send(), message_id=message_id))
    alice.observe()


@scenario("ACK-01", "ACK-02", asked=WIDE, long=True)
def own_messages_of_all_ages_are_acknowledged(script: Script, alice: Part, bob: Peer) -> None:
    """Own messages with short and long contents are acknowledged at once, after seconds, after hours and after days."""
    for number, pause in enumerate((0, 2_000, 2 * HOUR_MS, 50 * HOUR_MS)):
        contents = [
            start + bytes([64 + 2 * number + half]) for half in range(2) for start in (b"", b"\xff", b"x" * 2_500)
        ]
        named, held = [[alice.send(content) for content in half] for half in (contents[:3], contents[3:])]
        script.advance(pause)
        alice.receive(bob.content(script.now, *named), bob.content(script.now + 1, holds=held))
        alice.observe()


@scenario("EPHEMERAL-04", "EPHEMERAL-05", asked=WIDE, long=True)
def ephemerals_of_all_shapes(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Ephemeral messages with short and long contents, with unusual IDs and from several senders arrive.

    Meanwhile, own messages are unacknowledged, and a received message waits.
    """
    for _ in range(3):
        alice.send()
    alice.receive(bob.content(script.now, "never-sent"))
    for content in (b"x", b"\xff\xfe", bytes(range(256)) * 2, b"long " * 500, b"y" * 70_000, b"typing", b"typing"):
        alice.receive(bob.ephemeral(content))
    for message_id in ("i" * 100, "\u00ef\U0001f98a", "7", "with blanks"):
        alice.receive(carol.ephemeral(b"typing", message_id=message_id))
    alice.observe()
    alice.send()


@scenario("DELIVER-01", asked=WIDE, long=True)
def messages_of_all_shapes_are_ahead(script: Script, alice: Part, bob: Peer) -> None:
    """Messages of many shapes, each with a larger timestamp than the one before, increase the local timestamp."""
    known = [bob.content(script.now - number) for number in range(30, 0, -1)]
    alice.given(*known).send()
    shapes = [fields for _, fields in list_shapes(script.now, "ahead") if fields]
    for number, fields in enumerate(shapes, start=1):
        alice.receive(bob.content(script.now + 1_000 * number, **fields))
        alice.observe()
        alice.send()
    alice.receive(bob.content(script.now + 20_000, *known))
    alice.observe()
    alice.send()
    alice.receive(bob.content(script.now + 30_000), hint=b"where it is stored", optional=True)
    alice.observe()
    alice.send()


@scenario("DELIVER-01", "SEND-01", "STATE-02")
def messages_between_the_timestamp_and_the_clock(script: Script, alice: Part, bob: Peer) -> None:
    """Nothing is sent for two days; received timestamps, all before the current time, increase the local timestamp.

    Then the clock goes back.
    """
    alice.send()
    script.advance(48 * HOUR_MS)
    for hours in (47, 23, 2):
        alice.receive(bob.content(script.now - hours * HOUR_MS))
        alice.observe()
    script.advance(-40 * HOUR_MS)
    alice.send()


@scenario("RECV-05", "RECV-07", asked=WIDE, long=True)
def messages_of_all_shapes_are_dependencies(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages of many shapes are delivered, some with many or repeated history entries; others depend on each."""
    known = [bob.content(at, **fields) for at, fields in list_shapes(script.now, "depended-on")]
    known += [bob.content(script.now + 8, known[0], known[0]), bob.content(script.now + 9, *known)]
    alice.receive(*known)
    alice.receive(*[carol.content(script.now + 20 + number, one) for number, one in enumerate(known)])
    alice.settle().observe()
    alice.send()


@scenario("DELIVER-06", "STATE-10", long=True)
def copies_of_long_known_messages(script: Script, alice: Part, bob: Peer) -> None:
    """Copies of messages arrive after two hundred other messages, and again hours and days later."""
    first = [bob.content(script.now + number) for number in range(3)]
    alice.receive(*first, *[bob.content(script.now + 10 + number) for number in range(200)])
    for pause in (1_000, 2 * HOUR_MS, 26 * HOUR_MS):
        script.advance(pause)
        alice.receive(*first)
        alice.tick().observe()
