"""The declaration of an implementation in the handshake, made safe to print."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .language import HonouredLimit, Language

# CSI sequences (colours, cursor) and OSC strings (titles, links) of ECMA-48.
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


ORDER_MARK = "##"
"""The mark at the start of a CI command. Azure, TeamCity and old GitHub runners execute such commands anywhere in a
line.
"""
_MARKED_ORDER = re.compile(r"##(?=\w*\[)")
# GitHub obeys `::` at the start of a line, also after blanks and colours.
_ORDER_AT_HEAD = re.compile(r"^((?:\s|\x1b\[[0-9;]*m)*:)(?=:)", re.MULTILINE)


def without_orders(text: str) -> str:
    """Insert blanks into the CI commands in ``text``, so that a CI system that reads the log does not execute them.
    ``text`` must begin a line.
    """
    if "::" in text:
        text = _ORDER_AT_HEAD.sub(r"\1 ", text)
    return _without_marked_orders(text)


def _without_marked_orders(text: str) -> str:
    return _MARKED_ORDER.sub("# #", text) if ORDER_MARK in text else text


def without_controls(text: str, instead: str) -> str:
    """Make foreign ``text`` safe for a terminal: remove ANSI sequences, and put ``instead`` in place of each other
    control character."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else instead for c in _ANSI.sub("", text))


def clean_text(text: str) -> str:
    """``text`` without control characters and CI commands. Line breaks stay."""
    return without_orders("\n".join(without_controls(line, "�") for line in text.replace("\t", "    ").split("\n")))


def printable(text: str, limit: int = 200) -> str:
    """Foreign ``text`` without control characters, cut at ``limit`` characters, for use within a line.

    All text from implementations and files passes through here before it reaches a terminal, a log, a page or a report.
    CI commands that CI systems execute anywhere in a line are made harmless. `without_orders` does the same with
    commands that they execute only at the start of a line.
    """
    clean = _without_marked_orders(without_controls(text[: 4 * limit], "�"))
    return clean if len(clean) <= limit else clean[:limit] + "…"


VIRTUAL_CLOCK = "virtual-clock"
"""Short name of the capability of an implementation to take the time only from the requests of the harness."""
UNNAMED = "unnamed"
"""The name that reports show for an implementation that declares no name."""


@dataclass(frozen=True)
class OutsideClock:
    """The result of the attempt to set the clock that an implementation reads (with libfaketime or similar)."""

    moves: bool
    """Whether the implementation uses the time that the suite sets. Then the implementation counts as having a virtual
    clock, even if it declares none.
    """
    described: str
    """A phrase for reports that names the clock: the implementation's own, or the one that the suite sets."""
    why_not: str = ""
    """Why there is no virtual clock, as a reason for a skip; "" if there is one."""
    latest_ms: int = 253_402_300_799_000
    """The latest time to which the suite sets a clock: the last second of the year 9999. Libraries that read a clock do
    not support later times.
    """


