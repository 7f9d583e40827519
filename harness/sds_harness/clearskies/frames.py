"""Messages of scripted peers: a body and a signature, neither of which need be correct."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from clearskies_reference import AccessLevel, SignatureProfile

from .clubs import READ_WRITE, sign


@dataclass(frozen=True)
class Frame:
    """A message to be written to a link."""

    body: bytes
    signature: bytes | None = None
    """Base64."""

    def signed(self, profile: SignatureProfile, level: AccessLevel = READ_WRITE) -> Frame:
        """The message, signed with the private key of an access level."""
        return replace(self, signature=b64encode(sign(self.body, level, profile)))

    def flipped(self, place: int = -2) -> Frame:
        """The message with the lowest bit of the body byte ``place`` flipped, and the signature unchanged."""
        body = bytearray(self.body)
        body[place] ^= 1
        return replace(self, body=bytes(body))

    def forged(self) -> Frame:
        """The message with one character of its signature changed. The signature is still base64. The message must be
        signed."""
        assert self.signature, "the message has no signature to forge"
        first = b"B" if self.signature[:1] == b"A" else b"A"
        return replace(self, signature=first + self.signature[1:])

    @property
    def wire(self) -> bytes:
        """The bytes on the wire, correct or not ("Framing" of the core protocol)."""
        if self.signature is None:
            return b"m%d%s" % (len(self.body), self.body)
        return b"s%d:%d%s\n%s\n" % (len(self.body), len(self.signature), self.body, self.signature)


def frame_of(members: Mapping[str, Any], spaced: bool = False) -> Frame:
    """A message with this object as its body; ``spaced`` reverses its members and adds blanks and an unknown member."""
    if spaced:
        odd = {**dict(sorted(members.items(), reverse=True)), "x-written-by": "hand"}
        return Frame(json.dumps(odd, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    text = json.dumps(dict(members), ensure_ascii=False, separators=(",", ":"))
    return Frame(text.encode("utf-8", "surrogatepass"))


UPDATE = "database.update"
GET_UPDATES = "database.get_updates"
PING_TYPE = "core.ping"
PING = frame_of({"type": PING_TYPE, "timeout": 60})
UNKNOWN = frame_of({"type": "x.nobody-knows", "since": {}, "key": 1})
CHATTER = (PING, UNKNOWN)
"""Messages that may arrive at any time and do not concern a database."""
