"""The one run of the reference that several tests look at."""

from __future__ import annotations

import contextlib
import signal

import pytest

from sds_conformance.certification import Certification
from sds_conformance.exercise import certify_reference

# A shell starts its background jobs with SIGINT ignored, and the commands under test would inherit that.
with contextlib.suppress(ValueError):
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def outcome() -> Certification:
    """The reference model, judged on everything."""
    return certify_reference()
