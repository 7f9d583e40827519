"""Converts the steps of ClearSkies to rows of a corpus, without what the specification leaves open."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import MalformedMessageError, timestamp

from ..corpus.digests import digest64, to_signed
from ..corpus.schema import Row
from .bodies import RoundedNumber, read_number
from .frames import GET_UPDATES, UPDATE
from .group_trace import GroupTrace
from .names import Names
from .streams import Message
from .trace import Step, Trace

_EXACT = 1 << 53
"""Below this number, a double represents every integer exactly."""


class ClearSkiesRowReader:
    """Reads the columns of ClearSkies from the steps of one group trace."""

    def __init__(self, group_trace: GroupTrace) -> None:
        self.names = Names(group_trace)
        self._group_trace = group_trace
        self._ends = {
            (each.participant, each.number): f"{self.names.name_of(each.peer_id)}/{each.number}"
            for trace in group_trace.traces
            for each in trace.connections
        }

    def normative_columns(self, step: Step, trace: Trace) -> Row:
        """The values of the normative columns of ClearSkies for a step."""
        names = self.names
        act = self._group_trace.act_of(trace, step.index)
        out = trace.out(step)
        row: Row = {
            "link": self._end(step, step.link) if step.link else "",
            "record": names.record(step.uuid) if step.uuid else "",
            "arrives": names.arriving_names(act) if act is not None else [],
            "sent": self.sent(step, trace),
            "updates": digest64(_sort_values(self.content_of(message) for message in out if message.type == UPDATE)),
            "times": digest64(_sort_values(self._time(message, trace) for message in out if message.type == UPDATE)),
            "since": digest64(
                _sort_values(
                    [self._end(step, m.link), names.format_since(_revisions_since(m))]
                    for m in out
                    if m.type == GET_UPDATES
                )
            ),
            "signed": self._sent(step, [message for message in out if message.signature is not None]),
            "changed": sorted(self._record_entry(event.record) for event in step.signals("changed")),
            "conflicts": sorted(
                f"{names.record(event.uuid)} {names.record(event.incoming_uuid)}" for event in step.signals("conflict")
            ),
            "closed": sorted(self._end(step, event.link) for event in step.signals("link_closed")),
            "records": 0,
            "deleted": 0,
            "known": 0,
        }
        if (state := step.state) is not None:
            existing = [record for record in state.records if not record.deleted]
            row["records"] = digest64(
                _sort_values([self._record_entry(each), each.key, _plain(each.value)] for each in existing)
            )
            row["deleted"] = digest64(sorted(names.record(each.uuid) for each in state.records if each.deleted))
            row["known"] = digest64(names.format_since(state.known.since))
        return row

    def informative(self, step: Step, trace: Trace) -> Row:
        """The values of the informative columns of ClearSkies for a step."""
        state = step.state
        clocks = [message.body.members.get("vector_clock") for message in trace.out(step) if message.type == UPDATE]
        shown = sorted((record.uuid, sorted(record.vector_clock.items())) for record in state.records) if state else []
        counts = state is not None and state.HasField("revision")
        return {
            "clocks": digest64([clocks, shown] if clocks or shown else []),
            "bodies": digest64([(link, data.hex()) for link, data in step.sent]),
            "revision": to_signed(state.revision) if state is not None and counts else -1,
        }

    def sent(self, step: Step, trace: Trace) -> list[str]:
        """The sent messages of a step, each with its recipient, sorted because their order is not specified."""
        return self._sent(step, trace.out(step))

    def _sent(self, step: Step, messages: Iterable[Message]) -> list[str]:
        named = ((self._end(step, message.link), self.names.name_message(message)) for message in messages)
        return sorted(f"{end} {name}" for end, name in named if name)

    def _end(self, step: Step, number: int) -> str:
        """The peer at the other end of a link, and the number of the link."""
        return self._ends.get((step.participant, number), f"nobody/{number}")

    def content_of(self, message: Message) -> list[Any]:
        """The content of an update, without what the specification leaves open; for a deleted record only that
        it is deleted."""
        members = message.body.members
        deleted = members.get("deleted", False)
        fields = ["", None] if deleted is True else [members.get("key"), _form(members.get("value"))]
        return [self.names.name_message(message), self.names.record(members.get("uuid")), *fields, deleted]

    def _time(self, message: Message, trace: Trace) -> list[Any]:
        try:
            seconds = timestamp(message.body.members.get("update_time")).seconds - trace.start_ms // 1_000
        except MalformedMessageError:
            return [self.names.name_message(message), "?"]
        return [self.names.name_message(message), seconds]

    def _record_entry(self, record: pb.Record) -> str:
        """A shown record: its name and the update that it comes from."""
        return f"{self.names.record(record.uuid)} {self.names.version(record.last_updated_by, record.last_updated_rev)}"


def _revisions_since(message: Message) -> dict[Any, Any]:
    found = message.body.members.get("since")
    return found if isinstance(found, dict) else {}


def _sort_values(values: Iterable[list[Any]]) -> list[str]:
    """The values as JSON, sorted, without duplicates, because one message goes to several peers."""
    return sorted({json.dumps(value) for value in values})


def _plain(text: str) -> list[Any]:
    """The value of a JSON text as ``_form`` returns it; for invalid JSON, a digest of the text."""
    try:
        return _form(json.loads(text, parse_float=read_number))
    except (ValueError, RecursionError):
        return ["no JSON", digest64([text])]


def _form(value: Any) -> list[Any]:
    """A JSON value of any depth as a flat list of its parts: lists with their lengths, objects with their sorted names.
    Integers and floats of equal value are equal."""
    out: list[Any] = []
    left = [value]
    while left:
        match left.pop():
            case list() as each:
                out.append(["[", len(each)])
                left += reversed(each)
            case dict() as each:
                out.append(["{", *sorted(each)])
                left += (each[name] for name in sorted(each, reverse=True))
            case float() as number if number.is_integer() and abs(number) < _EXACT:
                out.append(int(number))
            case RoundedNumber() as number if number.written.bit_length() <= 64:
                out.append(number.written)
            case scalar:
                out.append(scalar)
    return out
