"""Vectors of ClearSkies that fit their schema and mean nothing: the message is about the file, and no implementation is
blamed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sds_conformance.protocols.clearskies.vectors.material import MATERIAL
from sds_conformance.vectors.folder import read_json, violations
from sds_conformance.vectors.lint import lint
from suite_terminal import typed, words
from vector_folders import VECTOR_SET, VECTORS, copy_of_vectors, edit

REVISION = "clearskies-database"
Change = Callable[[dict[str, Any]], object]


def first(change: Callable[[dict[str, Any]], object]) -> Change:
    """A change of the first vector."""
    return lambda data: change(data["tests"][0])


def _step(kind: str, **fields: object) -> Change:
    """A change of the first step of a kind."""
    return first(lambda test: next(step for step in test["steps"] if step["do"] == kind).update(fields))


@pytest.mark.parametrize(
    ("name", "change", "output"),
    [
        ("conflicts", first(lambda test: test.update(orders=[[0, 7]])), ": orders/0: update 7 does not exist"),
        ("get-updates", first(lambda test: test["outcomes"][0].update(sent=[4])), "/sent: update 4 does not exist"),
        ("get-updates", first(lambda test: test["updates"][0].update(value="{")), "updates/0/value: no JSON"),
        ("conflicts", first(lambda test: test["updates"][0].update(value="NaN")), "updates/0/value: no JSON"),
        ("conflicts", first(lambda test: test["outcomes"][0]["keys"].update(k="x")), "outcomes/0/keys/k: no JSON"),
        ("signed-updates", first(lambda test: test["update"].update(value="[" * 4_000)), "JSON nested deeper"),
        ("ghost-records", _step("ask", link="nowhere"), "no earlier step connects the link 'nowhere'"),
        ("ghost-records", _step("put", value="'a'"), "/value: no JSON"),
        ("ghost-records", _step("repeat", update="never"), "no earlier put binds the name 'never'"),
    ],
)
def test_what_refers_to_what_is_not_there_is_an_error_of_the_file(name: str, change: Change, output: str) -> None:
    data = read_json(VECTORS / "clearskies" / f"{name}.json")
    assert violations(MATERIAL, data) == []
    change(data)
    (sentence,) = violations(MATERIAL, data)
    assert sentence.startswith(f"{data['tests'][0]['id']}: ")
    assert output in sentence


def test_nobody_is_asked_it(tmp_path: Path) -> None:
    folder = copy_of_vectors(tmp_path)
    edit(folder, "conflicts", first(lambda test: test.update(orders=[[0, 7]])), of="clearskies")
    output = "conflicts.json: conflicts/newer-with-a-smaller-time: orders/0: update 7 does not exist"
    assert any(output in sentence for sentence in lint(VECTOR_SET, folder))
    command = [sys.executable, "-m", "clearskies_reference"]
    refused = typed("vectors", "run", "--revision", REVISION, "--vectors", str(folder), "--", *command)
    assert refused.exit_code == 2
    assert output in words(refused.stderr)
