"""What the model refuses, and why. Every refusal leaves the database as it was."""

from __future__ import annotations


class ClearSkiesError(Exception):
    """Base of all refusals of the model."""


class BrokenFraming(ClearSkiesError, ValueError):
    """Bytes after which nobody knows where the next message begins: the link cannot go on."""


class MalformedMessage(ClearSkiesError, ValueError):
    """A message that is not what the text says one is, or of somebody who may not send it."""


class ConfigurationError(ClearSkiesError, ValueError):
    """A configuration that has no meaning."""


class RefusedWrite(ClearSkiesError, ValueError):
    """The application asked for a change that cannot be made."""


class UnknownLink(ClearSkiesError, KeyError):
    """The peer has no link of that number."""

    def __str__(self) -> str:
        return f"no link {self.args[0]}: connect it first"


class StoreError(ClearSkiesError, OSError):
    """What must not be lost cannot be kept."""
