"""The ClearSkies database extension: a replicated key-value store between peers on links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sds_harness.declaration import Declaration

from .. import Protocol
from ..corpora import Corpora
from . import declaration_notes
from .dimensions import DIMENSIONS
from .exchanges import EXCHANGES
from .rules import MODEL, RULES
from .schedules import REPERTOIRE
from .vectors.material import MATERIAL
from .words import Narrator


class ClearSkies(Protocol):
    """The ClearSkies database extension."""

    name = "ClearSkies"
    rules = RULES
    model = MODEL
    about_profiles = "Part of the database extension to judge; the only choice is the whole extension."
    greeting = ("changes-spread",)
    casting = "The implementation plays the peers that the schedule opens; all other peers are scripted."
    vectors = MATERIAL
    repertoire = REPERTOIRE
    exchanges = EXCHANGES
    dimensions = DIMENSIONS

    def narrator(self, trace: Any) -> Narrator:
        return Narrator(trace)

    def describe_profile(self, revision: str, profile: str) -> str:
        return declaration_notes.PROFILES[profile]

    def notes(self, declared: Declaration, revision: str, profile: str) -> Sequence[tuple[str, str]]:
        return declaration_notes.notes(declared, revision, profile)

    def corpora(self) -> Corpora:
        from .corpora import CORPORA

        return CORPORA


PROTOCOL = ClearSkies()
