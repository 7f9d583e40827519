"""The one run of the reference that several tests look at."""

from __future__ import annotations

import pytest

from sds_conformance.certification import Certification
from sds_conformance.exercise import certify_reference


@pytest.fixture(scope="session")
def outcome() -> Certification:
    """The reference model, judged on everything."""
    return certify_reference()
