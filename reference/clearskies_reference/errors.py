"""Errors of the model. An operation that raises one leaves the database unchanged."""

from __future__ import annotations


class ClearSkiesError(Exception):
    """Base class of all errors of the model."""


class BrokenFramingError(ClearSkiesError, ValueError):
    """The start of the next message cannot be found: the link is unusable."""


class MalformedMessageError(ClearSkiesError, ValueError):
    """A message is malformed, or its sender has no right to send it."""


class ConfigurationError(ClearSkiesError, ValueError):
    """A value of the configuration is invalid."""


class RefusedWriteError(ClearSkiesError, ValueError):
    """The application requested an impossible change."""


class UnknownLinkError(ClearSkiesError, KeyError):
    """The peer has no link of that number."""

    def __str__(self) -> str:
        return f"no link {self.args[0]}: connect it first"


class StoreError(ClearSkiesError, OSError):
    """The store cannot be read or written."""
