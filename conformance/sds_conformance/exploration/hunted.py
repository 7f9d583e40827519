"""The file that says what became of mutants and legal variants so far, for a hunt to go on from there.

Nothing in it is taken that another hunt would have written: with other sources, schedules or bounds.
"""

from __future__ import annotations

import json
from dataclasses import fields, replace
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from sds_harness.files import FileError, parse_json, read_bytes, write_named

from .hunt import Catch, Peace, unhunted

SCHEMA_ID = "sds-conformance/hunt/1"
MAX_BYTES = 16 << 20
_PACKAGES = ("sds_conformance", "sds_harness", "sds_reference", "clearskies_reference")
"""What is found, and after how many schedules, hangs on all that is in them."""
_OF_CATCH = tuple(part.name for part in fields(Catch) if part.name != "schedule")
_OF_PEACE = tuple(part.name for part in fields(Peace))


class HuntedError(Exception):
    """A file says nothing that can be gone on from: the message says what is wrong."""


class Hunted:
    """What is known so far; kept in a file, if there is one, whenever something more is."""

    def __init__(self, path: Path | None = None, **about: Any) -> None:
        """``about`` is which hunt it is. Raises HuntedError."""
        self.catches: dict[str, Catch] = {}
        self.peaces: dict[str, Peace] = {}
        self._path = path
        self._about = {"schema": SCHEMA_ID, **about}
        if path is not None:
            self._about["sources"] = _sources()
            if path.exists():
                self._read(path)

    def caught(self, catch: Catch) -> Catch:
        """What became of a mutant. Raises OSError."""
        self.catches[catch.mutant] = catch
        self._write()
        return catch

    def left_in_peace(self, peace: Peace) -> Peace:
        """What was found against a legal variant. Raises OSError."""
        self.peaces[peace.variant] = peace
        self._write()
        return peace

    def _write(self) -> None:
        if self._path is not None:
            mutants = [{name: getattr(one, name) for name in _OF_CATCH} for one in self.catches.values()]
            variants = [{name: getattr(one, name) for name in _OF_PEACE} for one in self.peaces.values()]
            data = {**self._about, "mutants": mutants, "variants": variants}
            write_named(self._path, json.dumps(data, indent=1) + "\n")

    def _read(self, path: Path) -> None:
        try:
            data = parse_json(read_bytes(path, MAX_BYTES))
        except (FileError, ValueError) as error:
            raise HuntedError(f"{path.name} cannot be read: {error}") from None
        if not isinstance(data, dict) or data.get("schema") != SCHEMA_ID:
            raise HuntedError(f"{path.name} is not of a hunt: name another file, which need not be there yet")
        for name, value in self._about.items():
            if data.get(name) != value:
                raise HuntedError(f"{path.name} is of a hunt with other {name}: delete it, or name another file")
        try:
            catches = [self._catch(each) for each in data["mutants"]]
            peaces = [
                Peace(**{**_plain(each, Peace, _OF_PEACE), "accused": tuple(map(str, each["accused"]))})
                for each in data["variants"]
            ]
        except (KeyError, TypeError):
            raise HuntedError(f"{path.name} is not what a hunt writes: delete it, or name another file") from None
        self.catches = {each.mutant: each for each in catches}
        self.peaces = {each.variant: each for each in peaces}

    def _catch(self, each: Any) -> Catch:
        """The outcome for a mutant; its requirement is that of the model. Raises KeyError and TypeError for none."""
        catch = Catch(**_plain(each, Catch, _OF_CATCH))
        known = unhunted(catch.mutant, self._about.get("revision", ""))
        return replace(catch, requirement=known.requirement, summary=known.summary, out_of_reach=known.out_of_reach)


def _plain(each: Any, kind: type, names: tuple[str, ...]) -> dict[str, Any]:
    """The fields of one. Raises KeyError and TypeError for what is none."""
    types = {part.name: part.type for part in fields(kind)}
    for name in names:
        if types[name] in ("str", "int") and type(each[name]).__name__ != types[name]:
            raise TypeError(name)
    return {name: each[name] for name in names}


def _sources() -> str:
    """A digest of all that a hunt hangs on."""
    out = sha256()
    for package in _PACKAGES:
        root = Path(str(import_module(package).__file__)).parent
        for path in sorted(root.rglob("*.py")):
            out.update(f"{package}/{path.relative_to(root).as_posix()}\0".encode())
            out.update(path.read_bytes())
    return out.hexdigest()
