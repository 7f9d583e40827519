"""What an implementation declares of itself in the handshake, made safe to print."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sds_proto.testee.v1 import testee_pb2 as pb

Capability = pb.Capability
"""The enum of testee.proto."""


def capability_name(capability: int) -> str:
    """Short name as it is printed: ``observe`` for CAPABILITY_OBSERVE."""
    if capability in pb.Capability.values():
        return pb.Capability.Name(capability).removeprefix("CAPABILITY_").lower().replace("_", "-")
    return f"capability {capability}"


# CSI sequences (colours, cursor) and OSC strings (titles, links) of ECMA-48.
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


def without_controls(text: str, instead: str) -> str:
    """``text`` of a stranger, safe on a terminal: no ANSI sequences, ``instead`` for each other control character."""
    return "".join(c if c.isprintable() else instead for c in _ANSI.sub("", text))


def printable(text: str, limit: int = 200) -> str:
    """``text`` of a stranger without control characters, cut at ``limit``."""
    clean = without_controls(text[: 4 * limit], "�")
    return clean if len(clean) <= limit else clean[:limit] + "…"


UNNAMED = "unnamed"
"""Of an implementation that declares no name, where it has to have one."""


@dataclass(frozen=True)
class Declaration:
    """The handshake's answer. Capabilities are declared, never guessed."""

    name: str
    version: str
    language: str
    homepage: str
    revisions: tuple[str, ...]
    capabilities: frozenset[int]
    bloom_profile: str
    hash_profile: str
    id_order: str
    dialect: str
    content_bytes: int | None
    lamport_ahead_ms: int | None
    log_entries: int | None

    @classmethod
    def unknown(cls, name: str) -> Declaration:
        """Of an implementation that never introduced itself."""
        return cls.from_hello(pb.HelloReply(name=name))

    @classmethod
    def from_hello(cls, hello: pb.HelloReply) -> Declaration:
        """Read a HelloReply; strings are bounded and cleaned."""
        limits = hello.limits
        return cls(
            printable(hello.name),
            printable(hello.version),
            printable(hello.language),
            printable(hello.homepage),
            tuple(printable(revision) for revision in hello.revisions[:20]),
            frozenset(hello.capabilities),
            printable(hello.profiles.bloom),
            printable(hello.profiles.hash),
            printable(hello.profiles.id_order),
            printable(hello.profiles.dialect),
            limits.content_bytes if limits.HasField("content_bytes") else None,
            limits.lamport_ahead_ms if limits.HasField("lamport_ahead_ms") else None,
            limits.log_entries if limits.HasField("log_entries") else None,
        )

    def to_hello(self) -> pb.HelloReply:
        """The answer to a handshake that says the same."""
        return pb.HelloReply(
            protocol_version=1,
            name=self.name or UNNAMED,
            version=self.version,
            language=self.language,
            homepage=self.homepage,
            revisions=self.revisions,
            capabilities=sorted(self.capabilities),  # type: ignore[arg-type]
            profiles=pb.Profiles(
                bloom=self.bloom_profile, hash=self.hash_profile, id_order=self.id_order, dialect=self.dialect
            ),
            limits=pb.Limits(
                content_bytes=self.content_bytes,
                lamport_ahead_ms=self.lamport_ahead_ms,
                log_entries=self.log_entries,
            ),
        )

    def can(self, capability: int) -> bool:
        return capability in self.capabilities
