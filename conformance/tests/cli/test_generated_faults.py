"""``selftest --generated`` as it is typed: a few places in one configuration."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module

import pytest

from sds_conformance.judging.alterations.fates import AlterationResult, End
from sds_conformance.judging.alterations.places import AlterationPlace
from sds_conformance.judging.alterations.source import ModelSource
from sds_conformance.protocols.sds.source import SOURCE
from suite_terminal import typed, words

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


def fates_of(monkeypatch: pytest.MonkeyPatch, *ends: End, interrupted: bool = False) -> None:
    """Have the first places end so, without playing any."""

    def examined(
        err: object, reached: object, chosen: list[AlterationPlace], excused: object, jobs: int
    ) -> Iterator[AlterationResult]:
        for place, end in zip(chosen, ends, strict=False):
            yield (
                AlterationResult(place, end, "fuzz", "SDS-SEND-02 in schedule 3: 7")
                if end is End.FOUND
                else AlterationResult(place, end)
            )
        if interrupted:
            raise KeyboardInterrupt

    module = import_module("sds_conformance.cli.generated")
    monkeypatch.setattr(module, "_measure_coverage", lambda *arguments: None)
    monkeypatch.setattr(module, "_examine_places", examined)


def test_it_says_by_what_they_are_found_and_where_those_are_that_live(monkeypatch: pytest.MonkeyPatch) -> None:
    fates_of(monkeypatch, End.FAILS, End.FOUND, End.LIVES)
    result = typed(*ONE_PROCESS, "--only", NEXT, "--sample", "3", "--seed", "5")
    output = words(result.stdout)
    assert result.exit_code == 1
    assert re.search(r"Places changed: 3 of \d+ places, drawn with seed 5\.", output)
    assert "run (a requirement fails) 1 fuzz alone 1 nothing 1" in output
    assert "SDS-SEND-02 in schedule 3: 7" in output
    assert re.search(r"Alive: \S+lamport_clock.py:\d+ lamport_clock.LamportClock.next: [^ ]+: .* -.* \+", output)
    assert "33.3% of 3 found by run (goal 97%), 66.7% by anything (goal 99%)." in output


@pytest.mark.usefixtures("source")
def test_the_same_for_programs() -> None:
    result = typed(*ONE_PROCESS, "--only", COUNTS, "--json")
    data = json.loads(result.stdout)
    assert result.exit_code == 0
    assert (data["found"], data["foundByRun"], data["counts"]) == (1.0, 1.0, {"fails": 1})
    (fault,) = data["faults"]
    assert (fault["name"], fault["place"]["new"], fault["end"]) == (COUNTS, "2", "fails")


def test_an_excuse_for_what_is_killed_is_an_error(monkeypatch: pytest.MonkeyPatch, source: ModelSource) -> None:
    excused = replace(source, excuses=lambda: f"legal\t{COUNTS}\tit counts")
    module = import_module("sds_conformance.cli.generated")
    protocol = module.protocol_with_source()[0]
    monkeypatch.setattr(module, "protocol_with_source", lambda: (protocol, excused))
    fates_of(monkeypatch, End.FAILS)
    result = typed(*ONE_PROCESS, "--only", COUNTS)
    assert result.exit_code == 1
    assert f"Outdated excuse (killed: fails): {COUNTS}" in words(result.stdout)
