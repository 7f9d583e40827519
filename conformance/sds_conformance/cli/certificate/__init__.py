"""``sds-conformance certificate``."""

from .command import certificate_command

__all__ = ["certificate_command"]
