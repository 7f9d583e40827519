"""Formats parts of a certificate for terminal and page. All texts are shortened and made printable."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Any

from sds_harness.declaration import printable

from ..exploration.limits.words import summary
from ..judging.formats import format_count
from .levels import JUDGED

LONGEST_COMMAND = 2000
"""Maximum number of characters of a command that are shown."""


def command_of(data: dict[str, Any]) -> str:
    """Return the command of the implementation; "" for a server that was already running."""
    return printable(shlex.join(data["implementation"]["command"]), LONGEST_COMMAND)


def join_items(items: Iterable[str]) -> str:
    """Join untrusted items into one line."""
    return ", ".join(printable(str(item), 200) for item in items)


def format_declaration(data: dict[str, Any]) -> str:
    """Return the declared capabilities, limits and profiles, and the clock, as text."""
    about = data["implementation"]
    out = [join_items(about["capabilities"]) or "nothing"]
    out += [join_items(f"{name} up to {value}" for name, value in about["limits"].items())] if about["limits"] else []
    choices = [f"{name} {value}" for name, value in data["profiles"].items() if value]
    out += [join_items(choices)] if choices else []
    out += [f"clock: {printable(about['clock'], 200)}"] if about["clock"] else []
    return "; ".join(out)


def describe_vectors(data: dict[str, Any]) -> str:
    """Return the results of the golden vectors, in one sentence."""
    if "vectors" not in data:
        return "there are none"
    set_of = f"version {printable(data['vectors']['version'], 20)}"
    if (asked := data["vectors"].get("asked")) is None:
        return f"{set_of}; no result of `vectors run` is attached"
    text = ", ".join(f"{count} {name}" for name, count in asked["counts"].items() if count)
    return f"{set_of}: {text}{'' if asked['complete'] else '; the run of the vectors is incomplete'}"


def describe_fuzz(data: dict[str, Any]) -> str:
    """Return the results of generated schedules, in one sentence."""
    if (fuzz := data.get("fuzz")) is None:
        return "no result of `fuzz` is attached, so there is no seed"
    text = f"{fuzz['schedules']} of seed {fuzz['seed']}: {_findings(fuzz)}"
    return text if fuzz["complete"] else f"{text}; the run ended before all schedules were played"


def describe_exhaustion(data: dict[str, Any]) -> str:
    """Return a sentence with the bound up to which all schedules were played, and the findings."""
    if (exhaustion := data.get("exhaust")) is None:
        return "no result of `exhaust` is attached"
    events = format_count(exhaustion["events"], "event")
    among = f"all {exhaustion['schedules']:,} schedules of up to {events} of {exhaustion['participants']} participants"
    text = f"{among} ({'; '.join(exhaustion['alphabet'])}): {_findings(exhaustion)}"
    return text if exhaustion["complete"] else f"{text}; the run stopped early, or had errors of the suite"


def _findings(result: dict[str, Any]) -> str:
    """Return the violated requirements in the results of schedules, as text."""
    both = ((verdict, result[f"{verdict}ed"]) for verdict in ("fail", "warn"))
    return "; ".join(f"{verdict}: {join_items(ids)}" for verdict, ids in both if ids) or "nothing was found"


def describe_limits(data: dict[str, Any]) -> str:
    """Return the measured limits, in one sentence."""
    if (limits := data.get("limits")) is None:
        return "not measured"
    text = f"{summary(limits['rows'])}, measured {printable(limits['date'], 40)}"
    text += f" with a time budget of {limits['budget_seconds']} s"
    return text if limits["complete"] else f"{text}; the run ended before all limits were measured"


def count_judged(data: dict[str, Any]) -> int:
    """Return the number of judged requirements."""
    return sum(row["verdict"] in JUDGED for row in data["requirements"])
