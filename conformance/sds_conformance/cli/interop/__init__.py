"""``sds-conformance interop``."""

from .command import interop_command

__all__ = ["interop_command"]
