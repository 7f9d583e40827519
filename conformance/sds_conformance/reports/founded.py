"""Whether a certificate can be true: what on it does not follow from the rest, and what is of another version.

Who forges one can compute its digest as well. So everything on it that follows from something else is computed again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from sds_harness.declaration import printable
from sds_testee.version import suite_version

from ..judging.exits import Exit
from ..judging.verdict import Verdict
from ..vectors.canonical import digest
from .certificate import SHOWN, catalogue_digest, golden_vectors, unlike_the_text, untestable
from .levels import hard, level
from .limits import unfounded_limits


def forgeries(data: dict[str, Any]) -> Iterator[str]:
    """What stands on a certificate and does not follow from the rest of it, a sentence each; first its digest."""
    body = {key: value for key, value in data.items() if key != "digest"}
    if digest(body) != data["digest"]:
        yield "the digest is not that of what stands on it"
    rows = {row["id"]: row["verdict"] for row in data["requirements"]}
    counts = Counter(row["verdict"] for row in data["requirements"])
    for verdict, told in data["verdicts"].items():
        if counts[verdict] != told:
            yield f"it counts {told} {verdict}, and {counts[verdict]} of its requirements are that"
    told_of = [cause["requirement"] for cause in data["causes"]]
    told_of += [under["requirement"] for cause in data["causes"] for under in cause["under"]]
    for one in sorted({one for one, verdict in rows.items() if verdict in SHOWN} ^ set(told_of)):
        yield f"{printable(one, 40)} is among the causes of what fails, or is {rows.get(one, 'not judged')}, not both"
    bad = counts[Verdict.FAIL.value] + counts[Verdict.ERROR.value] or hard(data)
    if bad and data["run"]["exit_code"] == Exit.CONFORMANT:
        yield "its exit code is that of an implementation that conforms, and its verdicts are not"


def outdated(data: dict[str, Any]) -> Iterator[str]:
    """How this version differs from the one that judged, a sentence each. Raises VectorsError."""
    theirs = printable(data["suite"]["version"], 40)
    if theirs != suite_version():
        yield f"it is of version {theirs} of the suite, and this is {suite_version()}"
    if data["catalogue"] != catalogue_digest(data["revision"]):
        yield f"version {theirs} judged by another catalogue than this {suite_version()}"
    golden = golden_vectors(data["revision"]) or {}
    if golden and data.get("vectors", {}).get("manifest") != golden["manifest"]:
        told = printable(data.get("vectors", {}).get("version", "none"), 20)
        yield f"its golden vectors are those of version {told}, and these are {golden['version']}"


def unfounded(data: dict[str, Any]) -> Iterator[str]:
    """What stands on a certificate of this version and is not so by its catalogue, a sentence each."""
    yield from (f"it was not judged by the catalogue, {wrong}" for wrong in unlike_the_text(data))
    if data["untestable"] != untestable(data["revision"]):
        yield "what cannot be tested is not what the catalogue says"
    yield from unfounded_limits(data)
    found = level({key: value for key, value in data.items() if key not in ("level", "digest")})
    if found != data["level"]:
        told, true = printable(data["level"]["name"], 60), found["name"]
        yield (
            f"its level is {told}, and by its verdicts {true}"
            if told != true
            else "what is said about its level does not follow from its verdicts"
        )
