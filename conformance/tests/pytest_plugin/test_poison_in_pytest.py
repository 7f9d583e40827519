"""What pytest prints of an implementation is harmless in the log of a CI, and so is its file of results."""

from __future__ import annotations

import sys
from xml.etree import ElementTree

import pytest

from poison import harm
from pytest_runs import run
from run_helpers import REPOSITORY

ADAPTER = REPOSITORY / "conformance" / "tests" / "poisoned_adapter.py"


@pytest.mark.parametrize(
    "place",
    [
        "everywhere",
        "garbage",
        *(
            pytest.param(place, marks=pytest.mark.exhaustive)
            for place in ("greeting", "rejected", "unsupported", "error", "crash")
        ),
    ],
)
def test_no_line_of_pytest_obeys_the_implementation(place: str, pytester: pytest.Pytester) -> None:
    command = [sys.executable, str(ADAPTER), place]
    result = run(pytester, command, "sds::handshake", "sds::every-kind-of-message", "--junitxml=x.xml", "-v", "-rA")
    assert result.ret in (0, 1)
    assert harm(result.stdout.str()) == []
    assert harm(result.stderr.str()) == []
    text = (pytester.path / "x.xml").read_text("utf-8")
    ElementTree.fromstring(text)
    assert harm(text) == []


def test_no_story_of_a_test_with_a_stage_obeys_the_implementation(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_mine="""
        def test_mine(stage):
            alice = stage.open("alice")
            alice.send(b"one")
            said = repr(stage.trace.steps[-1].reply) + "##vso[x]"
            print(said)
            assert said == "of my own"
        """
    )
    result = run(pytester, [sys.executable, str(ADAPTER), "everywhere"], "--showlocals", "test_mine.py")
    assert result.parseoutcomes().get("failed") == 1
    assert "# #vso[x]" in result.stdout.str()
    assert harm(result.stdout.str()) == []
