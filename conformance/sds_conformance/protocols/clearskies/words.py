"""Describes steps of a ClearSkies trace, and declarations, for readers who do not know the source of the suite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import EXTENSION, AccessLevel
from sds_harness.clearskies.clubs import LEVEL_FROM_PB, READ_ONLY, READ_WRITE
from sds_harness.clearskies.frames import GET_UPDATES
from sds_harness.clearskies.streams import Message
from sds_harness.clearskies.trace import Event, Step, Trace
from sds_harness.declaration import printable

from ...judging.formats import clock, foremost, format_count, hex_of, identifier, json_of, short, times_of
from ..words import QuotedFacts
from .view.facts import keys_in_command, name_peer, reads_as_update

FEW = 3
"""Maximum number of clock members or records that are listed."""
LONGEST_VALUE = 60
"""Maximum number of characters of a value."""


class Narrator:
    """Describes the command and the results of each step of one trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def done(self, step: Step, about: frozenset[str] = frozenset(), finding_text: str = "") -> str:
        """The command of a step, in one line."""
        with times_of(self._trace):
            return self._done(step, about)

    def _done(self, step: Step, about: frozenset[str]) -> str:
        request, who = step.request, short(step.participant)
        match step.command:
            case "open":
                what = f"{who} is opened as a {_level_text(LEVEL_FROM_PB.get(request.open.access_level))} peer"
                kept = ", with a store" if request.open.store else ""
                return f"{what}{kept} at {clock(step.now_ms)}"
            case "close":
                return f"{who} is freed"
            case "connect":
                other = name_peer(self._trace, request.connect.peer_id)
                level = _level_text(LEVEL_FROM_PB.get(request.connect.access_level))
                return f"{who} gets link {step.link} to {other}, a {level} peer"
            case "disconnect":
                return f"{who} loses link {step.link}"
            case "receive":
                return f"{who} receives {self._arrived_text(step, about)}"
            case "put":
                value = _shorten(request.put.value)
                return f"{who} writes {value} under {identifier(request.put.key)} at {clock(step.now_ms)}"
            case "rename":
                old, new = identifier(request.rename.key), identifier(request.rename.new_key)
                return f"{who} renames {old} to {new} at {clock(step.now_ms)}"
            case "delete":
                return f"{who} deletes {identifier(request.delete.key)} at {clock(step.now_ms)}"
            case "tick":
                return f"{who} runs its periodic work at {clock(step.now_ms)}"
            case "observe":
                return f"{who} shows its records"
            case other:
                return other.replace("_", " ")

    def came_out(self, step: Step, about: frozenset[str] = frozenset(), finding_text: str = "") -> list[str]:
        """The results of a step in order, one line each; [] if there are none."""
        if step.reply is None:
            return ["no answer"]
        match step.answer:
            case "rejected":
                return [f"refused: {printable(step.reply.rejected.reason, 120)}"]
            case "opened":
                named = [printable(each, 20) for each in step.reply.opened.extensions]
                declared = f"the extensions {', '.join(map(repr, named))}" if named else "no extension"
                return [f"declares {declared}"] if named != [EXTENSION] else []
            case "state":
                return self._state(step.reply.state, about)
            case "effects":
                sent = [f"sends on link {each.link} {self.described(each)}" for each in self._trace.out(step)]
                sent += [
                    f"sends on link {link} {size} of an incomplete message"
                    for link, size in self._incomplete_parts(step)
                ]
                return sent + [text for event in step.events if (text := self._event(event))]
            case _:
                return []

    def touches(self, step: Step) -> frozenset[str]:
        """The uuids and keys of the records that a step writes, sends, receives or shows."""
        found: set[Any] = {step.uuid, *keys_in_command(step)}
        found |= self.facts(step).carried
        if step.state is not None:
            found |= {text for record in step.state.records for text in (record.uuid, record.key)}
        return frozenset(found - {""})

    def facts(self, step: Step) -> QuotedFacts:
        """The uuids and keys in the updates that a step sends or receives."""
        updates = [m for m in (*self._trace.into(step), *self._trace.out(step)) if reads_as_update(m)]
        names = {m.body.members[name] for m in updates for name in ("uuid", "key") if _is_text(m, name)}
        return QuotedFacts(frozenset(str(name) for name in names if name))

    def channels(self, step: Step) -> frozenset[str]:
        """Empty: the protocol has no channels."""
        return frozenset()

    def on_the_wire(self, step: Step) -> list[bytes]:
        """The bytes that went over links in a step, in order."""
        return [step.request.receive.data] if step.command == "receive" else [data for _, data in step.sent]

    def described(self, message: Message) -> str:
        """A message in one line."""
        body, signed = message.body, self._signed(message)
        if body.error or not isinstance(body.value, dict):
            return (
                f"a message of {format_count(len(body.raw), 'byte')} that is not a JSON object{signed}: "
                f"{hex_of(body.raw)}"
            )
        if message.type == GET_UPDATES:
            return f"a request for all updates after {self._revisions(body.members.get('since'))}"
        if not reads_as_update(message):
            return f"a {printable(message.type, 40) or 'message without a type'}{signed}"
        return f"{self._update(body.members, signed)}"

    @staticmethod
    def _signed(message: Message) -> str:
        if message.signature is None:
            return ""
        by = {
            READ_WRITE: "signed",
            READ_ONLY: "signed by a read-only peer",
            None: "with a signature of an unknown peer",
        }
        return f", {by[message.signer]}"

    def _update(self, members: Mapping[str, Any], signed: str) -> str:
        key = members.get("key")
        record = identifier(key) if isinstance(key, str) else "a record without a key"
        by, rev = members.get("last_updated_by"), members.get("last_updated_rev")
        who = name_peer(self._trace, by) if isinstance(by, str) else "nobody"
        what = "a deletion of " if members.get("deleted") is True else "an update of "
        value = "" if members.get("deleted") is True else f", which is {_quote(members.get('value'))}"
        details = [f"revision {printable(str(rev), 24)} of {short(who)}"]
        details += [f"of {printable(str(members['update_time']), 40)}"] if "update_time" in members else []
        details += [f"clock {self._revisions(members.get('vector_clock'))}"]
        return f"{what}{record}{value} ({', '.join(details)}{signed})"

    def _revisions(self, numbers: object) -> str:
        """Describe numbers by peer: a vector clock, or the revisions in a request."""
        if not isinstance(numbers, dict):
            return f"{_quote(numbers)}, which is not an object"
        shown, more = foremost(list(numbers.items()), lambda each: False, FEW)
        listed = [f"{name_peer(self._trace, peer)} {printable(str(number), 24)}" for peer, number in shown]
        return (", ".join(listed) + (f" and {more} more" if more else "")) or "nothing"

    def _incomplete_parts(self, step: Step) -> Iterator[tuple[int, str]]:
        """Yield the links on which a step sends an incomplete message, and the number of bytes sent there."""
        whole = {message.link for message in self._trace.out(step)}
        for link in dict.fromkeys(link for link, _ in step.sent if link not in whole):
            yield link, format_count(len(step.sent_on(link)), "byte")

    def _arrived_text(self, step: Step, about: frozenset[str]) -> str:
        messages = self._trace.into(step)
        size = format_count(len(step.request.receive.data), "byte")
        if not messages:
            are = "is" if len(step.request.receive.data) == 1 else "are"
            return f"{size} on link {step.link}, which {are} not a whole message: {hex_of(step.request.receive.data)}"
        matters = [m for m in messages if about & {m.body.members.get("uuid"), m.body.members.get("key")}]
        shown, more = foremost(matters or messages, lambda each: False, FEW)
        rest = f" and {more} more" if more else ""
        return f"{'; '.join(map(self.described, shown))}{rest} on link {step.link}"

    def _event(self, event: Event) -> str:
        match event.kind:
            case "changed":
                return f"signals that {self._record(event.record)}"
            case "conflict":
                other = f" and {identifier(event.incoming_uuid)}" if event.uuid != event.incoming_uuid else ""
                return f"signals a conflict of {identifier(event.uuid)}{other}"
            case "link_closed":
                reason = printable(event.reason, 120)
                return f"closes link {event.link}" + (f": {reason}" if reason else "")
            case _:
                return ""

    def _record(self, record: pb.Record) -> str:
        if record.deleted:
            return f"{identifier(record.key)} is deleted"
        return f"{identifier(record.key)} is {_shorten(record.value)}"

    def _state(self, state: pb.State, about: frozenset[str]) -> list[str]:
        out = []
        if state.HasField("revision"):
            out.append(f"revision counter {state.revision}")
        shown, more = foremost(list(state.records), lambda record: bool({record.uuid, record.key} & about), FEW)
        listed: Iterable[str] = map(self._record, shown)
        out.append(("; ".join(listed) + (f" and {more} more" if more else "")) or "no records")
        if state.known.since:
            out.append(f"has revisions {self._revisions(dict(state.known.since))}")
        return out


def _is_text(message: Message, name: str) -> bool:
    return isinstance(message.body.members.get(name), str)


def _shorten(text: str) -> str:
    return printable(text, LONGEST_VALUE)


def _quote(value: object) -> str:
    return _shorten(json_of(value, LONGEST_VALUE + 1))


def _level_text(level: AccessLevel | None) -> str:
    return level.value.replace("_", "-") if level is not None else "strange"
