"""``sds-conformance interop``."""

from .command import interop

__all__ = ["interop"]
