"""Checks each message of a conversation against the JSON Schema of its type, and names the wrong field and the side
that sent the message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Any

from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet
from jsonschema import Draft202012Validator

from sds_testee.framing import Framing
from sds_testee.json_schema import schema_of

from .field_errors import FieldComplaint, NotAnObjectError, field_errors, name_of_message, parse_line, quote
from .language import Language
from .link import UNKNOWN_COMMAND, Listener

MAX_OF_ONE = 5
"""Maximum number of complaints about one message."""
MAX_COMPLAINTS = 50
"""Maximum number of distinct complaints that are kept."""


class MessageOrigin(Enum):
    """The side that sent a message with a complaint: the suite or the implementation."""

    ADAPTER = "the adapter"
    SUITE = "the suite"


@dataclass
class SchemaComplaint:
    """One place in a message that violates the schema."""

    side: MessageOrigin
    number: int
    """The number of the request, or of the request that the reply answers, counted from 1."""
    message_kind: str
    """The command or the answer; "" if it cannot be determined."""
    path: str
    """The path of the field within the message: ``effects.events[0].channelId``; "" for the message itself."""
    message: str
    """Describes the error and what was expected."""
    rule: str = ""
    """The violated rule of the schema. Complaints about the same field and rule count as equal, whatever the value
    of the field is."""
    more: int = 0
    """The number of further complaints about the same field and rule."""


class Validator(Listener):
    """Checks the messages of the links that it listens to, and collects a SchemaComplaint for each violation."""

    def __init__(self, language: Language, framing: Framing) -> None:
        self.framing = framing
        self.requests = 0
        self.dropped = 0
        """Number of complaints that were not kept because there were too many."""
        self._kinds = {MessageOrigin.SUITE: language.request, MessageOrigin.ADAPTER: language.reply}
        self._schemas = {side: Draft202012Validator(schema_of(kind.DESCRIPTOR)) for side, kind in self._kinds.items()}
        self._kept: dict[tuple[MessageOrigin, str, str], SchemaComplaint] = {}

    @property
    def complaints(self) -> list[SchemaComplaint]:
        """The complaints in the order in which they arose."""
        return list(self._kept.values())

    def sent(self, body: bytes) -> None:
        self.requests += 1
        self._add_complaints(MessageOrigin.SUITE, self.requests, body)

    def on_frame(self, body: bytes, whole: bool) -> None:
        if whole:
            self._add_complaints(MessageOrigin.ADAPTER, self.requests, body)

    def _add_complaints(self, side: MessageOrigin, number: int, body: bytes) -> None:
        what = ""
        if self.framing is Framing.BINARY:
            found = self._check_protobuf(side, body)
        else:
            try:
                message = parse_line(body)
                what = name_of_message(message)
                found = self._check_json(side, message)
            except NotAnObjectError as error:
                found = iter([("", str(error), "")])
        for path, complaint, rule in islice(found, MAX_OF_ONE):
            self._keep(SchemaComplaint(side, number, what, path, complaint, rule))

    def _keep(self, complaint: SchemaComplaint) -> None:
        alike = complaint.side, re.sub(r"\[\d+\]", "[]", complaint.path), complaint.rule or complaint.message
        if alike in self._kept:
            self._kept[alike].more += 1
        elif len(self._kept) < MAX_COMPLAINTS:
            self._kept[alike] = complaint
        else:
            self.dropped += 1

    def _check_json(self, side: MessageOrigin, message: Any) -> Iterator[FieldComplaint]:
        if not isinstance(message, dict):
            yield "", f"{quote(message)} is not an object", ""
            return
        if side is MessageOrigin.SUITE and UNKNOWN_COMMAND in message:
            return  # the suite sends this unknown command on purpose
        yield from field_errors(self._schemas[side], message)

    def _check_protobuf(self, side: MessageOrigin, body: bytes) -> Iterator[FieldComplaint]:
        """Complain of bytes that are not a message in protobuf, and of fields with unknown numbers."""
        if side is MessageOrigin.SUITE:
            return
        try:
            message: Message = self._kinds[side].FromString(body)
        except DecodeError:
            yield "", "the message is not a Reply in protobuf", ""
            return
        yield from _unknown_fields(message, "")


# ---- Protobuf ----------------------------------------------------------------------------------------------------


def _unknown_fields(message: Message, path: str) -> Iterator[FieldComplaint]:
    """The fields of a message whose numbers are unknown."""
    strange = UnknownFieldSet(message)
    for index in range(len(strange)):
        yield path, f"field number {strange[index].field_number} is unknown in {message.DESCRIPTOR.name}", ""
    for descriptor, value in message.ListFields():
        # Entries of maps are not checked.
        if descriptor.message_type is not None and not descriptor.message_type.GetOptions().map_entry:
            place = f"{path}.{descriptor.json_name}".removeprefix(".")
            if descriptor.is_repeated:
                for number, one in enumerate(value):
                    yield from _unknown_fields(one, f"{place}[{number}]")
            else:
                yield from _unknown_fields(value, place)
