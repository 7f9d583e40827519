"""What everybody has to know who reads a report: what was tested, how, and what changes the meaning of the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..judging.quoting import counted
from ..protocols import protocol_of
from ..protocols.words import named as name_of_limit
from .reading import Report
from .standing import complaints, why_unfinished


@dataclass(frozen=True)
class Notice:
    """Something that changes what all the rest means."""

    label: str
    lines: tuple[str, ...]
    grave: bool = False


def notices(report: Report) -> Iterator[Notice]:
    """What to know before reading on, the gravest first."""
    data, summary = report.data, report.data["summary"]
    if wrong := complaints(report):
        file = data["baseline"]["file"]
        lines = [f"{file}, line {row['line']}: {row['what']} {row['change']}" for row in wrong]
        yield Notice("The baseline is at fault", tuple(lines), grave=True)
    if data["doubts"]:
        yield Notice("Beware", tuple(data["doubts"]), grave=True)
    left_out = [f"Environment {name}: {reason}" for name, reason in summary["left_out"].items()]
    partial = [] if data["whole"] else [f"Not all {' and '.join(data['narrowed']) or 'of it'} were asked for."]
    if why := why_unfinished(report):
        partial.append(f"{why[0].upper()}{why[1:]}.")
    if partial or left_out:
        yield Notice("Not all was played", (*partial, *left_out))
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in report.requirements("inconclusive", "skipped", "error"):
        reasons.setdefault((row["verdict"], row["reason"]), []).append(row["id"])
    told = [f"{_few(ids)}: {verdict}, {reason}" for (verdict, reason), ids in reasons.items()]
    if told:
        judged = len(data["requirements"]) - sum(map(len, reasons.values()))
        yield Notice(f"{judged} of {len(data['requirements'])} requirements were judged", tuple(told))


def facts(report: Report) -> Iterator[tuple[str, str]]:
    """What was tested, against what, and how: labels with what there is to say."""
    data, about = report.data, report.data["implementation"]
    revision, profile, words = data["revision"], data["profile"], protocol_of(data["revision"]).words
    language = f" ({about['language']})" if about["language"] else ""
    yield "Implementation", f"{about['name']} {about['version']}".strip() + language
    yield "Against", f"{revision}, profile {profile}: {words.against(revision, profile)}"
    yield "Suite", f"{data['suite']['name']} {data['suite']['version']}"
    yield "Date", data["started"].replace("T", " ").replace("+00:00", " UTC")
    yield "Strict", "yes: no position softens a failure" if data["strict"] else "no"
    if about["revisions"] and revision not in about["revisions"]:
        yield "Declares other revisions", _few(about["revisions"])
    if about["homepage"]:
        yield "Homepage", about["homepage"]
    yield "Command", " ".join(about["command"]) or "a server that was running already"
    yield "Framing", data["framing"]
    yield "Environments", ", ".join(data["summary"]["environments"]) or "none"
    yield "Played", ", ".join(counted(data["summary"][f"{what}s"], what) for what in ("scenario", "run", "step"))
    if about["clock"]:
        yield "Clock", about["clock"]
    yield "Declares", ", ".join(about["capabilities"]) or "nothing"
    limits = [f"{name_of_limit(name)} up to {limit:,}" for name, limit in about["limits"].items()]
    if limits:
        yield "Limits", ", ".join(limits)
    named = {name.replace("_", " "): choice for name, choice in data["profiles"].items() if choice}
    if named:
        yield "Choices", ", ".join(f"{name} {choice}" for name, choice in named.items())


def _few(names: list[str], limit: int = 6) -> str:
    return ", ".join(names[:limit]) + (f" and {len(names) - limit} more" if len(names) > limit else "")
