"""SDS, Scalable Data Sync: two revisions of its specification, and the proposal of 2024 on which it is based."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import Any

from sds_harness.declaration import Declaration

from .. import Protocol
from ..corpora import Corpora
from . import declaration_notes
from .dimensions import DIMENSIONS
from .doubts import doubts
from .exchanges import EXCHANGES, OF_OTHER_TEXTS
from .rules import MODEL, RULES
from .schedules import REPERTOIRE
from .vectors.material import MATERIAL
from .words import Narrator


class SDS(Protocol):
    """SDS (Scalable Data Sync), as a protocol that the suite can test."""

    name = "SDS"
    rules = RULES
    model = MODEL
    about_profiles = "Part of SDS to judge: with the SDS-R extension, without it, or only the extension."
    greeting = ("every-kind-of-message", "replies-to-own-messages")
    casting = "The implementation plays the participants that join a channel; all others are scripted."
    parts = MappingProxyType({"sds-r": "SDS-R"})
    vectors = MATERIAL
    repertoire = REPERTOIRE
    exchanges = EXCHANGES
    other_exchanges = OF_OTHER_TEXTS
    dimensions = DIMENSIONS

    def narrator(self, trace: Any) -> Narrator:
        return Narrator(trace)

    def describe_profile(self, revision: str, profile: str) -> str:
        return declaration_notes.describe_profile(revision, profile)

    def notes(self, declared: Declaration, revision: str, profile: str) -> Sequence[tuple[str, str]]:
        return declaration_notes.notes(declared, revision, profile)

    def doubts(self, of_runs: Iterable[Any]) -> Sequence[str]:
        return doubts(of_runs)

    def unsupported_profile(self, declared: Declaration, revision: str) -> str:
        return declaration_notes.unsupported_profile(declared, revision)

    def corpora(self) -> Corpora:
        from .corpora import CORPORA

        return CORPORA


PROTOCOL = SDS()
