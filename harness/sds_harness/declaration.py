"""What an implementation declares of itself in the handshake, made safe to print."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .language import HonouredLimit, Language

# CSI sequences (colours, cursor) and OSC strings (titles, links) of ECMA-48.
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


ORDER_MARK = "##"
"""What commands to a CI begin with: Azure, TeamCity and old GitHub runners obey it anywhere in a line."""
_MARKED_ORDER = re.compile(r"##(?=\w*\[)")
# GitHub obeys `::` at the head of a line, behind blanks and colours.
_ORDER_AT_HEAD = re.compile(r"^((?:\s|\x1b\[[0-9;]*m)*:)(?=:)", re.MULTILINE)


def without_orders(text: str) -> str:
    """``text``, which begins a line, with a blank in whatever a CI would obey if its log had the text."""
    if "::" in text:
        text = _ORDER_AT_HEAD.sub(r"\1 ", text)
    return _without_marked_orders(text)


def _without_marked_orders(text: str) -> str:
    return _MARKED_ORDER.sub("# #", text) if ORDER_MARK in text else text


def without_controls(text: str, instead: str) -> str:
    """``text`` of a stranger, safe on a terminal: no ANSI sequences, ``instead`` for each other control character."""
    if text.isprintable():  # as most of it is
        return text
    return "".join(c if c.isprintable() else instead for c in _ANSI.sub("", text))


def harmless(text: str) -> str:
    """``text`` of several lines, which stay, without control characters and commands to a CI."""
    return without_orders("\n".join(without_controls(line, "�") for line in text.replace("\t", "    ").split("\n")))


def printable(text: str, limit: int = 200) -> str:
    """``text`` of a stranger without control characters, cut at ``limit``, to be part of a line.

    Whatever an implementation or a file says passes here on its way to a terminal, a log, a page or a report. Commands
    that a CI obeys anywhere in a line are broken; where the text begins a line, `without_orders` breaks the others.
    """
    clean = _without_marked_orders(without_controls(text[: 4 * limit], "�"))
    return clean if len(clean) <= limit else clean[:limit] + "…"


VIRTUAL_CLOCK = "virtual-clock"
"""Short name of the capability to take the time from the harness alone, in every language that has it."""
UNNAMED = "unnamed"
"""Of an implementation that declares no name, where it has to have one."""


@dataclass(frozen=True)
class OutsideClock:
    """What came of moving the time of an implementation from outside, where that was asked for."""

    moves: bool
    """It follows, and has a virtual clock for us, whether it declares one or not."""
    told: str
    """Whose clock it is, in words."""
    why_not: str = ""
    """Why there is no virtual clock, as a reason to skip what needs one; "" if there is one."""
    latest_ms: int = 253_402_300_799_000
    """The last second of the year 9999: what libraries read a clock with goes no further."""


@dataclass(frozen=True)
class Declaration:
    """The handshake's answer. Capabilities are declared, never guessed."""

    name: str
    version: str
    language: str
    homepage: str
    revisions: tuple[str, ...]
    capabilities: frozenset[int]
    profiles: Mapping[str, str]
    """Choices that the text leaves open, by the names that the handshake has for them; "" for none."""
    limits: Mapping[str, int | None]
    """What is bounded, by the names that the handshake has for it; None is unbounded."""
    spoken: Language
    outside_clock: OutsideClock | None = None
    """None where nobody moves its time from outside."""
    alone: bool = False
    """Two processes of it cannot run at the same time."""

    @classmethod
    def unknown(cls, name: str, spoken: Language) -> Declaration:
        """Of an implementation that never introduced itself."""
        reply = spoken.reply()
        reply.hello.name = name
        return cls.from_hello(reply.hello, spoken)

    @classmethod
    def from_hello(cls, hello: Any, spoken: Language) -> Declaration:
        """Read the answer to a handshake; strings are bounded and cleaned."""
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
        """The answer to a handshake that says the same."""
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
        """Is a capability declared, by its short name? Not where the language has none of that name."""
        return self.spoken.number_of(capability) in self.capabilities

    def dialect(self, asked: str | None) -> str:
        """The private wire layout that is spoken: the one ``asked`` for, "" being that of the text, else the declared
        one."""
        return self.profile("dialect") if asked is None else asked

    def profile(self, name: str) -> str:
        """What was chosen, "" for nothing that has a name."""
        return self.profiles.get(name, "")

    def limit(self, name: str) -> int | None:
        """The declared limit, moved into the bounds within which checks honour it; None if none is declared.

        0 is a limit like any other.
        """
        declared = self.limits.get(name)
        honoured = self.spoken.honoured.get(name)
        return declared if declared is None or honoured is None else honoured.nearest(declared)

    @property
    def unhonoured(self) -> dict[str, HonouredLimit]:
        """The declared limits that excuse less than they claim, by name."""
        return {
            name: honoured
            for name, honoured in self.spoken.honoured.items()
            if (declared := self.limits.get(name)) is not None and honoured.nearest(declared) != declared
        }

    def why_skipped(self, names: Collection[str]) -> str:
        """Why what needs capabilities, given by their short names, that are not declared is skipped."""
        told = self.outside_clock.why_not if self.outside_clock is not None else ""
        reasons = {name: told for name in names if told and name == VIRTUAL_CLOCK}
        others = ", ".join(name for name in names if name not in reasons)
        return "; ".join([*([f"not declared: {others}"] if others else []), *reasons.values()])

    @property
    def capability_names(self) -> list[str]:
        """Short names of what is declared, sorted."""
        return sorted(map(self.spoken.name_of, self.capabilities))

    def lacking(self, needed: Iterable[int]) -> list[str]:
        """Short names of the capabilities among ``needed`` that are not declared."""
        return [self.spoken.name_of(capability) for capability in needed if not self.can(capability)]


def _fields(hello: Any, group: str) -> list[str]:
    """Names of what a handshake tells in one of its messages, none if the language has no such message."""
    field = hello.DESCRIPTOR.fields_by_name.get(group)
    return list(field.message_type.fields_by_name) if field is not None else []
