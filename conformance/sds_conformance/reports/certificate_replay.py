"""Replays a certificate, completely or as a random sample, and reports the differences.

A sample cannot reproduce every verdict. A requirement with a certified pass must not fail in any run of the sample. A
requirement with a certified failure must fail again in the runs that the certificate lists for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from sds_harness.declaration import Declaration, printable
from sds_harness.environment import PLAIN

from ..judging.certification import Certification
from ..judging.plan import Plan, plan
from ..judging.registry import IN, scenario_of
from ..judging.rules import Rules
from ..judging.runner import tolerated_breakdowns
from ..judging.verdict import RANK, RequirementVerdict, Verdict
from ..protocols import protocol_of
from .levels import JUDGED


@dataclass(frozen=True)
class Sample:
    """The part of a certificate to replay."""

    plan: Plan
    everything: bool
    """True if the sample is the complete certificate. Then every verdict must be reproduced."""


@dataclass(frozen=True)
class ReplayResult:
    """The result of a replay."""

    compared: tuple[str, ...]
    """IDs of the requirements that the replayed runs could judge."""
    differences: tuple[str, ...]
    """One sentence per difference."""


def full_sample(data: dict[str, Any]) -> Sample:
    """Return a sample with all scenarios in all environments. If the certified run was complete, ``everything`` is True
    in the sample: all verdicts must be reproduced.
    """
    rules = protocol_of(data["revision"]).rules
    whole = plan(rules, _ids(data), (), data["profile"], data["revision"], environments=["*"])
    run = data["run"]
    return Sample(whole, run["whole"] and run["complete"] and not run["interrupted"])


def draw_sample(data: dict[str, Any], seed: int, size: int) -> Sample:
    """Draw ``size`` scenarios, which test requirements of all sections of the specification in turn. They are replayed
    in the environment `plain` and in a second environment.

    The sample is empty if the certificate has no judged requirement.
    """
    rules = protocol_of(data["revision"]).rules
    rng = Random(seed)
    scenarios = _scenarios(data, rules, rng, size)
    where = _environments(data, rng, scenarios)
    found = plan(rules, _ids(data), (), data["profile"], data["revision"], scenarios=scenarios, environments=where)
    return Sample(found if scenarios else replace(found, scenarios=()), everything=False)


def _ids(data: dict[str, Any]) -> list[str]:
    return [row["id"] for row in data["requirements"]]


def _scenarios(data: dict[str, Any], rules: Rules, rng: Random, size: int) -> list[str]:
    sections: dict[str, list[list[str]]] = {}
    for row in data["requirements"]:
        fitting = _scenarios_for(row, rules) if row["verdict"] in JUDGED else []
        if fitting:
            sections.setdefault(row["section"], []).append(fitting)
    left = list(sections.values())
    rng.shuffle(left)
    out: dict[str, None] = {}
    while left and len(out) < size:
        choices = left.pop(0)
        out[rng.choice(choices.pop(rng.randrange(len(choices))))] = None
        left += [choices] if choices else []
    return [*out]


def _scenarios_for(row: dict[str, Any], rules: Rules) -> list[str]:
    """Return the scenarios whose runs the certificate lists for a requirement, or else all scenarios that test it.

    Long scenarios are omitted: only a complete replay plays them.
    """
    known = rules.register.scenarios
    written = [name for name, scenario in known.items() if row["id"] in scenario.exercises]
    shown = [scenario_of(run) for run in row.get("shown", ())]
    return [name for name in shown or written if name in known and not known[name].long]


def _environments(data: dict[str, Any], rng: Random, scenarios: Sequence[str]) -> list[str]:
    """Return the environment `plain` and a second environment, preferably an environment with findings of these
    scenarios on the certificate.
    """
    entered = [name for name in data["run"]["environments"] if name != PLAIN.name]
    shown = [run.partition(IN) for row in data["requirements"] for run in row.get("shown", ())]
    telling = [where for name, _, where in shown if name in scenarios and where in entered]
    others = sorted(set(telling)) or entered
    return [PLAIN.name, *([rng.choice(others)] if others else [])]


def describe_differences(data: dict[str, Any], declared: Declaration) -> Iterator[str]:
    """Yield a sentence for each difference between the running and the certified implementation."""
    about = data["implementation"]
    for what, certified, now in (
        ("name", about["name"], declared.name),
        ("version", about["version"], declared.version),
        ("capabilities", about["capabilities"], declared.capability_names),
        ("limits", about["limits"], {name: limit for name, limit in declared.limits.items() if limit is not None}),
        ("profiles", {**data["profiles"], "dialect": ""}, {**declared.profiles, "dialect": ""}),
    ):
        if certified != now:
            yield f"{what}: certified {_value_text(certified)}, and now {_value_text(now)}"


def _value_text(value: Any) -> str:
    if isinstance(value, dict):
        value = [f"{name} {choice}" for name, choice in sorted(value.items()) if choice != ""]
    return printable(", ".join(map(str, value)) if isinstance(value, list) else str(value), 300) or "nothing"


def compare(data: dict[str, Any], sample: Sample, outcome: Certification) -> ReplayResult:
    """Compare the certificate ``data`` with ``outcome``, the results of replaying ``sample``."""
    now = {verdict.requirement.id: verdict for verdict in outcome.verdicts}
    compared, differences = [], []
    for row in data["requirements"]:
        difference = _difference(row, now.get(row["id"]), sample, outcome, data["run"]["whole"])
        if difference is not None:
            compared.append(row["id"])
            differences += [f"{row['id']}: {difference}"] if difference else []
    for broken in outcome.breakdowns:
        if broken.breakdown.kind.value not in {*tolerated_breakdowns(), *data["breakdowns"]}:
            where = printable(broken.where, 80)
            differences.append(
                f"the implementation broke down ({broken.breakdown.kind.value}) in {where}, "
                f"which the certificate does not list"
            )
    return ReplayResult(tuple(compared), tuple(dict.fromkeys(differences)))


def _difference(
    row: dict[str, Any], now: RequirementVerdict | None, sample: Sample, outcome: Certification, whole: bool
) -> str | None:
    """Return the difference for a requirement; "" if there is none; None if the replayed runs cannot judge the
    requirement.
    """
    certified = Verdict(row["verdict"])
    if now is None or Verdict.ERROR in (certified, now.verdict):
        return None
    difference = f"certified {certified.value}, and now {now.verdict.value}"
    difference += f" in {now.findings[0].run}" if now.verdict in (Verdict.FAIL, Verdict.WARN) and now.findings else ""
    if sample.everything:
        return "" if now.verdict is certified else difference
    if now.verdict in RANK and certified not in RANK:
        # If no run of the certificate exercised the requirement, a sample of these runs cannot exercise it either.
        return difference if whole or now.verdict is not Verdict.PASS else None
    if now.verdict in RANK and RANK[now.verdict] > RANK[certified]:
        return difference
    again = [run for run in row.get("shown", ()) if run in outcome.played_runs]
    if again and now.verdict is not certified:
        return f"{difference}, although the certificate lists {printable(', '.join(again), 200)} as evidence"
    return "" if now.verdict is certified and certified in RANK else None
