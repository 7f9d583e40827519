"""gRPC, imported so that its library keeps its log to itself: what breaks is told once, in our own words."""

from __future__ import annotations

import os

_VERBOSITY = "GRPC_VERBOSITY"
_asked = os.environ.get(_VERBOSITY)
os.environ.setdefault(_VERBOSITY, "NONE")

import grpc  # noqa: E402 - the library looks at the variable now, and never again

if _asked is None:
    # What is started from here logs as it likes.
    del os.environ[_VERBOSITY]

__all__ = ["grpc"]
