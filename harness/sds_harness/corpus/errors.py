"""Errors of a corpus, or of the place where it is to be recorded."""

from __future__ import annotations


class CorpusError(Exception):
    """A corpus cannot be read, compared or written. The message is a sentence that names the file and what to do."""


class SparkMissingError(CorpusError):
    """PySpark, or a suitable Java, is missing. The message says what to type."""


class SparkFailedError(Exception):
    """Spark itself failed. The message says why."""


class SuiteFaultError(Exception):
    """The suite failed in a task. The message says what failed and where."""


class NotDrivenError(CorpusError):
    """The implementation could not be driven, or was abandoned. The message says where and why."""
