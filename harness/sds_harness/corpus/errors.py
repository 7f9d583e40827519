"""Errors of reading, recording and comparing corpora."""

from __future__ import annotations


class CorpusError(Exception):
    """A corpus cannot be read, compared or written. The message names the file and the remedy."""


class SparkMissingError(CorpusError):
    """PySpark, or a suitable Java, is missing. The message names the command to type."""


class SparkFailedError(Exception):
    """Spark itself failed. The message has the reason."""


class SuiteFaultError(Exception):
    """A fault of the suite made a task of a Spark job fail. The message names the exception, the file and the line."""


class NotDrivenError(CorpusError):
    """The implementation failed the handshake, changed its name, did not play a schedule, or broke down too often.

    The message has the place and the reason.
    """
