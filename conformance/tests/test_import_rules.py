"""The two rules of the rooms, from the imports alone: only a protocol's own folders know it, and arrows go one way."""

from __future__ import annotations

from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from run_helpers import REPOSITORY
from source_imports import imports

PACKAGES = {
    "sds_testee": "reference",
    "sds_reference": "reference",
    "clearskies_reference": "reference",
    "sds_harness": "harness",
    "sds_conformance": "conformance",
}
ROOMS = (
    ("sds_proto", "clearskies_proto"),
    ("sds_testee",),
    ("sds_reference", "clearskies_reference"),
    ("sds_harness",),
    ("sds_conformance.judging",),
    ("sds_conformance.vectors",),
    ("sds_conformance.protocols",),
    ("sds_conformance.scenario_files",),
    ("sds_conformance.presentation",),
    ("sds_conformance.drawing",),
    ("sds_conformance.exploration",),
    ("sds_conformance.interop", "sds_conformance.corpus", "sds_conformance.reports"),
    ("sds_conformance.cli",),
    ("sds_conformance.pytest_plugin",),
)
"""From the bottom up: a package imports itself and those before it in this list, and none of its own level."""
KNOWING = {
    "SDS": ("sds_proto", "sds_reference", "sds_harness.sds", "sds_conformance.protocols.sds"),
    "ClearSkies": (
        "clearskies_proto",
        "clearskies_reference",
        "sds_harness.clearskies",
        "sds_conformance.protocols.clearskies",
    ),
}
"""By protocol: the only folders that may import it."""


def within(module: str, room: str) -> bool:
    return module == room or module.startswith(f"{room}.")


def rank(module: str) -> int:
    """How high the room of a module stands, -1 for what is in none."""
    return next((place for place, rooms in enumerate(ROOMS) if any(within(module, room) for room in rooms)), -1)


def room_of(module: str) -> str:
    return next((room for rooms in ROOMS for room in rooms if within(module, room)), module)


def modules() -> dict[str, Path]:
    """All modules of the packages by their full names."""
    found: dict[str, Path] = {}
    for package, folder in PACKAGES.items():
        for path in sorted((REPOSITORY / folder / package).rglob("*.py")):
            parts = path.relative_to(REPOSITORY / folder).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@cache
def all_imports() -> dict[str, list[tuple[int, str]]]:
    """The imports of all modules by their full names."""
    return {name: imports(path.read_text("utf-8"), name, path.name == "__init__.py") for name, path in MODULES.items()}


def complaints(module: str, found: list[tuple[int, str]]) -> list[str]:
    """Forbidden imports of a module: place, import, and the package in which it belongs."""
    out = []
    for line, target in found:
        where = f"{module} (line {line}) imports {target}"
        for protocol, folders in KNOWING.items():
            knows = any(within(module, folder) for folder in folders)
            if not knows and any(within(target, folder) for folder in folders):
                out.append(f"{where}: only {', '.join(folders)} know {protocol}; what needs it belongs there")
        above, beside = rank(target) > rank(module), rank(target) == rank(module)
        if rank(module) >= 0 and (above or (beside and room_of(target) != room_of(module))):
            out.append(f"{where}: that room stands above; what needs it belongs into {room_of(target)}")
    return out


def test_every_module_keeps_to_its_room() -> None:
    assert [said for module, found in all_imports().items() for said in complaints(module, found)] == []


@pytest.mark.parametrize(
    ("module", "source", "said"),
    [
        ("sds_conformance.judging.verdict", "from ..presentation import story", "sds_conformance.presentation"),
        ("sds_conformance.protocols.words", "from sds_reference import Message", "only sds_proto, sds_reference"),
        ("clearskies_reference.peer", "from sds_reference import Message", "know SDS"),
        ("sds_harness.sds.stage", "import sds_conformance.judging.rules", "stands above"),
    ],
)
def test_what_is_against_the_rules_would_be_seen(module: str, source: str, said: str) -> None:
    (complaint, *_) = complaints(module, imports(source, module, False))
    assert module in complaint
    assert said in complaint


def test_no_modules_import_each_other() -> None:
    graph: dict[str, set[str]] = {}
    for module, found in all_imports().items():
        targets = {target if target in MODULES else target.rpartition(".")[0] for _, target in found}
        graph[module] = {target for target in targets if target in MODULES and target != module}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle: {' -> '.join(error.args[1])}")
