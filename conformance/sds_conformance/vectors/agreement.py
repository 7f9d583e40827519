"""Checks written vectors against the reference model, to find wrong expectations.

The model must answer each written vector under at least one profile. Every answer must be a legal outcome of the vector
without a warning. The changelog lists vectors that are correct although the model fails them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from sds_harness.faults import TesteeError
from sds_harness.link import Limits

from .changelog import DISAGREES, changelog_named, changelog_versions
from .documents import Document
from .model import Material, Vector, VectorSet
from .running.examination import VectorExaminer
from .running.subject import Status, VectorResult

_AGREE = (Status.PASS, Status.ACCEPTABLE)


def excused_vectors(folder: Path) -> set[str]:
    """IDs of the vectors for which the changelog explains why the reference model fails them."""
    return {
        test_id for version, _ in changelog_versions(folder) for test_id in changelog_named(folder, version, DISAGREES)
    }


def disagreements(vector_set: VectorSet, every: Iterable[Document]) -> Iterator[tuple[str, str]]:
    """Yield (ID, sentence) for each written vector that the reference model fails in any revision."""
    for document in every:
        material = vector_set.material_of(document.content["revisions"][0])
        for revision in document.content["revisions"]:
            for test, answers in _answers_of_models(material, document, revision):
                problem = _problem(answers)
                if problem:
                    yield test["id"], f"{document.path}: {test['id']}: {problem} (in {revision})"


def _answers_of_models(
    material: Material, document: Document, revision: str
) -> Iterator[tuple[Vector, list[VectorResult]]]:
    """Yield each written vector of a document with the answers of all models."""
    file = {**document.content, "tests": document.written_vectors}
    answers: dict[str, list[VectorResult]] = {}
    for model in material.models:
        try:
            outcome = VectorExaminer(material, model, Limits(), revision).examine([file])
        except TesteeError as fault:
            raise AssertionError(f"the reference model cannot be tested: {fault}") from fault
        for asked in outcome.answered:
            answers.setdefault(asked.vector["id"], []).append(asked.answer)
    for test in document.written_vectors:
        yield test, answers.get(test["id"], [])


def _problem(answers: Sequence[VectorResult]) -> str:
    """Return why the reference model disagrees with a vector; "" if it agrees."""
    given = [answer for answer in answers if answer.status is not Status.SKIPPED]
    wrong = next((answer for answer in given if answer.status not in _AGREE), None)
    if wrong is not None:
        return (
            f"outcomes: expected {wrong.expected or 'an answer'}, and the reference gives {wrong.seen or wrong.reason}"
        )
    if not given:
        why = answers[0].reason if answers else "all models broke down before they answered"
        return f"no model of the reference answers the vector: {why}"
    return ""
