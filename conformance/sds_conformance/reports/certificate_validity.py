"""Checks whether a certificate can be true: finds contradictions in it, and differences from this version of the suite.

A forger can compute a correct digest as well. So all data that follow from other data are computed again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from sds_harness.declaration import printable
from sds_harness.faults import FaultKind
from sds_testee.version import suite_version

from ..judging.exits import Exit
from ..judging.registry import IN, scenario_of
from ..judging.verdict import Verdict
from ..protocols import protocol_of
from ..vectors.canonical import digest
from .attachments import contradictory_schedules
from .certificate import (
    SHOWN,
    Certificate,
    CertificateError,
    catalogue_digest,
    golden_vectors,
    rows_unlike_catalogue,
    untestable_requirements,
)
from .levels import JUDGED, hard, level
from .limits import contradictory_limits


def forgeries(data: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for each contradiction in a certificate; the digest is checked first."""
    body = {key: value for key, value in data.items() if key != "digest"}
    if digest(body) != data["digest"]:
        yield "the digest does not match the contents of the certificate"
    rows = {row["id"]: row["verdict"] for row in data["requirements"]}
    known = protocol_of(data["revision"]).rules.catalogue.requirements
    counts = Counter(row["verdict"] for row in data["requirements"])
    for verdict, ids in data["verdicts"].items():
        if counts[verdict] != ids:
            yield f"the certificate counts {ids} {verdict}, but {counts[verdict]} of its requirements have this verdict"
    told_of = [cause["requirement"] for cause in data["causes"]]
    told_of += [under["requirement"] for cause in data["causes"] for under in cause["under"]]
    for one in sorted({one for one, verdict in rows.items() if verdict in SHOWN} ^ set(told_of)):
        listed = "is among the causes" if one in told_of else "is not among the causes"
        yield f"{printable(one, 40)} {listed} or their effects, but its verdict is {rows.get(one, 'missing')}"
    for cause in data["causes"]:
        one, verdict = cause["requirement"], cause["verdict"]
        if rows.get(one, verdict) != verdict:
            yield f"{printable(one, 40)} is {verdict} among the root causes, but {rows[one]} among the requirements"
        members = [one, *(under["requirement"] for under in cause["under"])]
        severities = [known[member].severity for member in members if member in known]
        if severities and cause["severity"] != min(severities):
            yield (
                f"{printable(one, 40)} has severity {cause['severity']} among the root causes, "
                f"but the catalogue gives {min(severities)}"
            )
    yield from _contradictions_of_the_run(data, counts)
    yield from _contradictions_of_what_was_asked(data)


def _contradictions_of_the_run(data: dict[str, Any], counts: Counter[str]) -> Iterator[str]:
    run = data["run"]
    judged = sum(counts[verdict] for verdict in JUDGED)
    if run["exit_code"] not in (possible := _exit_codes(data, counts, judged)):
        text = " or ".join(map(str, sorted(possible)))
        yield f"the exit code is {run['exit_code']}, but the verdicts give {text}"
    if run["whole"] == bool(run["narrowed"]):
        yield "the run is called whole although options selected a part, or partial although no option did"
    if run["interrupted"] and run["complete"]:
        yield "the run is called both interrupted and complete"
    if judged and not (run["scenarios"] and run["runs"] and run["steps"]):
        yield "the certificate has verdicts, but no run, scenario or step as evidence"
    if run["runs"] < run["scenarios"]:
        yield f"the certificate counts {run['scenarios']} scenarios, but only {run['runs']} runs"
    if data["strict"] and (softened := [row["id"] for row in data["requirements"] if row.get("positions")]):
        yield f"the run was strict, but a position softens {printable(softened[0], 40)}"
    try:
        datetime.fromisoformat(data["date"])
    except ValueError:
        yield "the date of the certificate is not a date"


def _exit_codes(data: dict[str, Any], counts: Counter[str], judged: int) -> set[int]:
    """Return the exit codes that are consistent with the verdicts of a certificate."""
    if data["run"]["interrupted"]:
        return {Exit.INTERRUPTED}
    if counts[Verdict.FAIL.value] or (judged and hard(data)):
        return {Exit.NON_CONFORMANT}
    if counts[Verdict.ERROR.value]:
        return {Exit.NON_CONFORMANT, Exit.OURS}
    return {Exit.CONFORMANT} if judged else {Exit.CONFORMANT, Exit.NOT_DRIVEN, Exit.NOTHING_EXERCISED}


