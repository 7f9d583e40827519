"""What can be wrong with a corpus, or with the place where it is to be made."""

from __future__ import annotations


class CorpusError(Exception):
    """A corpus cannot be read, compared or written. The message is a sentence that names the file and what to do."""


class SparkMissing(CorpusError):
    """PySpark, or a Java that it runs on, is not there. The message says what to type."""


class SparkFailed(Exception):
    """Spark ended a job, or itself, for a reason of its own: the message says which."""


class SuiteFault(Exception):
    """Something of this suite failed in a task: the message says what, and where."""


class NotDriven(CorpusError):
    """The implementation could not be driven, or was given up: the message says where and why."""
