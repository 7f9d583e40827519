"""A page for each requirement, and a list of all requirements."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from sds_conformance.judging.catalogue import Requirement
from sds_conformance.judging.severity import SEVERITIES
from sds_conformance.judging.verdict import full_code
from sds_conformance.protocols import Protocol, protocols, revisions

from .implementations import Known
from .markdown import code, code_block, index_entries, page, prose, table

FOLDER = "reference/requirements"
_BREAKING = ("fail", "warn")


def pages(known: Known, drawn: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The list of requirements, and a page for each. ``drawn`` maps scenarios to the places of their diagrams."""
    yield f"{FOLDER}/index", _list()
    for protocol in protocols():
        for requirement in protocol.rules.catalogue.requirements.values():
            yield f"{FOLDER}/{requirement.id}", _page(protocol, requirement, known, drawn)


def _list() -> str:
    lines = [
        "A requirement is one testable statement of a specification, in the words of the suite. Each has a page with",
        "its codes, positions, scenarios and mutants, and with the implementations that are known to violate it.",
        "`sds-conformance requirements ID` prints the content of the page. Search this site for an ID such as",
        "SDS-RECV-06, for a code such as delivered-early, or for a word.",
        "",
    ]
    for protocol in protocols():
        catalogue = protocol.rules.catalogue
        for section in catalogue.sections:
            rows = [
                (f"[{r.id}]({r.id}.md)", r.level, prose(r.statement))
                for r in catalogue.requirements.values()
                if r.section == section.id
            ]
            if rows:
                first = next(r for r in catalogue.requirements.values() if r.section == section.id)
                lines += [f"## {prose(section.title)} ({first.revisions[0]})", ""]
                lines += table(("ID", "level", "statement"), rows)
    return page("Requirements", lines)


def _page(protocol: Protocol, r: Requirement, known: Known, drawn: Mapping[str, str]) -> str:
    catalogue, register = protocol.rules.catalogue, protocol.rules.register
    section = next(one for one in catalogue.sections if one.id == r.section)
    lines = [f"> {prose(r.statement)}", "", *table(("property", "value"), _facts(r, section.title)), ""]
    if r.untestable:
        lines += ["## Why this requirement is not tested", "", f"{prose(r.untestable).rstrip('.')}.", ""]
    if r.codes:
        lines += ["## Violations", "", *index_entries(full_code(r.id, c) for c in r.codes)]
        lines += table(("code", "meaning"), [(code(full_code(r.id, c)), prose(what)) for c, what in r.codes.items()])
    if r.positions:
        intro = "The specification leaves these points open. The suite decided them as follows:"
        lines += ["## Positions", "", intro, ""]
        rows = [
            (f"[{name}](../positions/{name}.md)", prose(catalogue.positions[name].position)) for name in r.positions
        ]
        lines += table(("position", "decision"), rows)
    lines += _scenarios(protocol, r, drawn)
    if checks := register.checks.get(r.id, []):
        lines += ["## Checks", ""]
        lines += table(("check", "what it decides"), [(code(one.name), prose(one.summary)) for one in checks])
    lines += _mutants(protocol, r)
    lines += _related_requirements(protocol, r)
    lines += _implementations(r, known)
    if not r.untestable:
        which = "" if r.revisions[0] == protocols()[0].rules.current else f" --revision {r.revisions[0]}"
        lines += ["## Test it", "", *code_block(f"sds-conformance run{which} --select {r.id} -- ./my-adapter", "sh")]
        lines += [
            "Do you think that the requirement, or a verdict on it, is wrong? Then read",
            "[how to contest it](../../how-to/contest-a-position.md).",
        ]
    return page(r.id, lines, orphan=True)


def _facts(r: Requirement, section: str) -> Iterator[tuple[str, str]]:
    words = {
        "explicit": "in the words of the specification",
        "lowercase": "in lower case in the specification",
        "implied": "implied by the specification",
    }
    yield "Level", f"{r.level} ({words.get(r.keyword, r.keyword)})"
    yield "Severity", f"{r.severity}: a violation {SEVERITIES[r.severity]}"
    stated = f"section “{prose(section)}”"
    yield "Stated in", f"[{stated}]({r.link})" if r.link else stated
    yield "Revisions", ", ".join(f"{code(name)} ({prose(revisions()[name].title)})" for name in r.revisions)
    yield "Observed", {"wire": "on the wire", "state": "in events and state"}.get(r.observable, r.observable)
    if r.softened:
        text = f"[{r.softened}](../positions/{r.softened}.md)"
        yield "Softened", f"{text} makes a violation a warning; `--strict` makes it a failure"
    if r.experimental:
        yield "Experimental", "a violation is at most a warning"


def _scenarios(protocol: Protocol, r: Requirement, drawn: Mapping[str, str]) -> list[str]:
    found = [one for one in protocol.rules.register.scenarios.values() if r.id in one.exercises]
    if not found:
        return []
    rows = [(f"[{one.name}](../scenarios/{one.name}.md)", prose(one.summary)) for one in found]
    lines = ["## Scenarios", "", *table(("scenario", "plot"), rows)]
    written = [one for one in found if one.name in drawn and r.id in one.declared and r.id not in one.violated]
    if written:
        first = written[0]
        picture = posixpath.relpath(drawn[first.name], FOLDER)
        lines += [
            f"The reference model plays [{first.name}](../scenarios/{first.name}.md), with the message log at the end:",
            "",
            f"![Space-time diagram of {first.name}]({picture})",
            "",
        ]
    return lines


def _mutants(protocol: Protocol, r: Requirement) -> list[str]:
    found = [one for one in protocol.model.mutants.values() if one.requirement == r.id]
    if not found:
        return []
    return [
        "## Mutants",
        "",
        "Each of these models has one fault. The self-test shows that the check of this requirement rejects the model:",
        "",
        *table(("mutant", "fault"), [(code(one.name), prose(one.summary)) for one in found]),
    ]


def _related_requirements(protocol: Protocol, r: Requirement) -> list[str]:
    rows: dict[tuple[str, str], list[str]] = {}
    stated = protocol.rules.catalogue.requirements
    for one in protocol.rules.catalogue.consequences:
        if any(name.partition("/")[0] == r.id for name in one.of):
            named = {name.partition("/")[0] for name in one.fail}
            linked = [f"[{name}]({name}.md)" for name in sorted(named) if name in stated]
            if linked:
                rows.setdefault((", ".join(linked), one.because), [])
    if not rows:
        return []
    lines = ["## Consequences", "", "A fault that violates this requirement can violate these requirements, too:", ""]
    return lines + table(("requirement", "reason"), [(linked, prose(why)) for linked, why in rows])


def _implementations(r: Requirement, known: Known) -> list[str]:
    verdicts = known.verdicts.get(r.id)
    if not verdicts:
        return []
    failing = [name for name, verdict in verdicts.items() if verdict in _BREAKING]
    text = (
        f"{', '.join(failing)} {'violates' if len(failing) == 1 else 'violate'} this requirement."
        if failing
        else "No implementation in the table violates this requirement."
    )
    return [
        "## Implementations",
        "",
        prose(text) + " [All implementations](../implementations.md) lists the runs.",
        "",
        *table(("implementation", "verdict"), [(prose(name), verdict) for name, verdict in verdicts.items()]),
    ]
