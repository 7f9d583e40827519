"""A list of all scenarios, and a page for each scenario.

The page has the data and a diagram of the scenario, unless the scenario is too long.
"""

from __future__ import annotations

from collections.abc import Iterator

from sds_conformance.cli.scenarios import as_scenario_file, built_in_scenario, draw
from sds_conformance.judging.registry import Scenario
from sds_conformance.protocols import Protocol, protocols, repertoire_of
from sds_harness.environment import PLAIN
from sds_harness.schedules.files import to_yaml

from .markdown import code, code_block, page, prose, table

FOLDER = "reference/scenarios"
_MOST_OPERATIONS = 60
"""The page of a scenario with more operations than this has no diagram and no data: they would be too long to read."""


def pages() -> Iterator[tuple[str, str]]:
    """The list of scenarios, a page for each scenario, and the diagrams, whose places end with ``.svg``."""
    yield f"{FOLDER}/index", _list()
    for protocol in protocols():
        for scenario in protocol.rules.register.scenarios.values():
            yield from _page(protocol, scenario)


def _list() -> str:
    lines = [
        "A scenario is a test case that the suite plays. Its page shows it as a",
        "[scenario file](../../how-to/scenario-files.md) and as a diagram, unless the scenario is too long to read.",
        "",
    ]
    for protocol in protocols():
        register = protocol.rules.register
        rows = [(f"[{one.name}]({one.name}.md)", prose(one.summary)) for one in register.scenarios.values()]
        lines += [f"## {protocol.name}", "", *table(("scenario", "plot"), rows)]
    return page("Scenarios", lines)


def _page(protocol: Protocol, scenario: Scenario) -> Iterator[tuple[str, str]]:
    stated = protocol.rules.catalogue.requirements
    revision, _ = built_in_scenario(scenario.name)
    which = "" if revision == protocols()[0].rules.current else f" --revision {revision}"
    played = [PLAIN.name] if scenario.long else list(protocol.rules.environments)
    lines = [prose(scenario.summary), "", "## Requirements", ""]
    rows = [(f"[{each}](../requirements/{each}.md)", prose(stated[each].statement)) for each in scenario.exercises]
    lines += table(("requirement", "statement"), rows)
    lines += ["## Play it", "", f"Environments in which the scenario is played: {', '.join(map(code, played))}.", ""]
    lines += code_block(f"sds-conformance run{which} --scenario {scenario.name} -- ./my-adapter", "sh")
    schedule = scenario.schedule
    assert schedule is not None, "every scenario of the suite has a schedule"
    if (count := len(schedule.operations)) > _MOST_OPERATIONS:
        lines += [
            f"The scenario has {count} operations. `sds-conformance scenarios show {scenario.name}` prints them.",
            "",
        ]
    else:
        written = as_scenario_file(scenario, schedule, revision)
        yield f"{FOLDER}/{scenario.name}.svg", draw(written, revision)
        lines += ["## Diagram", "", "The reference model plays the scenario:", ""]
        lines += [f"![Space-time diagram of {scenario.name}]({scenario.name}.svg)", ""]
        lines += ["## Data", "", *code_block(to_yaml(written, repertoire_of(revision).notation), "yaml")]
    yield f"{FOLDER}/{scenario.name}", page(scenario.name, lines, orphan=True)
