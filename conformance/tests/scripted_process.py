"""Runs the reference inside this process when a command of the suite starts it, and can damage its replies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from unittest.mock import patch

from sds_conformance.protocols import Protocol, protocols
from sds_harness.faults import FaultKind
from sds_testee.framing import ENVIRONMENT_VARIABLE, Framing, FramingError

Damage = Callable[[Framing, bytes], bytes]
"""Returns the bytes to send instead of the frame of a reply."""


class ScriptedProcess:
    """A TesteeProcess that runs the reference of `python -m MODULE [--mutant NAME]` without a process."""

    damage: Damage | None = None

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], memory_bytes: int, *, talks: bool = True
    ) -> None:
        self.failure: FaultKind | None = None
        self.memory_bytes = memory_bytes
        self.pid = 0
        self.why_at_once = ""
        self._protocol = protocol_in(command)
        mutant = command[command.index("--mutant") + 1] if "--mutant" in command else ""
        model = self._protocol.model
        self._link = model.mutant(mutant, frozenset()) if mutant else model.reference(frozenset())
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

    def rest(self) -> bytes:
        return self.read()

    def settle_exit(self, seconds: float = 0.5) -> int | None:
        return 0

    def stderr_lines(self) -> tuple[str, ...]:
        return ()

    def said(self) -> tuple[str, ...]:
        return ()

    def close(self, grace_s: float) -> bool:
        return True


def protocol_in(command: Sequence[str]) -> Protocol:
    """The protocol whose reference a command starts."""
    typed = " ".join(command).split()
    return next(protocol for protocol in protocols() if protocol.model.module in typed)


@contextmanager
def scripted(damage: Damage | None = None) -> Iterator[None]:
    """Replace the processes of the reference inside this block."""
    before, ScriptedProcess.damage = ScriptedProcess.damage, staticmethod(damage) if damage else None
    try:
        with patch("sds_harness.link.TesteeProcess", ScriptedProcess):
            yield
    finally:
        ScriptedProcess.damage = before