@dataclass(frozen=True)
class Declaration:
    """The answer to the handshake. The suite does not guess capabilities."""

    name: str
    version: str
    language: str
    homepage: str
    revisions: tuple[str, ...]
    capabilities: frozenset[int]
    profiles: Mapping[str, str]
    """By the name of a profile in the handshake: its declared value; "" if the profile is not declared."""
    limits: Mapping[str, int | None]
    """Declared limits, by their names in the handshake; None means unbounded."""
    spoken: Language
    outside_clock: OutsideClock | None = None
    """The result of setting the clock of the implementation from outside; None if the suite does not set it."""
    alone: bool = False
    """Whether two processes of the implementation must not run at the same time."""

    @classmethod
    def for_unknown(cls, name: str, spoken: Language) -> Declaration:
        """The declaration of an implementation that never answered the handshake."""
        reply = spoken.reply()
        reply.hello.name = name
        return cls.from_hello(reply.hello, spoken)

    @classmethod
    def from_hello(cls, hello: Any, spoken: Language) -> Declaration:
        """Read the answer to a handshake. Strings are cleaned and cut."""
        profiles, limits = (_fields(hello, name) for name in ("profiles", "limits"))
        return cls(
            printable(hello.name),
            printable(hello.version),
            printable(hello.language),
            printable(hello.homepage),
            tuple(printable(revision) for revision in hello.revisions[:20]),
            frozenset(hello.capabilities),
            {name: printable(getattr(hello.profiles, name)) for name in profiles},
            {name: getattr(hello.limits, name) if hello.limits.HasField(name) else None for name in limits},
            spoken,
            alone=bool(getattr(hello, "alone", False)),
        )

    def to_hello(self) -> Any:
        """An answer to a handshake that declares what this object declares."""
        hello = self.spoken.reply().hello
        hello.protocol_version = 1
        hello.name = self.name or UNNAMED
        hello.version, hello.language, hello.homepage = self.version, self.language, self.homepage
        hello.revisions.extend(self.revisions)
        hello.capabilities.extend(sorted(self.capabilities))
        if self.alone:
            hello.alone = True
        if self.profiles:
            hello.profiles.SetInParent()
        if self.limits:
            hello.limits.SetInParent()
        for name, profile in self.profiles.items():
            setattr(hello.profiles, name, profile)
        for name, limit in self.limits.items():
            if limit is not None:
                setattr(hello.limits, name, limit)
        return hello

    def can(self, capability: int) -> bool:
        return capability in self.capabilities

    def can_by_name(self, capability: str) -> bool:
        """Is the capability with this short name declared? False if the language has no such capability."""
        return self.spoken.number_of(capability) in self.capabilities

    def dialect(self, asked: str | None) -> str:
        """The wire layout in use: ``asked`` if given ("" is the layout of the specification), else the declared
        dialect."""
        return self.profile("dialect") if asked is None else asked

    def profile(self, name: str) -> str:
        """The declared profile with this name, such as ``bloom``; "" if none is declared."""
        return self.profiles.get(name, "")

    def limit(self, name: str) -> int | None:
        """The declared limit ``name``, or the nearest value that checks honour; None if no such limit is declared.

        A declared 0 is returned as 0, not as None.
        """
        declared = self.limits.get(name)
        honoured = self.spoken.honoured.get(name)
        return declared if declared is None or honoured is None else honoured.nearest(declared)

    @property
    def partly_honoured_limits(self) -> dict[str, HonouredLimit]:
        """The declared limits that checks do not fully honour, by name."""
        return {
            name: honoured
            for name, honoured in self.spoken.honoured.items()
            if (declared := self.limits.get(name)) is not None and honoured.nearest(declared) != declared
        }

    def why_skipped(self, names: Collection[str]) -> str:
        """The reason to skip a test that needs the capabilities ``names`` (short names), which the implementation
        lacks.
        """
        reason = self.outside_clock.why_not if self.outside_clock is not None else ""
        reasons = {name: reason for name in names if reason and name == VIRTUAL_CLOCK}
        others = ", ".join(name for name in names if name not in reasons)
        return "; ".join([*([f"not declared: {others}"] if others else []), *reasons.values()])

    @property
    def capability_names(self) -> list[str]:
        """Short names of the declared capabilities, sorted."""
        return sorted(map(self.spoken.name_of, self.capabilities))

    def missing_capabilities(self, needed: Iterable[int]) -> list[str]:
        """Short names of the capabilities among ``needed`` that are not declared."""
        return [self.spoken.name_of(capability) for capability in needed if not self.can(capability)]


def _fields(hello: Any, group: str) -> list[str]:
    """Field names of a message in the handshake; an empty list if the language has no such message."""
    field = hello.DESCRIPTOR.fields_by_name.get(group)
    return list(field.message_type.fields_by_name) if field is not None else []
