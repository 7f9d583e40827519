"""``sds-conformance requirements``: look up entries by ID, by name or by words.

Entries are requirements, positions, properties of the group, and scenarios. Each entry becomes a row. ``--json`` prints
the rows. On the terminal, a single row is shown in full, and several rows are listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import click
from rich.console import Console
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

from sds_harness.environment import PLAIN
from sds_harness.suggestions import did_you_mean

from ..judging.catalogue import POSITION_VERDICTS, Position, Requirement
from ..judging.exercise import Sightings, find_sightings
from ..judging.formats import format_count
from ..judging.registry import Scenario
from ..judging.rules import Rules
from ..judging.severity import SEVERITIES
from ..judging.verdict import full_code
from ..presentation.links import documentation_link
from ..presentation.project import reference_page
from ..protocols import Protocol, default, protocols, repertoires, revisions, withdrawn
from ..protocols.properties import GROUP, GlobalProperty
from .name_types import NameChoice, Pattern
from .options import POSITIONS, console, full_id, program
from .output_filter import print_json
from .progress import progress_bar

REQUIREMENT, POSITION, PROPERTY, SCENARIO = KINDS = ("requirement", "position", "property", "scenario")
_GLOB = frozenset("*?[")


@dataclass(frozen=True)
class LookupEntry:
    """An entry that a search can find: a requirement, a position, a property or a scenario."""

    kind: str
    id: str
    protocol: Protocol
    about: Requirement | Position | GlobalProperty | Scenario
    searched_text: str
    """All texts of the entry in which words are searched."""

    def has_words(self, word: str) -> bool:
        """Return whether the entry contains the word, or a word that begins with it. A typed plural also finds the
        singular.
        """
        stem = word[:-1] if len(word) > 3 and word.lower().endswith("s") else word
        return re.search(rf"(?<!\w){re.escape(stem)}", self.searched_text, re.IGNORECASE) is not None


def entries() -> list[LookupEntry]:
    """Return all entries, in the order of the specifications."""
    return [
        LookupEntry(kind, name, protocol, about, " ".join([name, *statement]))
        for kind in KINDS
        for protocol in protocols()
        for name, about, statement in _entries_of_kind(protocol, kind)
    ]


def _entries_of_kind(
    protocol: Protocol, kind: str
) -> Iterator[tuple[str, Requirement | Position | GlobalProperty | Scenario, Sequence[str]]]:
    rules = protocol.rules
    if kind == REQUIREMENT:
        titles = {section.id: section.title for section in rules.catalogue.sections}
        for r in rules.catalogue.requirements.values():
            yield r.id, r, (titles[r.section], r.anchor, r.level, r.statement, *_code_words(r))
    elif kind == POSITION:
        for position in rules.catalogue.positions.values():
            yield position.id, position, (position.question, position.position)
    elif kind == PROPERTY:
        first = protocol.repertoire
        known = [found for each in (first, *first.others) for found in each.properties.values()] if first else []
        for found in sorted(known, key=lambda found: found.id):
            yield found.id, found, (found.title, found.summary, *found.requirements, *_code_words(found))
    else:
        for scenario in rules.register.scenarios.values():
            yield scenario.name, scenario, (scenario.summary, *scenario.exercises)


def _code_words(about: Requirement | GlobalProperty) -> list[str]:
    """Return the full codes of a requirement or property, and their descriptions."""
    return [text for code, what in about.codes.items() for text in (full_code(about.id, code), what)]


def select_entries(patterns: Sequence[str], kinds: Sequence[str] = ()) -> list[LookupEntry]:
    """Return the entries that match one of the IDs, names or globs in ``patterns``, and contain all other words of
    ``patterns``.

    If ``kinds`` are given, only entries of these kinds match. Without ``patterns``, all of them match; without
    ``kinds`` as well, all entries except the positions. Raises UsageError if nothing matches.
    """
    everything = entries()
    known = [entry for entry in everything if not kinds or entry.kind in kinds]
    if not patterns:
        return [entry for entry in known if kinds or entry.kind != POSITION]
    names = {entry.id for entry in everything}
    patterns = [_strip_code(word, everything) for word in patterns]
    globs = [word for word in patterns if _is_id(word, names)]
    words = [word for word in patterns if word not in globs]
    found = known
    if globs:
        meant = {entry.id for glob in globs for entry in _meant(glob, known, names)}
        found = [entry for entry in known if entry.id in meant]
    for word in words:
        if not any(entry.has_words(word) for entry in found):
            among = " or ".join(kinds or KINDS) + (f" among {' '.join(globs)}" if globs else "")
            others = " together with the other words" if len(words) > 1 else ""
            raise click.UsageError(f"no {among} contains the word {word!r}{others}.{_near(word, names)}")
        found = [entry for entry in found if entry.has_words(word)]
    return found


def _strip_code(word: str, everything: Sequence[LookupEntry]) -> str:
    """Remove the code from an ID such as ``SDS-RECV-06/delivered-early``; other words are returned unchanged.

    Raises UsageError if the requirement or property has no such code.
    """
    name, slash, code = word.partition("/")
    if withdrawn(full_id(name)):
        return name
    about = next((entry.about for entry in everything if entry.id == full_id(name)), None)
    if not slash or not isinstance(about, Requirement | GlobalProperty):
        return word
    if code.lower() not in about.codes:
        hint = f"the codes of {about.id} are {', '.join(about.codes)}" if about.codes else f"{about.id} has no codes"
        raise click.UsageError(f"{about.id} has no code {code!r}: {hint}.{did_you_mean(code.lower(), about.codes)}")
    return about.id


def _is_id(word: str, names: set[str]) -> bool:
    """Return whether a word looks like an ID, a name, or a glob of these. All other words are searched in the texts of
    entries.
    """
    shaped = bool(_GLOB.intersection(word)) or re.search(r"-\d+$", word) is not None
    return shaped or withdrawn(full_id(word)) != "" or full_id(word) in names or word.lower() in names


def _meant(glob: str, known: Sequence[LookupEntry], names: set[str]) -> list[LookupEntry]:
    """Return the entries that a glob matches. Raises UsageError if there are none."""
    full = full_id(glob)
    # '*' selects requirements only. A glob for another kind starts like its IDs, such as 'AMB-*'.
    beginnings = {REQUIREMENT: ("",), POSITION: POSITIONS, PROPERTY: (GROUP,)}
    found = [
        e for e in known if e.kind in beginnings and full.startswith(beginnings[e.kind]) and fnmatchcase(e.id, full)
    ]
    found = found or [entry for entry in known if entry.kind == SCENARIO and fnmatchcase(entry.id, glob.lower())]
    if not found:
        if gone := withdrawn(full):
            raise click.UsageError(f"{gone}.")
        meant = _near(glob, names)
        positions = " and ".join(f"'{beginning}-*'" for beginning in POSITIONS)
        raise click.UsageError(
            f"nothing matches {glob}. Without GLOB, all requirements are listed; {positions} list the positions, and "
            f"'{GROUP}*' the properties of the group. Any other word is searched in the texts.{meant}"
        )
    return found


def address_of(entry: LookupEntry) -> str:
    """Return the address of the entry's page on the documentation site, or else of its section in the published
    specification; "" if there is neither.
    """
    places = {
        REQUIREMENT: f"requirements/{entry.id}",
        POSITION: f"positions/{entry.id}",
        PROPERTY: "properties",
        SCENARIO: f"scenarios/{entry.id}",
    }
    return reference_page(places[entry.kind]) or (entry.about.link if isinstance(entry.about, Requirement) else "")


def _near(word: str, names: set[str]) -> str:
    """Return a suggestion of a similar ID or name; "" if there is none."""
    known = sorted(names)
    return did_you_mean(full_id(word), known) or did_you_mean(word.lower(), known)


_CATALOGUE_FIELDS = (
    "id",
    "section",
    "anchor",
    "link",
    "level",
    "severity",
    "keyword",
    "observable",
    "statement",
    "experimental",
)
"""The fields of a requirement that are copied from the catalogue."""
_EPILOG = """
\b
Examples:
  sds-conformance requirements
  sds-conformance requirements duplicates
  sds-conformance requirements causal history --kind requirement
  sds-conformance requirements 'SDS-RECV-*'
  sds-conformance requirements SDS-RECV-06
  sds-conformance requirements SDS-RECV-06/delivered-early
  sds-conformance requirements AMB-24
  sds-conformance requirements G-01
  sds-conformance requirements a-missing-dependency
  sds-conformance requirements --json > requirements.json
  sds-conformance requirements SDS-RECV-06 --run
