"""Playing again what a certificate is about: a sample that is drawn by lot, or everything, and what came out otherwise.

A part of the runs can tell less than all of them: what was certified to pass must not fail in any, and what was
certified to fail must do so again where the certificate says that it shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from sds_harness.declaration import Declaration, printable
from sds_harness.environment import PLAIN

from ..judging.certification import Certification
from ..judging.planning import Plan, plan
from ..judging.registry import IN, scenario_of
from ..judging.rules import Rules
from ..judging.runner import tolerated
from ..judging.verdict import RANK, RequirementVerdict, Verdict
from ..protocols import protocol_of
from .levels import JUDGED


@dataclass(frozen=True)
class Sample:
    """What is played again of a certificate."""

    plan: Plan
    everything: bool
    """All that the certificate is about, so that every verdict has to come out the same."""


@dataclass(frozen=True)
class Comparison:
    """What came out."""

    compared: tuple[str, ...]
    """The requirements of which the runs could tell."""
    differences: tuple[str, ...]
    """A sentence each."""


def everything(data: dict[str, Any]) -> Sample:
    """All scenarios in all environments. They tell all if the certificate is about all of them."""
    rules = protocol_of(data["revision"]).rules
    whole = plan(rules, _ids(data), (), data["profile"], data["revision"], environments=["*"])
    run = data["run"]
    return Sample(whole, run["whole"] and run["complete"] and not run["interrupted"])


def drawn(data: dict[str, Any], seed: int, size: int) -> Sample:
    """So many scenarios by lot, from all sections in turn, in the plain environment and in another one.

    There are none where nothing was judged.
    """
    rules = protocol_of(data["revision"]).rules
    lot = Random(seed)
    scenarios = _scenarios(data, rules, lot, size)
    where = _environments(data, lot, scenarios)
    found = plan(rules, _ids(data), (), data["profile"], data["revision"], scenarios=scenarios, environments=where)
    return Sample(found if scenarios else replace(found, scenarios=()), everything=False)


def _ids(data: dict[str, Any]) -> list[str]:
    return [row["id"] for row in data["requirements"]]


def _scenarios(data: dict[str, Any], rules: Rules, lot: Random, size: int) -> list[str]:
    sections: dict[str, list[list[str]]] = {}
    for row in data["requirements"]:
        fitting = _fitting(row, rules) if row["verdict"] in JUDGED else []
        if fitting:
            sections.setdefault(row["section"], []).append(fitting)
    left = list(sections.values())
    lot.shuffle(left)
    out: dict[str, None] = {}
    while left and len(out) < size:
        choices = left.pop(0)
        out[lot.choice(choices.pop(lot.randrange(len(choices))))] = None
        left += [choices] if choices else []
    return [*out]


def _fitting(row: dict[str, Any], rules: Rules) -> list[str]:
    """The scenarios that tell of a requirement. What takes thousands of steps is left to who plays everything."""
    known = rules.register.scenarios
    written = [name for name, scenario in known.items() if row["id"] in scenario.exercises]
    shown = [scenario_of(run) for run in row.get("shown", ())]
    return [name for name in shown or written if name in known and not known[name].long]


def _environments(data: dict[str, Any], lot: Random, scenarios: Sequence[str]) -> list[str]:
    """The plain one, and one of those in which something shows that these scenarios show, or any."""
    entered = [name for name in data["run"]["environments"] if name != PLAIN.name]
    shown = [run.partition(IN) for row in data["requirements"] for run in row.get("shown", ())]
    telling = [where for name, _, where in shown if name in scenarios and where in entered]
    others = sorted(set(telling)) or entered
    return [PLAIN.name, *([lot.choice(others)] if others else [])]


def another(data: dict[str, Any], declared: Declaration) -> Iterator[str]:
    """How what answers is not what the certificate is about, a sentence each."""
    about = data["implementation"]
    for what, certified, now in (
        ("name", about["name"], declared.name),
        ("version", about["version"], declared.version),
        ("capabilities", about["capabilities"], declared.capability_names),
        ("limits", about["limits"], {name: limit for name, limit in declared.limits.items() if limit is not None}),
        ("profiles", {**data["profiles"], "dialect": ""}, {**declared.profiles, "dialect": ""}),
    ):
        if certified != now:
            yield f"{what}: certified {_said(certified)}, and now {_said(now)}"


def _said(value: Any) -> str:
    if isinstance(value, dict):
        value = [f"{name} {choice}" for name, choice in sorted(value.items()) if choice != ""]
    return printable(", ".join(map(str, value)) if isinstance(value, list) else str(value), 300) or "nothing"


def compare(data: dict[str, Any], sample: Sample, outcome: Certification) -> Comparison:
    """What the certificate says, and what came out."""
    now = {verdict.requirement.id: verdict for verdict in outcome.verdicts}
    compared, differences = [], []
    for row in data["requirements"]:
        told = _difference(row, now.get(row["id"]), sample, outcome, data["run"]["whole"])
        if told is not None:
            compared.append(row["id"])
            differences += [f"{row['id']}: {told}"] if told else []
    for broken in outcome.breakdowns:
        if broken.breakdown.kind.value not in {*tolerated(), *data["breakdowns"]}:
            where = printable(broken.where, 80)
            differences.append(f"it broke down ({broken.breakdown.kind.value}) in {where}, which is not certified")
    return Comparison(tuple(compared), tuple(dict.fromkeys(differences)))


def _difference(
    row: dict[str, Any], now: RequirementVerdict | None, sample: Sample, outcome: Certification, whole: bool
) -> str | None:
    """What is different in a requirement, "" if nothing is, None where the runs cannot tell."""
    certified = Verdict(row["verdict"])
    if now is None or Verdict.ERROR in (certified, now.verdict):
        return None
    told = f"certified {certified.value}, and now {now.verdict.value}"
    told += f" in {now.findings[0].run}" if now.verdict in (Verdict.FAIL, Verdict.WARN) and now.findings else ""
    if sample.everything:
        return "" if now.verdict is certified else told
    if now.verdict in RANK and certified not in RANK:
        # What was exercised in none of all runs is not exercised in some of them.
        return told if whole or now.verdict is not Verdict.PASS else None
    if now.verdict in RANK and RANK[now.verdict] > RANK[certified]:
        return told
    again = [run for run in row.get("shown", ()) if run in outcome.played]
    if again and now.verdict is not certified:
        return f"{told}, although {printable(', '.join(again), 200)} showed it"
    return "" if now.verdict is certified and certified in RANK else None
