"""Finds how a protocol stores its corpora, by the revision in a manifest."""

from __future__ import annotations

from sds_harness.corpus.errors import CorpusError
from sds_harness.corpus.kind import CorpusKind

from ..exploration.assessment import UnknownRevisionError, judged_revision
from ..protocols import protocol_of
from ..protocols.corpora import Corpora


def corpora_of(revision: str) -> Corpora:
    """How the protocol of a revision stores and reads corpora. Raises CorpusError if the protocol has no corpora."""
    try:
        judged = judged_revision(revision)
        protocol = protocol_of(judged)
    except UnknownRevisionError as error:
        raise CorpusError(str(error)) from None
    corpora = protocol.corpora()
    if corpora is None:
        raise CorpusError(f"There are no corpora of {protocol.name}.")
    return corpora.others.get(judged, corpora)


def kind_of(revision: str) -> CorpusKind:
    """Return how corpora of a revision are stored. Raises CorpusError."""
    return corpora_of(revision).kind()
