"""Ways that no variant, mutant or release goes: the reference, with changes to what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from run_helpers import Handle, altered, reference
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HistoryEntry, MalformedMessageError, Message
from sds_reference.message import decode, encode
from sds_reference.mutants import MUTANTS


def _arrived(request: pb.Request) -> Message | None:
    """The message that a request brings."""
    try:
        return decode(request.receive.wire) if request.HasField("receive") else None
    except MalformedMessageError:
        return None


def _deliver(reply: pb.Reply, channel_id: str, message: Message | None) -> None:
    reply.effects.events.append(
        pb.Event(
            channel_id=channel_id,
            delivered=pb.Delivered(
                message_id=message.message_id if message else "?", content=(message.content or b"") if message else b""
            ),
        )
    )


def _resending(change: Callable[[pb.Request, int, Message], Message | None], handle: Handle | None = None) -> Handle:
    """Changes what goes out, one by one; ``change`` gets the number of earlier ones. None keeps it back."""
    sent = 0

    def changes(request: pb.Request, reply: pb.Reply) -> None:
        nonlocal sent
        if not reply.HasField("effects"):
            return
        out = []
        for wire in reply.effects.broadcasts:
            changed = change(request, sent, decode(wire))
            sent += 1
            out += [encode(changed)] if changed is not None else []
        del reply.effects.broadcasts[:]
        reply.effects.broadcasts.extend(out)

    return altered(changes, handle)


def _receiving(change: Callable[[Message | None, pb.Reply], None], handle: Handle | None = None) -> Handle:
    def changes(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("receive"):
            change(_arrived(request), reply)

    return altered(changes, handle)


def forgets_the_oldest() -> Handle:
    """Does not deliver what depends on a message that nine hundred came after."""
    count = 0

    def change(message: Message | None, reply: pb.Reply) -> None:
        nonlocal count
        count += 1
        if count > 950 and message is not None and message.causal_history:
            del reply.effects.events[:]

    return _receiving(change)


def marks_the_acknowledged() -> Handle:
    known: set[str] = set()

    def changes(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("effects"):
            known.update(e.acknowledged.message_id for e in reply.effects.events if e.HasField("acknowledged"))
        if reply.HasField("state"):
            for message_id in sorted(known):
                reply.state.outgoing.entries.add(message_id=message_id, state=pb.ACK_STATE_ACKNOWLEDGED)

    return altered(changes)


def leaves_what_was_lost() -> Handle:
    """Does not deliver what it has given up."""
    lost: set[str] = set()

    def changes(request: pb.Request, reply: pb.Reply) -> None:
        if not reply.HasField("effects"):
            return
        kept = [e for e in reply.effects.events if not (e.HasField("delivered") and e.delivered.message_id in lost)]
        lost.update(i for e in kept if e.HasField("lost") for i in e.lost.message_ids)
        del reply.effects.events[:]
        reply.effects.events.extend(kept)

    return altered(changes)


def possibly_by_itself() -> Handle:
    """Takes what its own messages name for possibly acknowledged when they come back."""

    def changes(request: pb.Request, reply: pb.Reply) -> None:
        for event in reply.effects.events if reply.HasField("effects") and request.HasField("receive") else ():
            if event.HasField("acknowledged"):
                event.possibly_acknowledged.message_id = event.acknowledged.message_id

    return altered(changes, reference(participant=MUTANTS["reviews-own-messages"].participant_class))


def reviews_copies() -> Handle:
    """Takes the copy of a message for a word on its own last one."""
    known: set[str] = set()
    own = [""]

    def changes(request: pb.Request, reply: pb.Reply) -> None:
        message = _arrived(request)
        if request.HasField("send") and reply.HasField("effects"):
            own[0] = reply.effects.message_id
        if message is not None and message.message_id in known and own[0]:
            spoken = pb.PossiblyAcknowledged(message_id=own[0])
            reply.effects.events.append(pb.Event(channel_id="c1", possibly_acknowledged=spoken))
        known.add(message.message_id if message is not None else "")

    return altered(changes)


def has_settings_of_its_own() -> Handle:
    """Opens with its defaults where it is asked for what cannot be."""
    inner = reference()

    def answer(request: pb.Request) -> pb.Reply:
        reply = inner(request)
        if request.HasField("open") and reply.HasField("rejected"):
            for name in ("t_min_ms", "t_max_ms", "num_response_groups"):
                request.open.configuration.ClearField(name)
            reply = inner(request)
        return reply

    return lambda request: answer(pb.Request.FromString(request.SerializeToString()))


def _with_copies(requests: tuple[HistoryEntry, ...]) -> Handle:
    def change(request: pb.Request, number: int, message: Message) -> Message:
        return replace(message, repair_request=requests) if request.HasField("tick") else message

    return _resending(change, reference(participant=MUTANTS["rebroadcasts-always"].participant_class))


def _on_nameless(message: Message | None, reply: pb.Reply) -> None:
    if message is not None and not message.channel_id:
        _deliver(reply, "", message)


def _on_no_message(message: Message | None, reply: pb.Reply) -> None:
    if message is None:
        _deliver(reply, "c1", message)


def _on_an_empty_dependency(message: Message | None, reply: pb.Reply) -> None:
    if message is not None and HistoryEntry("") in message.causal_history:
        _deliver(reply, "c1", message)


def _copies_end(request: pb.Request, number: int, message: Message) -> Message | None:
    return message if number < 5 or not request.HasField("tick") else None


def _other_filters(request: pb.Request, number: int, message: Message) -> Message:
    return replace(message, bloom_filter=b"\x00" + (message.bloom_filter or b""))


@dataclass(frozen=True)
class Odd:
    """An implementation that takes options which nothing of the model takes, and the scenarios that show it."""

    start: Callable[[], Handle]
    scenarios: str
    options: dict[str, str]


ODD = {
    "forgets-the-oldest": Odd(forgets_the_oldest, "a-thousand-messages", {"AMB-96": "forgets"}),
    "marks-the-acknowledged": Odd(marks_the_acknowledged, "a-sync-with-the-id-of-the-logged", {"AMB-C15": "marked"}),
    "leaves-what-was-lost": Odd(leaves_what_was_lost, "given-up-for-lost", {"AMB-108": "leaves-it"}),
    "possibly-by-itself": Odd(possibly_by_itself, "own-messages-come-back", {"AMB-21": "possibly"}),
    "opens-a-nameless-channel": Odd(
        lambda: _receiving(_on_nameless), "channels-with-similar-names", {"AMB-49": "opens"}
    ),
    "makes-something-of-bytes": Odd(lambda: _receiving(_on_no_message), "malformed-messages", {"AMB-52": "takes"}),
    "passes-over-empty-entries": Odd(
        lambda: _receiving(_on_an_empty_dependency), "impossible-dependencies", {"AMB-46": "delivers"}
    ),
    "copies-end": Odd(lambda: _resending(_copies_end), "nobody-answers", {"AMB-64": "ends"}),
    "other-filters": Odd(lambda: _resending(_other_filters), "one-of-three-is-enough", {"AMB-54": "otherwise"}),
    "reviews-copies": Odd(reviews_copies, "requests-in-any-message", {"AMB-23": "acknowledgements"}),
    "has-settings-of-its-own": Odd(
        has_settings_of_its_own,
        "t-max-is-zero t-max-equals-t-min one-group-for-all",
        {"AMB-08": "others", "AMB-09": "others", "AMB-10": "others"},
    ),
    "copies-without-requests": Odd(lambda: _with_copies(()), "sends-only-after-t-req", {"AMB-85": "none"}),
    "copies-with-other-requests": Odd(
        lambda: _with_copies((HistoryEntry("another", None, "bob"),)),
        "sends-only-after-t-req",
        {"AMB-85": "a-fresh-one"},
    ),
}
"""By name."""
