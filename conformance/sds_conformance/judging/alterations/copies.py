"""Imports a second copy of a package under another name, with some modules changed in memory."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from itertools import count
from types import CodeType

_NUMBERS = count(1)
_NOTHING: Mapping[str, object] = {}


@contextmanager
def importable_copy(
    package: str, changed: Mapping[str, ast.Module], given: Mapping[str, object] = _NOTHING
) -> Iterator[str]:
    """Provide the name under which a copy of ``package`` can be imported, until the end of the context.

    ``changed`` maps names of modules in the package to their changed syntax trees. ``given`` are variables that are set
    in each changed module before it is executed.
    """
    name = f"{package}__copy{next(_NUMBERS)}"
    finder = _CopyFinder(package, name, changed, given)
    sys.meta_path.insert(0, finder)
    try:
        yield name
    finally:
        sys.meta_path.remove(finder)
        for module in [module for module in sys.modules if module == name or module.startswith(f"{name}.")]:
            del sys.modules[module]


class _CopyFinder(MetaPathFinder):
    """Import finder: maps the module names of the copy to the files of the original package."""

    def __init__(self, package: str, name: str, changed: Mapping[str, ast.Module], given: Mapping[str, object]) -> None:
        self._package = package
        self._name = name
        self._changed = changed
        self._given = given

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if fullname != self._name and not fullname.startswith(f"{self._name}."):
            return None
        within = fullname[len(self._name) + 1 :]
        spec = _find_original_spec(f"{self._package}.{within}".rstrip("."))
        if spec is None or spec.origin is None:
            return None
        loader = _Loader(fullname, spec.origin)
        if within in self._changed:
            loader.code = compile(self._changed[within], spec.origin, "exec", dont_inherit=True)
            loader.given = self._given
        return spec_from_file_location(
            fullname, spec.origin, loader=loader, submodule_search_locations=spec.submodule_search_locations
        )


@cache
def _find_original_spec(fullname: str) -> ModuleSpec | None:
    parent, _, _ = fullname.rpartition(".")
    above = _find_original_spec(parent) if parent else None
    return PathFinder.find_spec(fullname, above.submodule_search_locations if above else None)


@cache
def _compile_file(path: str) -> CodeType:
    with open(path, encoding="utf-8") as file:
        return compile(file.read(), path, "exec", dont_inherit=True)


class _Loader(SourceFileLoader):
    code: CodeType | None = None
    given: Mapping[str, object] = _NOTHING

    def get_code(self, fullname: str) -> CodeType:
        return self.code or _compile_file(self.path)

    def exec_module(self, module: object) -> None:
        vars(module).update(self.given)
        super().exec_module(module)  # type: ignore[arg-type]
