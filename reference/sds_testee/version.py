"""The version of this distribution, for handshakes and reports."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def suite_version() -> str:
    """Version of the installed distribution; "0+unknown" if the packages are used without installation."""
    try:
        return version("sds-conformance")
    except PackageNotFoundError:
        return "0+unknown"