"""


@click.command("requirements", epilog=_EPILOG)
@click.argument("asked", nargs=-1, type=Pattern("requirements", "scenarios"), metavar="[GLOB | WORD]...")
@click.option("--kind", "kinds", type=NameChoice(KINDS), multiple=True, help="List only this kind; repeatable.")
@click.option(
    "--run/--no-run",
    "to_run",
    help="Play all scenarios to count the runs that exercise each requirement.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON. Without GLOB or WORD, it has only the requirements.")
def requirements_command(asked: tuple[str, ...], kinds: tuple[str, ...], to_run: bool, as_json: bool) -> None:
    """List the requirements and how the suite tests them.

    The list shows the level of each requirement, its statement, and the numbers of checks, scenarios and mutants; with
    --run, also the number of runs of the reference model that exercise it. Properties of the group and scenarios
    follow. An ID, the name of a scenario, or a code of a finding shows all details and the link to the specification.

    'AMB-*' lists the positions: questions that the specification leaves open, with the answer of the suite. Findings
    cite them. 'G-*' lists the properties of the group, which `fuzz` judges. Any other WORD searches names, statements
    and sections.
    """
    found = select_entries(asked, kinds or ((REQUIREMENT,) if as_json and not asked else ()))
    concerned = {entry.protocol.name: entry.protocol for entry in found if entry.kind == REQUIREMENT}
    sightings = {name: _find_sightings(protocol) for name, protocol in concerned.items() if to_run}
    rows = [describe_entry(entry, sightings.get(entry.protocol.name)) for entry in found]
    if as_json:
        print_json(rows)
    else:
        show(console(), [(entry.protocol, data) for entry, data in zip(found, rows, strict=True)])


def describe_entry(entry: LookupEntry, sightings: Sightings | None) -> Row:
    """Return all data of an entry as JSON values. Without ``sightings``, the runs that exercise a requirement are
    missing.
    """
    protocol, about = entry.protocol, entry.about
    match about:
        case Requirement():
            data = row(protocol, about, sightings)
        case Position():
            data = position_row(protocol.rules, about)
        case GlobalProperty():
            data = {"id": about.id, "title": about.title, "summary": about.summary}
            data |= {"says": about.says, "requirements": list(about.requirements), "codes": _codes(about)}
        case Scenario():
            environments = [PLAIN.name] if about.long else list(protocol.rules.environments)
            data = {"id": about.name, "summary": about.summary, "requirements": list(about.exercises)}
            data["environments"] = environments
    return {"kind": entry.kind, **data}


def row(protocol: Protocol, requirement: Requirement, sightings: Sightings | None) -> Row:
    """Return all data of a requirement as JSON values. Without ``sightings``, the runs that exercise it are missing."""
    register = protocol.rules.register
    checks = register.checks.get(requirement.id, [])
    exercised = None if sightings is None else dict(sightings.get(requirement.id, {}))
    return {
        **{key: getattr(requirement, key) for key in _CATALOGUE_FIELDS},
        "positions": list(requirement.positions),
        "softened": requirement.softened,
        "codes": _codes(requirement),
        "status": "untestable" if requirement.untestable else "checked",
        "reason": requirement.untestable,
        "checks": [{"name": check.name, "summary": check.summary} for check in checks],
        "scenarios": [s.name for s in register.scenarios.values() if requirement.id in s.exercises],
        "mutants": [m.name for m in protocol.model.mutants.values() if m.requirement == requirement.id],
        "runs": None if exercised is None else len(exercised),
        "exercised_in": exercised,
    }


def _codes(about: Requirement | GlobalProperty) -> list[Row]:
    return [{"code": full_code(about.id, code), "description": what} for code, what in about.codes.items()]


def position_row(rules: Rules, position: Position) -> Row:
    """Return all data of one position as JSON values."""
    concerned = [r.id for r in rules.catalogue.requirements.values() if position.id in r.positions]
    return {
        **{key: getattr(position, key) for key in ("id", "question", "position", "verdict")},
        "ways": [{"way": name, "words": option.words} for name, option in position.options.items()],
        "untold": position.not_shown,
        "requirements": concerned,
    }


def _find_sightings(protocol: Protocol) -> Sightings:
    """Return the runs in which each requirement is exercised; show the progress on a terminal."""
    with progress_bar(console(stderr=True), chars=30, width=16) as bar:
        return find_sightings(protocol.rules, protocol.model, bar)


Row = dict[str, Any]
_STYLES = {"checked": "green", "untestable": "dim"}
_HEADINGS = {
    POSITION: "Positions: questions that the specification leaves open",
    PROPERTY: "Properties of the group, which `fuzz` judges",
    SCENARIO: "Scenarios",
}


def show(out: Console, found: list[tuple[Protocol, Row]]) -> None:
    """Print a single entry in full, or several entries in lists with headings."""
    if len(found) == 1:
        protocol, row = found[0]
        {REQUIREMENT: _requirement, POSITION: _position, PROPERTY: _property, SCENARIO: _scenario}[row["kind"]](
            out, protocol, row
        )
        return
    _list_requirements(out, [(protocol, row) for protocol, row in found if row["kind"] == REQUIREMENT])
    began = found[0][1]["kind"] == REQUIREMENT
    for kind, heading in _HEADINGS.items():
        rows = [(protocol, row) for protocol, row in found if row["kind"] == kind]
        if rows and began:
            out.print()
        if rows:
            began = True
            out.print(Text(heading, "bold underline"))
        for number, (protocol, row) in enumerate(rows):
            if kind == POSITION:
                if number:
                    out.print()
                _position(out, protocol, row, statements=False)
            else:
                title = f"  {row['title']}" if kind == PROPERTY else ""
                _print_entry(out, Text.assemble((row["id"], "bold"), title), row["summary"])


def _print_entry(out: Console, head: Text, statement: str) -> None:
    out.print(head)
    out.print(Padding(Text(statement), (0, 0, 0, 2), expand=False))


def _list_requirements(out: Console, found: list[tuple[Protocol, Row]]) -> None:
    if not found:
        return
    ids = max(len(r["id"]) for _, r in found)
    levels = max(len(r["level"]) for _, r in found)
    section = None
    for protocol, r in found:
        if r["section"] != section:
            if section is not None:
                out.print()
            section = r["section"]
            out.print(_heading(protocol, r))
        tested = Text(_test_counts(r) if r["status"] == "checked" else r["status"], _STYLES[r["status"]])
        _print_entry(
            out, Text.assemble((f"{r['id']:<{ids}}  ", "bold"), f"{r['level']:<{levels}}  ", tested), r["statement"]
        )
        if r["reason"]:
            out.print(Padding(Text(f"Why not: {r['reason']}.", "dim"), (0, 0, 0, 2), expand=False))
    counts = {status: sum(1 for _, r in found if r["status"] == status) for status in _STYLES}
    text = ", ".join(f"{n} {status}" for status, n in counts.items() if n)
    out.print(f"\n{format_count(len(found), 'requirement')}: {text}")


def _heading(protocol: Protocol, r: Row) -> Text:
    """Return the heading: the section of a requirement and the specification. It is a link to the section if the
    terminal supports links.
    """
    title = next(section.title for section in protocol.rules.catalogue.sections if section.id == r["section"])
    style = Style(bold=True, underline=True, link=r["link"] or None)
    revision = protocol.rules.catalogue.requirements[r["id"]].revisions[0]
    return Text.assemble((title, style), (f"  {revision}: {revisions()[revision].title}", "dim"))


def _test_counts(r: Row) -> str:
    """Return the numbers of checks, scenarios, mutants and runs, in columns."""
    counts = [(len(r["checks"]), "check"), (len(r["scenarios"]), "scenario"), (len(r["mutants"]), "mutant")]
    counts += [(r["runs"], "run")] if r["runs"] is not None else []
    return " ".join(f"{n:>3} {what + ('s' if n != 1 else ''):<{len(what) + 1}}" for n, what in counts).rstrip()


def _requirement(out: Console, protocol: Protocol, r: Row) -> None:
    out.print(Text.assemble((r["id"], "bold"), f"  {r['level']} ({r['keyword']}), section {r['anchor']!r}"))
    if r["link"]:
        # Not wrapped: a line end within the address would break it when it is copied.
        out.print(Text(r["link"], Style(color="blue", link=r["link"])), soft_wrap=True)
    if page := documentation_link(r["id"]):
        out.print(Text(page, Style(color="blue", link=page)), soft_wrap=True)
    grid = _grid()
    grid.add_row("Statement", r["statement"])
    grid.add_row("Severity", f"{r['severity']}: a violation {SEVERITIES[r['severity']]}")
    grid.add_row("Observable", r["observable"])
    for name in r["positions"]:
        grid.add_row("Position", f"{name}: {protocol.rules.catalogue.positions[name].position}")
    if r["softened"]:
        grid.add_row("Softened", f"{r['softened']} reduces a violation to a warning; --strict makes it a failure")
    grid.add_row("Status", r["status"] + (f": {r['reason']}" if r["reason"] else ""))
    _add_codes(grid, r)
    for check in r["checks"]:
        grid.add_row("Check", f"{check['name']}: {check['summary']}")
    for name in r["scenarios"]:
        grid.add_row("Scenario", f"{name}: {protocol.rules.register.scenarios[name].summary}")
    for name in r["mutants"]:
        grid.add_row("Mutant", f"{name}: {protocol.model.mutants[name].summary}")
    if r["exercised_in"] is not None:
        total = sum(r["exercised_in"].values())
        where = ", ".join(f"{name} ({count})" for name, count in r["exercised_in"].items())
        grid.add_row(
            "Exercised",
            f"{format_count(total, 'time')} in {format_count(r['runs'], 'run')}: {where}" if total else "never",
        )
    out.print(grid)


def _position(out: Console, protocol: Protocol, r: Row, *, statements: bool = True) -> None:
    """Print one position. With ``statements``, print the statements of its requirements, else only their IDs."""
    out.print(Text(r["id"], "bold"))
    grid = _grid()
    grid.add_row("Open", r["question"])
    grid.add_row("Position", r["position"])
    grid.add_row("Verdict", f"{r['verdict']}: {POSITION_VERDICTS[r['verdict']]}")
    for way in r["ways"]:
        grid.add_row("Way", f"{way['way']}: {way['words']}")
    if r["untold"]:
        grid.add_row("Ways", f"cannot be observed in a run: {r['untold']}")
    if statements:
        _add_statements(grid, "Concerns", protocol, r["requirements"])
    else:
        grid.add_row("Concerns", ", ".join(r["requirements"]))
    out.print(grid)


def _property(out: Console, protocol: Protocol, r: Row) -> None:
    out.print(Text.assemble((r["id"], "bold"), "  property of the group"))
    grid = _grid()
    grid.add_row("Rule", f"{r['title']}.")
    grid.add_row("Check", r["summary"])
    if r["says"]:
        grid.add_row("Text", f"“{r['says']}”")
    _add_codes(grid, r)
    _add_statements(grid, "Based on", protocol, r["requirements"])
    about = next(known.revisions for known in repertoires() if r["id"] in known.properties)
    which = "" if default().rules.current in about else f" --revision {about[0]}"
    grid.add_row("Played by", f"generated schedules: `{program()} fuzz{which} -- COMMAND`")
    out.print(grid)


def _scenario(out: Console, protocol: Protocol, r: Row) -> None:
    from .scenarios import built_in_scenario  # not at the top, because the import is slow

    revision, _ = built_in_scenario(r["id"])
    which = "" if revision == default().rules.current else f" --revision {revision}"
    out.print(Text.assemble((r["id"], "bold"), "  scenario"))
    grid = _grid()
    grid.add_row("Summary", r["summary"])
    _add_statements(grid, "For", protocol, r["requirements"])
    grid.add_row("Played in", ", ".join(r["environments"]))
    grid.add_row("Play it", f"{program()} run --scenario {r['id']}{which} -- COMMAND")
    out.print(grid)


def _add_codes(grid: Table, r: Row) -> None:
    for violation in r["codes"]:
        grid.add_row("Violation", f"{violation['code']}: {violation['description']}")


def _add_statements(grid: Table, label: str, protocol: Protocol, requirements: list[str]) -> None:
    for name in requirements:
        grid.add_row(label, f"{name}: {protocol.rules.catalogue.requirements[name].statement}")


def _grid() -> Table:
    """Return an empty table for labels on the left and values on the right."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    return grid
