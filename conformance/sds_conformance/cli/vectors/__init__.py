"""``sds-conformance vectors``."""

from .command import vectors_command

__all__ = ["vectors_command"]
