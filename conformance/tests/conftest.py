"""The fixtures that take long to make: one run of the reference, and a Spark session."""

from __future__ import annotations

import contextlib
import signal
import webbrowser
from collections.abc import Iterator
from typing import Any

import pytest

from run_helpers import certify_every_revision
from scripted_process import in_this_process
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


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A Spark session, which takes seconds to start. The commands that a test types use it."""
    pytest.importorskip("pyspark")
    from sds_harness.corpus.spark import SparkOptions, spark_session

    with spark_session(SparkOptions("local[2]", "512m"), "tests") as session:
        yield session


@pytest.fixture(scope="module", autouse=True)
def processes(request: pytest.FixtureRequest) -> Iterator[None]:
    """Commands of the suite play the reference in this process, unless the module has ``REAL_PROCESSES``."""
    with contextlib.nullcontext() if hasattr(request.module, "REAL_PROCESSES") else in_this_process():
        yield


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that the browser was asked to show."""
    asked: list[str] = []
    monkeypatch.setenv("DISPLAY", ":9")

    def show(address: str) -> bool:
        asked.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", show)
    return asked
