"""What the reference model refuses, and why. Every refusal leaves the state as it was."""

from __future__ import annotations


class SdsError(Exception):
    """Base of all refusals of the model."""


class MalformedMessage(SdsError, ValueError):
    """Bytes that are not an SDS message, or one that cannot take part in the protocol (no message ID)."""


class ForeignFilter(SdsError, ValueError):
    """Bloom filter bytes that are not of the local bloom profile; the text leaves the encoding open."""


class ConfigurationError(SdsError, ValueError):
    """A configuration that has no meaning."""


class RefusedSend(SdsError, ValueError):
    """The application asked for a message that the protocol cannot carry."""


class UnknownChannel(SdsError, KeyError):
    """The participant is not a member of that channel."""

    def __str__(self) -> str:
        return f"not a member of channel {self.args[0]!r}: join it first"
