"""The one run of the reference that several tests look at."""

from __future__ import annotations

import contextlib
import signal

import pytest

from played import certify_every_revision
from sds_conformance.judging.certification import Certification
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.protocols.sds.rules import start

# A shell starts its background jobs with SIGINT ignored, and the commands under test would inherit that.
with contextlib.suppress(ValueError):
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def outcomes() -> dict[str, Certification]:
    """The reference model, judged on everything, by revision."""
    return certify_every_revision(start)


@pytest.fixture(scope="session")
def outcome(outcomes: dict[str, Certification]) -> Certification:
    """The reference model, judged on all that the current revision states."""
    return outcomes[CURRENT]
