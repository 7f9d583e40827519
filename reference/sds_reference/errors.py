"""Errors of the reference model. An operation that raises one leaves the state unchanged."""

from __future__ import annotations


class SdsError(Exception):
    """Base class of all errors of the model."""


class MalformedMessageError(SdsError, ValueError):
    """The bytes are not an SDS message, or the message cannot be used (it has no message ID)."""


class ForeignFilterError(SdsError, ValueError):
    """The bloom filter is not of the local bloom profile; the specification leaves the encoding open."""


class ConfigurationError(SdsError, ValueError):
    """A value of the configuration is invalid."""


class RefusedSendError(SdsError, ValueError):
    """The application asked to send a message that the protocol cannot carry."""


class UnknownChannelError(SdsError, KeyError):
    """The participant is not a member of that channel."""

    def __str__(self) -> str:
        return f"not a member of channel {self.args[0]!r}: join it first"
