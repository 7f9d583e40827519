"""A corpus and its manifest: which implementation was recorded, with which options, and whether the corpus is
complete."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, get_origin, get_type_hints

from sds_testee.version import suite_version

from ..declaration import UNNAMED, Declaration, printable
from ..json_text import dumps
from ..schedules import GroupTrace
from .errors import CorpusError
from .kind import CorpusKind
from .place import Place
from .schema import READABLE, SCHEDULES_PER_ROW_GROUP, SCHEMA_VERSION

MANIFEST, SUCCESS = "manifest.json", "_SUCCESS"
STEPS, SIDE, TWINS = "steps", "schedules", "twins"
"""Folders: the rows, the side table, and the twins (group traces that were added for comparison)."""
MOST_SCHEDULES = 1 << 40
_SHARDS_WANTED = 64
_LARGEST_SHARD = 4096
_MOST_PER_SHARD = 1 << 16
"""Maximum number of schedules in one shard. Larger values in a manifest are rejected."""


@dataclass(frozen=True)
class Manifest:
    """The manifest of a corpus. It is written at the beginning of the recording and again at the end."""

    implementation: dict[str, Any]
    """The declaration of the handshake: name, version, capabilities, profiles, ..."""
    seed: int
    schedules: int
    """The number of schedules to record. Their indexes begin at 0."""
    grammar: dict[str, Any]
    revision: str
    casting: str
    dialect: str
    per_shard: int
    """Schedules in one shard; the last shard may have fewer."""
    command: list[str] = field(default_factory=list)
    twins_every: int = 0
    """The twins of every n-th schedule are stored; 0 for none."""
    schema_version: int = SCHEMA_VERSION
    suite_version: str = field(default_factory=suite_version)
    steps: int = 0
    """Number of rows that a comparison of corpora compares; 0 until the recording is complete."""
    rows: int = 0
    complete: bool = False

    @property
    def shards(self) -> int:
        return -(-self.schedules // self.per_shard)

    def range_of(self, shard: int) -> range:
        """The indexes of the schedules in a shard."""
        return range(shard * self.per_shard, min(self.schedules, (shard + 1) * self.per_shard))

    def shards_of(self, schedules: range) -> range:
        """The numbers of the shards that contain schedules with indexes in ``schedules``."""
        stop = min(schedules.stop, self.schedules)
        return range(schedules.start // self.per_shard, -(-stop // self.per_shard) if schedules.start < stop else 0)

    def can(self, capability: str) -> bool:
        """Did the implementation declare this capability, given by its short name?"""
        return capability in (self.implementation.get("capabilities") or ())

    def has_twins(self, schedule: int) -> bool:
        """Does the corpus store the twins of this schedule, the group traces with which it was compared?"""
        return bool(self.twins_every) and not schedule % self.twins_every

    @property
    def name(self) -> str:
        """Name and version of the implementation, safe to print."""
        known = self.implementation
        return printable(f"{known.get('name', '')} {known.get('version', '')}".strip()) or "an implementation"

    def find_other_implementation(self, group_trace: GroupTrace, judged: Iterable[str]) -> str:
        """The name and version of another implementation that played one of the members under test, safe to print; ""
        if none did. Members with a breakdown are ignored: the implementation may have broken down before its
        handshake."""
        known = self.implementation
        for member in judged:
            trace = group_trace.cast[member]
            declared = trace.declaration
            # Other parts of a declaration may differ at every start.
            identity = (declared.name or UNNAMED, declared.version, declared.capability_names)
            if trace.breakdown is None and identity != (known.get("name") or UNNAMED, *map(known.get, _APART)):
                return printable(f"{declared.name} {declared.version}".strip(), 60)
        return ""

    def describe_differences(self, other: Manifest) -> list[str]:
        """The differences between the two manifests in the fields that determine the schedules, as phrases."""
        sides = {what: (getattr(self, what), getattr(other, what)) for what in ("seed", "grammar")}
        return [
            f"{what}: {printable(repr(mine))} and {printable(repr(theirs))}"
            for what, (mine, theirs) in sides.items()
            if mine != theirs
        ]

    def to_json(self) -> str:
        return dumps(asdict(self), indent=2) + "\n"

    def completed(self, steps: int, rows: int) -> Manifest:
        return replace(self, steps=steps, rows=rows, complete=True)


_APART = ("version", "capabilities")
"""Fields of the declaration that distinguish implementations with the same name."""


@dataclass(frozen=True)
class Corpus:
    """A corpus that is being recorded or read."""

    place: Place
    manifest: Manifest
    kind: CorpusKind


KindOf = Callable[[str], CorpusKind]
"""The kind of a corpus, by the revision in its manifest, which may be unknown."""


WORDS = ("name", "version", "language", "homepage")
"""Fields of the declaration that are free text."""


def declaration_json(declared: Declaration, kind: CorpusKind) -> dict[str, Any]:
    """The declaration, as a manifest stores it."""
    return {
        **{name: getattr(declared, name) for name in WORDS},
        "revisions": list(declared.revisions),
        "capabilities": declared.capability_names,
        **{kind.stored_name(name): chosen for name, chosen in declared.profiles.items()},
        **declared.limits,
    }


def shard_size(schedules: int) -> int:
    """The number of schedules per shard: a multiple of a row group, small enough that many tasks have a shard, and at
    most a few thousand, because a failed task repeats its whole shard."""
    wanted = -(-schedules // _SHARDS_WANTED)
    groups = -(-wanted // SCHEDULES_PER_ROW_GROUP)
    return min(_LARGEST_SHARD, max(1, groups) * SCHEDULES_PER_ROW_GROUP)


def grammar_json(grammar: Any) -> dict[str, Any]:
    """The grammar, a dataclass, as stored in a manifest."""
    return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(grammar).items()}


def read_corpus(place: Place, kind_of: KindOf) -> Corpus:
    """The corpus at ``place``. Raises CorpusError if the folder is not a corpus, or if its manifest cannot be read."""
    file = place / MANIFEST
    if not file.exists():
        what = "is not a corpus: it has no manifest.json" if place.is_folder() else "is not there"
        raise CorpusError(f"{place.label} {what}.")
    try:
        data = json.loads(file.read_text())
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{file.label} is not JSON: {error}") from None
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version not in READABLE:
        raise CorpusError(
            f"{file.label} is of schema version {printable(repr(version))}, and this suite reads versions "
            f"{' and '.join(map(str, READABLE))}: record it again, or use the suite that recorded it."
        )
    known = {f.name: f for f in fields(Manifest)}
    if unknown := set(data) - set(known):
        raise CorpusError(
            f"{file.label} has a field {printable(repr(min(unknown)))} that version {version} does not know."
        )
    try:
        manifest = Manifest(**data)
    except TypeError as error:
        raise CorpusError(f"{file.label} is incomplete: {error}") from None
    if complaint := _complaint(manifest):
        raise CorpusError(f"{file.label}: {complaint}.")
    try:
        kind = kind_of(manifest.revision)
    except CorpusError as error:
        raise CorpusError(f"{file.label}: {error}") from None
    if complaint := _find_wrong_declaration(manifest.implementation, kind):
        raise CorpusError(f"{file.label}: {complaint}.")
    return Corpus(place, manifest, kind)


def is_of_corpus(file: Place) -> bool:
    """Is this file a manifest, of any version, even with damaged values?"""
    try:
        data = json.loads(file.read_text())
    except (CorpusError, ValueError, RecursionError):
        return False
    return isinstance(data, dict) and {"schema_version", "per_shard", "implementation"} <= data.keys()


def read_complete(place: Place, kind_of: KindOf) -> Corpus:
    """The corpus at ``place``. Raises CorpusError if it cannot be read, or if its recording is not complete."""
    corpus = read_corpus(place, kind_of)
    if not corpus.manifest.complete or not (place / SUCCESS).exists():
        raise CorpusError(
            f"{place.label} is not complete (it has no {SUCCESS}): `corpus record` with the same options continues."
        )
    return corpus


def _complaint(manifest: Manifest) -> str:
    for name, hint in get_type_hints(Manifest).items():
        kind: type = get_origin(hint) or hint
        if type(getattr(manifest, name)) is not kind:
            return f"{name} is not of type {kind.__name__}"
    if not 0 < manifest.schedules <= MOST_SCHEDULES:
        return f"{manifest.schedules} is not a possible number of schedules in a corpus"
    if not 0 < manifest.per_shard <= _MOST_PER_SHARD:
        return f"{manifest.per_shard} is not a possible number of schedules in a shard"
    return ""


def _find_wrong_declaration(implementation: dict[str, Any], kind: CorpusKind) -> str:
    empty = Declaration.for_unknown("", kind.language)
    types: dict[str, type] = {
        **dict.fromkeys((*WORDS, *map(kind.stored_name, empty.profiles)), str),
        **dict.fromkeys(("revisions", "capabilities"), list),
        **dict.fromkeys(empty.limits, int),
    }
    for name, wanted in types.items():
        value = implementation.get(name)
        if value is not None and type(value) is not wanted:
            return f"{name} of the implementation has a wrong type"
        if isinstance(value, list) and any(type(one) is not str for one in value):
            return f"{name} of the implementation has a value that is not a name"
    return ""
