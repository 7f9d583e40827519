"""Runs the reference inside this process when a command of the suite starts it, and can damage its replies.

To start the reference takes longer than to play a few scenarios with it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any
from unittest.mock import patch

from sds_conformance.protocols import Protocol, protocols
from sds_harness.faults import FaultKind
from sds_harness.link import LocalLink
from sds_harness.process import TesteeProcess
from sds_testee.framing import ENVIRONMENT_VARIABLE, Framing, FramingError

Damage = Callable[[Framing, bytes], bytes]
"""Returns the bytes to send instead of the frame of a reply."""


class ScriptedProcess:
    """A TesteeProcess that runs the reference of `python -m MODULE [OPTIONS]` without a process."""

    damage: Damage | None = None

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], memory_bytes: int, *, talks: bool = True
    ) -> None:
        self.failure: FaultKind | None = None
        self.memory_bytes = memory_bytes
        self.pid = 0
        self.why_at_once = ""
        self._protocol = protocol_in(command)
        module = self._protocol.model.module
        typed = import_module(f"{module}.testee.command")
        options = typed.options(typed.parser().parse_args(options_in(command)))
        self._link = LocalLink(import_module(f"{module}.testee.server").Testee(options).handle)
        self._framing = Framing(environment[ENVIRONMENT_VARIABLE])
        self._said = bytearray()
        self._heard = bytearray()

    def deadline_in(self, seconds: float) -> None:
        """Do nothing: every answer is there at once."""

    def write(self, data: bytes) -> bool:
        self._heard += data
        language = self._protocol.rules.language
        while (body := self._framing.take(self._heard)) is not None:
            try:
                request = self._framing.parse(body, language.request, lenient=True)
                reply = self._link.call(request, 1.0, language.reply)
            except FramingError:
                reply = language.reply()
                reply.error.message = "not a request"
            frame = self._framing.pack(reply)
            self._said += ScriptedProcess.damage(self._framing, frame) if ScriptedProcess.damage else frame
        return True

    def read(self) -> bytes:
        """Some bytes of stdout, b"" at its end."""
        out = bytes(self._said[: 1 << 16])
        del self._said[: len(out)]
        return out

    def read_remaining(self) -> bytes:
        return self.read()

    def wait_for_exit(self, seconds: float = 0.5) -> int | None:
        return 0

    def stderr_lines(self) -> tuple[str, ...]:
        return ()

    def new_stderr_lines(self) -> tuple[str, ...]:
        return ()

    def close(self, grace_s: float) -> bool:
        return True


def protocol_in(command: Sequence[str]) -> Protocol:
    """The protocol whose reference a command starts."""
    typed = " ".join(command).split()
    return next(protocol for protocol in protocols() if protocol.model.module in typed)


def options_in(command: Sequence[str]) -> list[str]:
    """The options of the reference in a command."""
    typed = " ".join(command).split()
    return typed[typed.index(protocol_in(command).model.module) + 1 :]


@contextmanager
def scripted(damage: Damage | None = None) -> Iterator[None]:
    """Replace the processes of the reference inside this block."""
    before, ScriptedProcess.damage = ScriptedProcess.damage, staticmethod(damage) if damage else None
    try:
        with patch("sds_harness.link.TesteeProcess", ScriptedProcess):
            yield
    finally:
        ScriptedProcess.damage = before


OPTIONS = {"--mutant", "--variant", "--without", "--dialect", "--bloom-profile", "--hash-profile"}
"""Options of the reference that are the same in this process."""


@contextmanager
def in_this_process() -> Iterator[None]:
    """Start no process for the reference inside this block, and no workers by default. All others get processes."""
    modules = {protocol.model.module for protocol in protocols()}

    def start(command: Sequence[str], *arguments: Any, **more: Any) -> ScriptedProcess | TesteeProcess:
        head, _, rest = " ".join(command).partition(" -m ")
        module, *options = rest.split() or [""]
        known = module in modules and {word for word in options if word.startswith("-")} <= OPTIONS
        if known and head.split()[0] == sys.executable:
            return ScriptedProcess(command, *arguments, **more)
        return TesteeProcess(command, *arguments, **more)

    with (
        patch("sds_harness.link.TesteeProcess", start),
        patch("sds_harness.resources.usable_processors", lambda *_, **__: 1),
    ):
        yield
