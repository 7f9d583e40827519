"""Each method that is marked as a fault is registered as a mutant."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

import pytest

import clearskies_reference.mutants
import sds_reference.mutants

PACKAGES = (sds_reference.mutants, clearskies_reference.mutants)
MODULES = [
    (package, import_module(found.name))
    for package in PACKAGES
    for found in walk_packages(package.__path__, f"{package.__name__}.")
    if not found.ispkg and not found.name.endswith(".registry")
]


def marked(module: ModuleType) -> set[str]:
    """The names of the methods of a module that are marked as faults."""
    classes = [
        value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__
    ]
    return {name for each in classes for name, method in vars(each).items() if hasattr(method, "fault")}


@pytest.mark.parametrize(("package", "module"), MODULES, ids=lambda module: module.__name__)
def test_every_method_that_is_marked_as_a_fault_is_a_mutant(package: ModuleType, module: ModuleType) -> None:
    lost = {name for name in marked(module) if name.replace("_", "-").lower() not in package.MUTANTS}
    assert lost == set(), "decorate the class with @register_faults"
