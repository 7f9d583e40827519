"""The protocols that the suite judges. Each is a folder whose ``protocol.py`` defines one `Protocol`.

The rest of the suite names no protocol. It passes a revision to the functions below, and each revision belongs to
exactly one protocol. To add a protocol, add a folder to this package, or to its ``__path__``. No other file changes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Any

from sds_harness.declaration import Declaration
from sds_harness.revision import Revision

from ..judging.exercise import Model
from ..judging.rules import Rules
from ..vectors.model import Material, VectorSet
from .corpora import Corpora
from .dimensions import Dimension
from .exchanges import Exchanges
from .properties import GlobalProperty
from .schedules import Repertoire
from .words import Narrator

FIRST = "SDS"
"""Name of the default protocol."""


class Protocol(ABC):
    """The definition of a protocol: how the suite judges, describes, generates and stores it."""

    name: str
    """The name of the protocol in reports and messages."""
    rules: Rules
    """The rules: catalogue, checks, scenarios, revisions, stage, views, testee messages and capabilities."""
    model: Model
    """The executable model, with mutants and legal variants."""
    about_profiles: str
    """Help text of the option that selects a profile."""
    greeting: tuple[str, ...]
    """Names of the scenarios that show whether an adapter works at all."""
    casting: str = ""
    """A sentence for stories: which participants the implementation under test plays."""
    parts: Mapping[str, str] = MappingProxyType({})
    """Maps the name of each optional profile to the title of the profile."""
    vectors: Material | None = None
    """The golden vectors; None if there are none."""
    repertoire: Repertoire | None = None
    """The generated schedules; None if there are none. ``repertoire.others`` has the schedules of the revisions that
    need different schedules.
    """
    exchanges: Exchanges | None = None
    """The schedules of `interop`; None if there are none."""
    other_exchanges: Mapping[str, Exchanges] = MappingProxyType({})
    """Maps each revision that needs other `interop` schedules to these schedules."""
    dimensions: Mapping[str, Dimension] = MappingProxyType({})
    """The sizes that `limits` measures, by name."""

    @abstractmethod
    def narrator(self, trace: Any) -> Narrator:
        """Return the object that describes the steps of a trace in words."""

    @abstractmethod
    def describe_profile(self, revision: str, profile: str) -> str:
        """Describe a profile of a revision in one line."""

    def notes(self, declared: Declaration, revision: str, profile: str) -> Sequence[tuple[str, str]]:
        """Explain the choices that an implementation declared under a revision and a profile.

        Each choice has a label, and a sentence on its effects on other implementations and on verdicts.
        """
        return ()

    def doubts(self, of_runs: Iterable[Any]) -> Sequence[str]:
        """Return warnings about a whole run that may explain most of its failures, with questions to the user.

        Empty if there is no such explanation. ``of_runs`` has the result of `Rules.extract_doubt_data` for each trace.
        """
        return ()

    def unsupported_profile(self, declared: Declaration, revision: str) -> str:
        """The name of the optional profile that an implementation does not declare; "" if it declares all profiles."""
        return ""

    def corpora(self) -> Corpora | None:
        """How the corpora of the protocol are stored and compared; None if the protocol has no corpora.

        A subclass imports the module for corpora inside this method: the import is slow, and only the commands on
        corpora need it.
        """
        return None


@cache
def protocols() -> tuple[Protocol, ...]:
    """All protocols, the default protocol first."""
    folders = sorted(found.name for found in iter_modules(__path__) if found.ispkg)
    found = [import_module(f"{__name__}.{folder}.protocol").PROTOCOL for folder in folders]
    return tuple(sorted(found, key=lambda protocol: protocol.name != FIRST))


@cache
def _by_revision() -> Mapping[str, Protocol]:
    known: dict[str, Protocol] = {}
    for protocol in protocols():
        for revision in protocol.rules.revisions:
            if revision in known:
                raise ValueError(f"{revision} is a revision of two protocols: {known[revision].name}, {protocol.name}")
            known[revision] = protocol
    return known


def protocol_of(revision: str) -> Protocol:
    """The protocol of a revision. Raises KeyError if no protocol has the revision."""
    return _by_revision()[revision]


def rules_of(revision: str) -> Rules:
    """The rules of the protocol of a revision. Raises KeyError if no protocol has the revision."""
    return protocol_of(revision).rules


def repertoires() -> list[Repertoire]:
    """The generated schedules of all protocols: one item for each set of revisions with the same schedules."""
    known = [protocol.repertoire for protocol in protocols() if protocol.repertoire is not None]
    return [each for one in known for each in (one, *one.others)]


def scheduled() -> list[str]:
    """The revisions for which schedules can be generated."""
    return [revision for repertoire in repertoires() for revision in repertoire.revisions]


def repertoire_of(revision: str) -> Repertoire:
    """The generated schedules of a revision. Raises ValueError if there are none."""
    for repertoire in repertoires():
        if revision in repertoire.revisions:
            return repertoire
    raise ValueError(f"no schedules are generated for {revision}, only for {', '.join(scheduled())}")


def exchanges_of(revision: str) -> Exchanges:
    """The `interop` schedules of a revision. Raises ValueError if there are none."""
    protocol = protocol_of(revision)
    exchanges = protocol.other_exchanges.get(revision, protocol.exchanges)
    if exchanges is None:
        raise ValueError(f"there are no `interop` schedules for {revision}")
    return exchanges


@cache
def all_vectors() -> VectorSet:
    """The golden vectors of all protocols."""
    return VectorSet(tuple(protocol.vectors for protocol in protocols() if protocol.vectors is not None))


def default() -> Protocol:
    """The default protocol."""
    return protocols()[0]


def revisions() -> Mapping[str, Revision]:
    """The revisions of all protocols, by name. The current revision of the default protocol is first."""
    return {name: protocol.rules.revisions[name] for name, protocol in _by_revision().items()}


def stating(requirement: str) -> Protocol | None:
    """The protocol that states a requirement; None if no protocol does."""
    return next((p for p in protocols() if requirement in p.rules.catalogue.requirements), None)


def property_of(what: str) -> GlobalProperty | None:
    """The group property that has this ID; None if no property has it."""
    known = [repertoire.properties for repertoire in repertoires()]
    return next((properties[what] for properties in known if what in properties), None)


def withdrawn(what: str) -> str:
    """A sentence that names the requirements which replace a withdrawn property; "" for any other ID."""
    known = [repertoire.properties.withdrawn for repertoire in repertoires()]
    judged_by = next((gone[what] for gone in known if what in gone), ())
    return f"{what} was withdrawn: the same faults are judged by {', '.join(judged_by)}" if judged_by else ""