def _contradictions_of_what_was_asked(data: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for each contradiction between the counts of the golden vectors and the listed vectors."""
    asked = data.get("vectors", {}).get("asked")
    if asked is None:
        return
    for named, statuses in (("failed", ("fail", "broken", "error")), ("warned", ("warn",))):
        if any(asked["counts"].get(status) for status in statuses) and not asked[named]:
            yield f"the certificate counts golden vectors that {named}, but lists none"


def version_differences(data: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for each difference between this version of the suite and the version that judged. Raises
    VectorsError.
    """
    theirs = printable(data["suite"]["version"], 40)
    if theirs != suite_version():
        yield f"the certificate was written by version {theirs} of the suite, but this is {suite_version()}"
    if data["catalogue"] != catalogue_digest(data["revision"]):
        yield f"version {theirs} used another catalogue than this version {suite_version()}"
    golden = golden_vectors(data["revision"]) or {}
    if golden and data.get("vectors", {}).get("manifest") != golden["manifest"]:
        vectors_version = printable(data.get("vectors", {}).get("version", "none"), 20)
        yield f"the certificate has golden vectors {vectors_version}, but this suite has {golden['version']}"


def contradictory_claims(data: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for each claim of a certificate of this version that contradicts the catalogue."""
    yield from (f"the requirements do not match the catalogue: {wrong}" for wrong in rows_unlike_catalogue(data))
    if data["untestable"] != untestable_requirements(data["revision"]):
        yield "the list of untestable requirements differs from the catalogue"
    yield from _unknown_names(data)
    yield from contradictory_schedules(data)
    yield from contradictory_limits(data)
    found = level({key: value for key, value in data.items() if key not in ("level", "digest")})
    if found != data["level"]:
        claimed, true = printable(data["level"]["name"], 60), found["name"]
        yield (
            f"the level is {claimed}, but the verdicts give {true}"
            if claimed != true
            else "the parts of the level do not follow from the verdicts"
        )


def _unknown_names(data: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for each name that this version does not have, and for rows that are not part of the profile."""
    protocol, run = protocol_of(data["revision"]), data["run"]
    rules = protocol.rules
    rows = {row["id"] for row in data["requirements"]}
    judged = {requirement.id for requirement in rules.judged_requirements(data["revision"], data["profile"])}
    if strange := sorted(rows - judged):
        yield f"{printable(strange[0], 40)} is not judged in the profile {data['profile']}"
    if run["whole"] and (missing := sorted(judged - rows)):
        yield f"the run is called whole, but has no data about {missing[0]}"
    environments = [*run["environments"], *run["left_out"]]
    yield from _report_unknown(environments, rules.environments, "environment")
    if len(set(environments)) < len(environments):
        yield "an environment is listed twice, or both as played and as left out"
    shown = [name for row in data["requirements"] for name in row.get("shown", ())]
    scenarios = [name for cause in data["causes"] for name in cause["scenarios"]]
    yield from _report_unknown([*map(scenario_of, shown), *scenarios], rules.register.scenarios, "scenario")
    yield from _report_unknown(
        [name.partition(IN)[2] for name in shown if IN in name], rules.environments, "environment"
    )
    positions = [name for row in data["requirements"] for name in row.get("positions", ())]
    yield from _report_unknown(positions, rules.catalogue.positions, "position")
    yield from _report_unknown(data["breakdowns"], {kind.value for kind in FaultKind}, "kind of breakdown")
    golden = golden_vectors(data["revision"]) or {}
    if data.get("vectors", {}).get("version", golden.get("version")) != golden.get("version"):
        yield "the version of the golden vectors differs from the version in their manifest"


def _report_unknown(names: Iterable[str], known: Iterable[str], what: str) -> Iterator[str]:
    if strange := sorted(set(names) - set(known)):
        yield f"the {what} {printable(strange[0], 40)} does not exist"


def hold_to_its_rows(certificate: Certificate, name: str) -> None:
    """Raise CertificateError if a certificate contradicts itself. A certificate that this version of the suite wrote
    must not contradict the catalogue either.

    Raises VectorsError if the golden vectors of this version cannot be read.
    """
    data = certificate.data
    wrong = next(forgeries(data), "")
    if not wrong and not list(version_differences(data)):
        wrong = next(contradictory_claims(data), "")
    if wrong:
        message = "`sds-conformance certificate verify` lists all errors of the certificate"
        raise CertificateError(f"{name} is forged or damaged: {printable(wrong, 300)}. {message}")
