"""Errors: input that the model refuses. A refusal does not change the database."""

from __future__ import annotations


class ClearSkiesError(Exception):
    """Base of all refusals of the model."""


class BrokenFramingError(ClearSkiesError, ValueError):
    """The start of the next message cannot be found: the link is unusable."""


class MalformedMessageError(ClearSkiesError, ValueError):
    """A message is malformed, or its sender may not send it."""


class ConfigurationError(ClearSkiesError, ValueError):
    """A configuration that has no meaning."""


class RefusedWriteError(ClearSkiesError, ValueError):
    """The application requested an impossible change."""


class UnknownLinkError(ClearSkiesError, KeyError):
    """The peer has no link of that number."""

    def __str__(self) -> str:
        return f"no link {self.args[0]}: connect it first"


class StoreError(ClearSkiesError, OSError):
    """The store cannot be written."""
