"""Messages of all shapes wait and acknowledge: old and new, short and long ones, with odd IDs and filters."""

from __future__ import annotations

from typing import Any

from ..scripts import HOUR_MS, WIDE, Moment, Part, Peer, Script, deliver_and_settle, scenario


def list_shapes(now: Moment, name: str) -> list[tuple[Moment | int, dict[str, Any]]]:
    """Lamport timestamps and further fields of messages that have as little in common as possible.

    ``name`` makes their IDs unique.
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


@scenario("RECV-08", "INSWEEP-04", "STATE-09", "DELIVER-04", asked=WIDE, long=True)
def messages_of_all_shapes_wait(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages of all shapes wait for one dependency.

    All filters can be read: an implementation that loses messages with other filters would violate SDS-RECV-08 as well.
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


@scenario("DELIVER-01", asked=WIDE, long=True)
def messages_of_all_shapes_are_ahead(script: Script, alice: Part, bob: Peer) -> None:
    """Messages of all shapes, each ahead of the one before, raise the timestamp; one has a long causal history."""
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
    """Nothing is sent for two days; the messages of that time raise the timestamp, although the clock is ahead of them.

    Then the clock goes back.
    """
    alice.send()
    script.advance(48 * HOUR_MS)
    for hours in (47, 23, 2):
        alice.receive(bob.content(script.now - hours * HOUR_MS))
        alice.observe()
    script.advance(-40 * HOUR_MS)
    alice.send()
