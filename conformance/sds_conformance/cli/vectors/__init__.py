"""``sds-conformance vectors``."""

from .command import vectors

__all__ = ["vectors"]
