"""``selftest --generated`` as it is typed: a few places in one configuration."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module

import pytest

from sds_conformance.judging.alterations.source import ModelSource
from sds_conformance.protocols.sds.source import SOURCE
from suite_terminal import typed

pytestmark = pytest.mark.exhaustive

NEXT = "lamport_clock.LamportClock.next: *"
COUNTS = "lamport_clock.LamportClock.next: one-more: 1"
ONE_PROCESS = ("selftest", "--generated", "--jobs", "1")


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> ModelSource:
    """The source as it is, in its first configuration alone; the processes that play are forks of this one."""
    few = replace(SOURCE, configurations=SOURCE.configurations[:1], excuses=lambda: "")
    module = import_module("sds_conformance.cli.generated")
    protocol = module.protocol_with_source()[0]
    monkeypatch.setattr(module, "protocol_with_source", lambda: (protocol, few))
    return few


@pytest.mark.usefixtures("source")
def test_the_same_for_programs() -> None:
    result = typed(*ONE_PROCESS, "--only", COUNTS, "--json")
    data = json.loads(result.stdout)
    assert result.exit_code == 0
    assert (data["found"], data["foundByRun"], data["counts"]) == (1.0, 1.0, {"fails": 1})
    (fault,) = data["faults"]
    assert (fault["name"], fault["place"]["new"], fault["end"]) == (COUNTS, "2", "fails")
