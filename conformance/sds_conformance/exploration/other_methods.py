"""Methods to find a fault of a model without scenarios: generated schedules and golden vectors."""

from __future__ import annotations

from functools import cache
from typing import Any

from sds_harness.faults import TesteeError
from sds_harness.link import Limits

from ..judging.alterations.source import Configuration
from ..judging.runner import Connect
from ..protocols import all_vectors, protocol_of
from ..vectors.folder import default_folder, load_of
from ..vectors.running.examination import VectorExaminer, select_files
from ..vectors.running.subject import Status
from .campaign import CampaignOrder, play_one
from .cast_under_test import CastKind
from .casts import NotPlayedError

SCHEDULES = 60
"""Number of schedules played with each model."""
_BAD = (Status.FAIL, Status.WARN, Status.BROKEN)


def schedules(connect: Connect, configuration: Configuration) -> str:
    """Return the first failure that generated schedules find in a model; "" if there is none. Every second schedule is
    played among references.
    """
    repertoire = protocol_of(configuration.revision).repertoire
    if repertoire is None or configuration.revision not in repertoire.revisions:
        return ""
    orders = [
        CampaignOrder(connect, revision=configuration.revision, casting=c) for c in (CastKind.TOGETHER, CastKind.AMONG)
    ]
    casts_under_test = [order.cast_under_test() for order in orders]
    try:
        for cast_under_test in casts_under_test:
            cast_under_test.start()
        for index in range(SCHEDULES):
            for finding in play_one(orders[index % 2], casts_under_test[index % 2], index).assessment.findings:
                return f"{finding.requirement} in schedule {index}: {finding.seen}"
    except (TesteeError, NotPlayedError) as reason:
        return f"the model cannot be tested: {reason}"
    finally:
        for cast_under_test in casts_under_test:
            cast_under_test.kill()
    return ""


def vectors(connect: Connect, configuration: Configuration) -> str:
    """Return the first fault that the golden vectors find in a model; "" if there is none."""
    material = protocol_of(configuration.revision).vectors
    if material is None:
        return ""
    files = select_files(_files(configuration.revision), configuration.revision)
    try:
        outcome = VectorExaminer(material, connect, Limits(), configuration.revision).examine(files)
    except TesteeError as fault:
        return f"the model cannot be tested: {fault}"
    for answered in outcome.answered:
        if answered.answer.status in _BAD:
            return f"{answered.vector['id']} ({answered.group}): {answered.answer.seen}"
    return ""


@cache
def _files(revision: str) -> list[dict[str, Any]]:
    material = protocol_of(revision).vectors
    return load_of(all_vectors(), material, default_folder()) if material is not None else []
