"""Generated schedules: the same everywhere and within their grammar, and every passage occurs."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sds_harness.schedules import Schedule
from sds_harness.sds import operations as ops
from sds_harness.sds.generator import Grammar, draw_schedule, generate_schedule, passages_of
from sds_harness.sds.passages import PASSAGES
from sds_harness.sds.writer import SDS, Text, Writer
from sds_reference import FORUM_2024

HARNESS = Path(__file__).parents[2]
OTHERS = [
    python
    for minor in (11, 12, 13, 14)
    for python in sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python"))
    if minor != sys.version_info.minor
][:2]
"""Interpreters of other versions."""
PROPOSAL = Text.of(FORUM_2024)

# The packages are stubs: other interpreters do not have their imports, and the generator does not need them.
DIGEST = """
import hashlib, sys, types
for name in ("sds_harness", "sds_harness.schedules", "sds_harness.sds"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [sys.argv[1] + "/" + name.replace(".", "/")]
from sds_harness.sds.generator import generate_schedule
print(hashlib.sha256("".join(ascii(generate_schedule(0, index)) for index in range(20)).encode()).hexdigest())
"""


class Simplest:
    def integer(self, least: int, most: int) -> int:
        return least


def drawn(count: int, grammar: Grammar | None = None, seed: int = 3, text: Text = SDS) -> Iterator[Schedule]:
    return (generate_schedule(seed, index, grammar or Grammar(), text) for index in range(count))


@pytest.mark.every_python
@pytest.mark.parametrize(("python", "hash_seed"), [(Path(sys.executable), "1"), *((python, "2") for python in OTHERS)])
def test_every_interpreter_draws_the_same(python: Path, hash_seed: str) -> None:
    done = subprocess.run(
        [str(python), "-c", DIGEST, str(HARNESS)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    here = "".join(ascii(generate_schedule(0, index)) for index in range(20))
    assert (done.stdout.strip(), done.stderr) == (hashlib.sha256(here.encode()).hexdigest(), "")


@pytest.mark.parametrize("text", [SDS, PROPOSAL], ids=["sds", "proposal"])
def test_each_passage_of_a_revision_is_reached_and_no_other(text: Text, monkeypatch: pytest.MonkeyPatch) -> None:
    written: Counter[str] = Counter()

    def counting(name: str, write: Callable[[Writer], None]) -> Callable[[Writer], None]:
        def count(writer: Writer) -> None:
            written[name] += 1
            write(writer)

        return count

    for name, passage in list(PASSAGES.items()):
        monkeypatch.setitem(PASSAGES, name, replace(passage, write=counting(name, passage.write)))
    list(drawn(700, text=text))
    assert set(written) == set(passages_of(text))
    assert min(written.values()) >= 3


@pytest.mark.parametrize(
    ("grammar", "said"), [(Grammar(sds_r=True), "no SDS-R"), (Grammar(passages=("gap",)), "'gap'")]
)
def test_what_the_proposal_has_not_cannot_be_asked_for(grammar: Grammar, said: str) -> None:
    with pytest.raises(ValueError, match=f"{said}.*forum-2024|forum-2024.*{said}"):
        draw_schedule(Simplest(), grammar, text=PROPOSAL)
    with pytest.raises(ValueError, match="'syncs-in-reverse' does not apply to SDS"):
        draw_schedule(Simplest(), Grammar(passages=("syncs-in-reverse",)))


def test_unscripted_nobody_says_odd_things() -> None:
    def odd(grammar: Grammar) -> set[str]:
        kinds = {operation.op for schedule in drawn(150, grammar) for operation in schedule.operations}
        return kinds & {"say", "garble"}

    assert odd(Grammar(scripted=False)) == set()
    assert odd(Grammar()) == {"say", "garble"}


def test_every_operation_is_drawn() -> None:
    by_hand = {"write", "receive", "settle", "mark", "require", "repeat", "await", "build_filter", "repair_times"}
    every = {operation.op for schedule in drawn(300) for operation in schedule.operations}
    assert every == set(ops.OPERATIONS) - by_hand


@pytest.mark.parametrize("bounds", [(1, 1), (2, 3), (4, 4), (5, 8), (8, 8)])
def test_as_many_participants_as_were_asked_for(bounds: tuple[int, int]) -> None:
    sizes = {len(schedule.members) for schedule in drawn(80, Grammar(*bounds))}
    least, most = bounds
    # Numbers without a weight are drawn only if no number in the range has one.
    assert sizes == set(range(max(least, min(3, most)), most + 1))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"fewest": 0}, "between 1 and 8"),
        ({"most": 9}, "not 3 to 9"),
        ({"fewest": 5, "most": 4}, "not 5 to 4"),
        ({"longest": 0}, "at least one passage"),
        ({"passages": ("gap", "no-such")}, "unknown passage 'no-such': passages are .*gap"),
    ],
)
def test_a_grammar_that_makes_no_sense_is_refused(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Grammar(**arguments)  # type: ignore[arg-type]
