"""Protocols: a folder each, and in its ``protocol.py`` the value that says what it brings.

The rest of the suite knows none of them: it asks here for that of a revision, which belongs to exactly one. A folder
that is added here, or to the ``__path__`` of this package, is a protocol of the suite without a line changed elsewhere.
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
"""The name of the protocol that is judged unless another is asked for."""


class Protocol(ABC):
    """What a protocol has to say for itself: how it is judged, told, generated, stored."""

    name: str
    """As people call it."""
    rules: Rules
    """How it is judged: catalogue, checks, scenarios, revisions, stage, views, testee messages and capabilities."""
    model: Model
    """Its executable model, with mutants and legal variants."""
    about_profiles: str
    """What the option is about that picks a profile, for the help."""
    greeting: tuple[str, ...]
    """The scenarios by which a person sees whether an adapter works at all."""
    casting: str = ""
    """How to tell in a story who is the implementation, in a sentence."""
    parts: Mapping[str, str] = MappingProxyType({})
    """Names of profiles that an implementation can do without."""
    vectors: Material | None = None
    """Its golden vectors, None if it has none."""
    repertoire: Repertoire | None = None
    """The schedules that are generated for it, None if there are none; with those of revisions that are another text
    among its ``others``."""
    exchanges: Exchanges | None = None
    """How its implementations meet, None if they do not."""
    other_exchanges: Mapping[str, Exchanges] = MappingProxyType({})
    """The same by revision, where that is another text."""
    dimensions: Mapping[str, Dimension] = MappingProxyType({})
    """In which ways there can be more and more of something, by name."""

    @abstractmethod
    def narrator(self, trace: Any) -> Narrator:
        """Tells the steps of a trace."""

    @abstractmethod
    def against(self, revision: str, profile: str) -> str:
        """What a profile of a revision is, in so many words."""

    def notes(self, declared: Declaration, revision: str, profile: str) -> Sequence[tuple[str, str]]:
        """What the choices that were declared mean for others and for the judgement: labels with a sentence each."""
        return ()

    def doubts(self, heard: Iterable[Any]) -> Sequence[str]:
        """What to say before anything is judged, and the question to ask: sentences, none where all is well. It takes
        what `Rules.heed` remembers of each trace."""
        return ()

    def forgone(self, declared: Declaration, revision: str) -> str:
        """The profile that an implementation does without, "" if there is none."""
        return ""

    def corpora(self) -> Corpora | None:
        """What is to be known of its stored corpora, None if there are none. Only who has a corpus at hand pays for
        what reads one."""
        return None


@cache
def protocols() -> tuple[Protocol, ...]:
    """All protocols; the one that is judged unless another is asked for comes first."""
    folders = sorted(found.name for found in iter_modules(__path__) if found.ispkg)
    found = [import_module(f"{__name__}.{folder}.protocol").PROTOCOL for folder in folders]
    return tuple(sorted(found, key=lambda protocol: protocol.name != FIRST))


@cache
def _by_revision() -> Mapping[str, Protocol]:
    known: dict[str, Protocol] = {}
    for protocol in protocols():
        for revision in protocol.rules.revisions:
            if revision in known:
                raise ValueError(f"{revision} belongs to {known[revision].name} and to {protocol.name}")
            known[revision] = protocol
    return known


def protocol_of(revision: str) -> Protocol:
    """The protocol that a revision belongs to. Raises KeyError for a revision of none."""
    return _by_revision()[revision]


def rules_of(revision: str) -> Rules:
    """The rules of the protocol of a revision. Raises KeyError for a revision of none."""
    return protocol_of(revision).rules


def repertoires() -> list[Repertoire]:
    """All schedules that are generated, by text."""
    known = [protocol.repertoire for protocol in protocols() if protocol.repertoire is not None]
    return [each for one in known for each in (one, *one.others)]


def scheduled() -> list[str]:
    """The revisions that generated schedules are about."""
    return [revision for repertoire in repertoires() for revision in repertoire.revisions]


def repertoire_of(revision: str) -> Repertoire:
    """The schedules that are generated for a revision. Raises ValueError if there are none."""
    for repertoire in repertoires():
        if revision in repertoire.revisions:
            return repertoire
    raise ValueError(f"no schedules are generated for {revision}: there are those of {', '.join(scheduled())}")


def exchanges_of(revision: str) -> Exchanges:
    """How implementations of a revision meet. Raises ValueError if they do not."""
    protocol = protocol_of(revision)
    exchanges = protocol.other_exchanges.get(revision, protocol.exchanges)
    if exchanges is None:
        raise ValueError(f"implementations of {revision} have no exchanges")
    return exchanges


@cache
def all_vectors() -> VectorSet:
    """The golden vectors of all protocols that have some."""
    return VectorSet(tuple(protocol.vectors for protocol in protocols() if protocol.vectors is not None))


def default() -> Protocol:
    """The protocol that is judged unless another is asked for."""
    return protocols()[0]


def revisions() -> Mapping[str, Revision]:
    """The revisions of all protocols by name, the current one of the first protocol first."""
    return {name: protocol.rules.revisions[name] for name, protocol in _by_revision().items()}


def stating(requirement: str) -> Protocol | None:
    """The protocol that states a requirement, None if none does."""
    return next((p for p in protocols() if requirement in p.rules.catalogue.requirements), None)


def property_of(what: str) -> GlobalProperty | None:
    """The global property of that ID, None if there is none."""
    known = [repertoire.properties for repertoire in repertoires()]
    return next((properties[what] for properties in known if what in properties), None)


def withdrawn(what: str) -> str:
    """A sentence that names the requirements which replace a withdrawn property; "" for any other ID."""
    known = [repertoire.properties.withdrawn for repertoire in repertoires()]
    judged_by = next((gone[what] for gone in known if what in gone), ())
    return f"{what} was withdrawn: its faults are judged by {', '.join(judged_by)}" if judged_by else ""
