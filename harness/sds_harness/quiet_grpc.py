"""Imports gRPC with its own logging switched off: the suite reports each failure itself, once."""

from __future__ import annotations

import os

_VERBOSITY = "GRPC_VERBOSITY"
_asked = os.environ.get(_VERBOSITY)
os.environ.setdefault(_VERBOSITY, "NONE")

import grpc  # noqa: E402 - the library looks at the variable now, and never again

if _asked is None:
    # Programs that are started from here may log.
    del os.environ[_VERBOSITY]

__all__ = ["grpc"]
