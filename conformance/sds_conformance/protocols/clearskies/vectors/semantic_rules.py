"""Rules for vectors that a schema cannot express: valid indices, valid JSON values, links that exist.

No implementation could answer a vector that breaks one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clearskies_reference.errors import MalformedMessageError
from clearskies_reference.json_text import read

from ....vectors.model import Outcome, Vector
from .fields import Fields


def find_answer_errors(vector: Vector) -> Iterator[str]:
    """Yield errors of a vector with a request: an outcome may contain only updates of the vector."""
    yield from _find_bad_values("updates", vector["updates"])
    for number, outcome in enumerate(vector["outcomes"]):
        yield from _find_bad_indices(f"outcomes/{number}/sent", outcome["sent"], vector)


def find_settlement_errors(vector: Vector) -> Iterator[str]:
    """Yield errors of orders of arrival: they may contain only updates of the vector."""
    yield from _find_bad_values("updates", vector["updates"])
    for number, order in enumerate(vector["orders"]):
        yield from _find_bad_indices(f"orders/{number}", order, vector)
    yield from _find_bad_records("", vector["outcomes"])


def find_admission_errors(vector: Vector) -> Iterator[str]:
    """Yield errors of a vector with one update: its value, and the records of the outcomes, must be valid."""
    yield from _find_bad_json("update/value", vector["update"]["value"])
    yield from _find_bad_records("", vector["outcomes"])


def find_transcript_errors(vector: Vector) -> Iterator[str]:
    """Yield errors of steps: a link must exist before it is used, and a repetition needs an original."""
    links: set[str] = set()
    bound: set[str] = set()
    for number, step in enumerate(vector["steps"]):
        at, link = f"steps/{number}", step.get("link")
        if step["do"] == "connect":
            links.add(step["link"])
        elif link is not None and link not in links:
            yield f"{at}/link: no earlier step connects the link {link!r}"
        match step["do"]:
            case "update":
                yield from _find_bad_json(f"{at}/update/value", step["update"]["value"])
            case "put":
                yield from _find_bad_json(f"{at}/value", step["value"])
                bound.add(step["binds"])
            case "repeat" if step["update"] not in bound:
                yield f"{at}/update: no earlier put binds the name {step['update']!r}"
        yield from _find_bad_records(f"{at}/", step["outcomes"])


def _find_bad_indices(at: str, places: Iterable[int], vector: Vector) -> Iterator[str]:
    count = len(vector["updates"])
    for place in places:
        if place >= count:
            yield f"{at}: update {place} does not exist: there are {count}, numbered from 0"


def _find_bad_values(at: str, updates: Iterable[Fields]) -> Iterator[str]:
    for number, update in enumerate(updates):
        yield from _find_bad_json(f"{at}/{number}/value", update["value"])


def _find_bad_records(at: str, outcomes: Iterable[Outcome]) -> Iterator[str]:
    for number, outcome in enumerate(outcomes):
        for key, value in outcome.get("keys", {}).items():
            yield from _find_bad_json(f"{at}outcomes/{number}/keys/{key}", value)


def _find_bad_json(at: str, text: str) -> Iterator[str]:
    try:
        read(text.encode())
    except MalformedMessageError as error:
        yield f"{at}: {error}"
