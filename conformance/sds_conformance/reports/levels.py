"""Levels: the claims that a certificate may make about an implementation. They follow only from the contents of the
certificate.

The parts of a level are judged in order: the second part counts only if the first part passes. As docs/verdicts.md
says, a requirement that was not exercised never passes. So an inconclusive MUST blocks a level. A requirement that is
skipped, because a capability is not declared, does not block the level; the number of skipped requirements is shown
next to it.
"""

from __future__ import annotations

from typing import Any

from ..judging.formats import format_count
from ..judging.rules import Rules
from ..judging.runner import tolerated_breakdowns
from ..judging.verdict import Verdict
from ..protocols import protocol_of
from .limits import findings
from .report import declaration_of

NONE = "none"
"""The name of the level in a certificate of an implementation that reaches no level."""
STRICT = "strict"
JUDGED = (Verdict.PASS.value, Verdict.WARN.value, Verdict.FAIL.value)
"""Verdicts of exercised requirements."""
_AGAINST = {
    Verdict.FAIL.value: "MUST requirements that fail",
    Verdict.INCONCLUSIVE.value: "MUST requirements that are inconclusive",
    Verdict.ERROR.value: "requirements that were not judged because of a fault of the suite",
}
"""Reasons that block a level, by verdict."""


def level(data: dict[str, Any]) -> dict[str, Any]:
    """Compute the level of a certificate: its name, and for each part whether the implementation reaches the part and
    what blocks it.
    """
    rules = protocol_of(data["revision"]).rules
    against = _blockers(data, rules)
    parts = [_part(data, rules, profile) for profile in parts_of(rules, data["revision"])]
    held = []
    for part in parts:
        if against or part["because"]:
            break
        held.append(part)
    for part in parts:
        part["held"] = part in held
    strict = bool(held) and all(part["strict"] for part in held) and not _has_attached_warnings(data)
    name = " + ".join(part["title"] for part in held) + (f", {STRICT}" if strict else "")
    return {"name": name or NONE, "strict": strict, "against": against, "parts": parts}


def parts_of(rules: Rules, revision: str) -> list[str]:
    """Return the profiles of a revision: the base profile first, then the profiles that extend it."""
    narrow = [
        profile for profile in rules.profiles if profile != rules.full and rules.judged_requirements(revision, profile)
    ]
    return narrow or [rules.full]


def _blockers(data: dict[str, Any], rules: Rules) -> list[str]:
    """Return the reasons that block every level, because they concern the whole run."""
    run, out = data["run"], []
    if run["narrowed"] or not run["whole"]:
        out.append(f"only a part of {' and '.join(run['narrowed']) or 'the run'} was selected")
    if run["interrupted"] or not run["complete"]:
        out.append("the run did not finish")
    missing = [name for name in rules.environments if name not in run["environments"] and name not in run["left_out"]]
    if run["whole"] and missing:
        out.append(f"nothing was played in the environment {', '.join(missing)}")
    if broken := hard(data):
        out.append(f"the implementation broke down: {', '.join(f'{kind} ({count})' for kind, count in broken.items())}")
    if asked := data["vectors"].get("asked") if "vectors" in data else None:
        wrong = format_count(len(asked["failed"]), "golden vector")
        out += [f"the implementation gave a wrong answer to {wrong}"] if asked["failed"] else []
        out += ["not all golden vectors were answered"] if not asked["complete"] else []
    if fuzz := data.get("fuzz"):
        failed = ", ".join(fuzz["failed"])
        out += [f"in generated schedules, the implementation violates {failed}"] if failed else []
        out += ["the run ended before all generated schedules were played"] if not fuzz["complete"] else []
    if all_of_it := data.get("exhaust"):
        failed = ", ".join(all_of_it["failed"])
        out += [f"in exhaustively played schedules, the implementation violates {failed}"] if failed else []
        out += ["the run ended before all schedules of `exhaust` were played"] if not all_of_it["complete"] else []
    if limits := data.get("limits"):
        less = findings(limits["rows"])
        out += [f"the limits are smaller than declared or required: {', '.join(less)}"] if less else []
        out += ["the run ended before all limits were measured"] if not limits["complete"] else []
    return out


def hard(data: dict[str, Any]) -> dict[str, int]:
    """Return the number of breakdowns that fail an implementation, by kind."""
    soft = tolerated_breakdowns(strict=data["strict"], narrowed=data["run"]["narrowed"])
    return {kind: count for kind, count in data["breakdowns"].items() if kind not in soft}


def _has_attached_warnings(data: dict[str, Any]) -> bool:
    asked = data["vectors"].get("asked", {}) if "vectors" in data else {}
    return bool(asked.get("warned") or any(data.get(what, {}).get("warned") for what in ("fuzz", "exhaust")))


def _part(data: dict[str, Any], rules: Rules, profile: str) -> dict[str, Any]:
    protocol = protocol_of(data["revision"])
    stated = {r.id: r for r in rules.judged_requirements(data["revision"], profile) if not r.experimental}
    ids = list(stated)
    rows = {row["id"]: row for row in data["requirements"] if row["id"] in stated}
    # Use the level (MUST, SHOULD or MAY) in the catalogue, not the level in the row: a forger would write MAY.
    musts = [row for row in rows.values() if stated[row["id"]].is_binding]
    because = []
    if len(rows) < len(ids):
        because.append(f"{len(ids) - len(rows)} of {format_count(len(ids), 'requirement')} were not selected")
    if protocol.unsupported_profile(declaration_of(data), data["revision"]) == profile:
        because.append(f"the implementation does not declare {protocol.parts[profile]}")
    for verdict, what in _AGAINST.items():
        asked = rows.values() if verdict == Verdict.ERROR.value else musts
        if stopping := [row["id"] for row in asked if row["verdict"] == verdict]:
            because.append(f"{what}: {', '.join(stopping)}")
    judged = sum(row["verdict"] in JUDGED for row in musts)
    if 2 * judged < len(musts):
        because.append(
            f"fewer than half of the MUST requirements were judged: {judged} of "
            f"{format_count(len(musts), 'requirement')}"
        )
    unjudged: dict[str, list[str]] = {}
    for row in rows.values():
        if row["verdict"] not in JUDGED:
            unjudged.setdefault(row["reason"], []).append(row["id"])
    return {
        "profile": profile,
        "title": protocol.parts.get(profile, profile.capitalize()),
        "held": False,
        "strict": not because and all(row["verdict"] != Verdict.WARN.value for row in rows.values()),
        "because": because,
        "requirements": len(ids),
        "judged": sum(row["verdict"] in JUDGED for row in rows.values()),
        "not_judged": unjudged,
    }


def unjudged_note(standing: dict[str, Any]) -> str:
    """Return a sentence about the requirements of a level of conformance that were not judged, for the line that shows
    the level; "" if all were judged. ``standing`` is the result of `level`.
    """
    parts = [part for part in standing["parts"] if part["held"]]
    total = sum(part["requirements"] for part in parts)
    missing = total - sum(part["judged"] for part in parts)
    if not missing:
        return ""
    reasons = dict.fromkeys(reason for part in parts for reason in part["not_judged"])
    return f"{missing} of {format_count(total, 'requirement')} not judged: {'; '.join(reasons)}"
