"""The names that options take: their types, which complete names and suggest similar ones, and the lists of ``list``.

The names depend on the revision. A type accepts the names of all revisions, because ``--revision`` may follow later on
the command line. The command itself rejects names that its revision does not have, with ``unknown_name_message``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import click
from click.shell_completion import CompletionItem

from sds_harness.docstrings import first_line
from sds_harness.schedules.worlds import AlphabetPart
from sds_harness.suggestions import did_you_mean

from ..judging.plan import plan
from ..judging.verdict import full_code
from ..protocols import all_vectors, default, protocol_of, repertoires, revisions


@dataclass(frozen=True)
class NameKind:
    """A kind of names, such as scenarios or dimensions."""

    singular: str
    used_by: str
    """The command and option that take a name of this kind."""
    of: Callable[[str], Mapping[str, str]]
    """Maps the names of a revision to their summaries, which may be ""."""


def _scenarios(revision: str) -> dict[str, str]:
    played = plan(protocol_of(revision).rules, revision=revision).scenarios
    return {scenario.name: scenario.summary for scenario in played}


def _passages(revision: str) -> Mapping[str, str]:
    return next((one.passages for one in repertoires() if revision in one.revisions), {})


def _events(revision: str) -> dict[str, str]:
    alphabet = next((one.alphabet for one in repertoires() if revision in one.revisions), None)
    if alphabet is None:
        return {}
    summaries = {
        kind.name: first_line(kind.write)
        for kind in reversed(alphabet.world(2, [AlphabetPart(alphabet.names)]).kinds)
        if kind.write is not None
    }
    summaries |= alphabet.others
    return {name: summaries[name] for name in alphabet.names}


def _dimensions(revision: str) -> dict[str, str]:
    rules, known = protocol_of(revision).rules, protocol_of(revision).dimensions
    return {name: one.summary for name, one in known.items() if one.of_text(rules, revision, rules.full) is not None}


def _properties(revision: str) -> Mapping[str, Any]:
    return next((one.properties for one in repertoires() if revision in one.revisions), {})


def _positions(revision: str) -> dict[str, str]:
    """Return the positions that a requirement of the revision cites, or that no requirement cites, each with its
    question.
    """
    catalogue = _rules(revision).catalogue
    citing = catalogue.requirements.values()
    cited = {name for one in citing for name in one.positions}
    stated = {name for one in citing if one.is_stated_in(revision) for name in one.positions}
    return {name: one.question for name, one in catalogue.positions.items() if name in stated or name not in cited}


def _codes(revision: str) -> dict[str, str]:
    rules = _rules(revision)
    judged = [*rules.judged_requirements(revision, rules.full), *_properties(revision).values()]
    return {full_code(one.id, code): meaning for one in judged for code, meaning in one.codes.items()}


def _groups(revision: str) -> dict[str, str]:
    from ..vectors.folder import default_folder, files_in, read_json  # the vectors take time to read

    # Do not use `load_all`: it checks each file, which takes seconds.
    files = (read_json(path) for path in files_in(all_vectors(), default_folder(), "*.json").values())
    return {file["group"]: file["title"] for file in files if revision in file.get("revisions", ())}


def _capabilities(revision: str) -> list[str]:
    return [name for name, number in _rules(revision).language.capabilities.items() if number]


KINDS = {
    "revisions": NameKind("revision", "--revision", lambda _: {name: one.title for name, one in revisions().items()}),
    "profiles": NameKind("profile", "--profile", lambda revision: protocol_of(revision).rules.profiles),
    "requirements": NameKind(
        "requirement",
        "run --select",
        lambda revision: {
            one.id: one.statement for one in _rules(revision).judged_requirements(revision, _rules(revision).full)
        },
    ),
    "scenarios": NameKind("scenario", "run --scenario", _scenarios),
    "environments": NameKind(
        "environment",
        "run --environment",
        lambda revision: {name: one.summary for name, one in _rules(revision).environments.items()},
    ),
    "positions": NameKind("position", "the command requirements", _positions),
    "properties": NameKind(
        "property",
        "the command requirements",
        lambda revision: {name: one.title for name, one in _properties(revision).items()},
    ),
    "codes": NameKind("code", "the command requirements", _codes),
    "passages": NameKind("passage", "fuzz --passage", _passages),
    "events": NameKind("event", "exhaust --alphabet", _events),
    "dimensions": NameKind("dimension", "limits --only", _dimensions),
    "dialects": NameKind("dialect", "--dialect", lambda revision: dict.fromkeys(_rules(revision).dialects, "")),
    "groups": NameKind("group of vectors", "vectors run --group", _groups),
    "capabilities": NameKind(
        "capability",
        "selftest --without",
        lambda revision: {name: f"CAPABILITY_{name.upper().replace('-', '_')}" for name in _capabilities(revision)},
    ),
    "mutants": NameKind(
        "mutant",
        "selftest --only",
        lambda revision: {name: one.summary for name, one in protocol_of(revision).model.mutants.items()},
    ),
    "variants": NameKind(
        "legal variant",
        "selftest --only",
        lambda revision: {name: one.summary for name, one in protocol_of(revision).model.variants.items()},
    ),
}


def _rules(revision: str) -> Any:
    return protocol_of(revision).rules


def names_of(kind: str, revision: str | None = None) -> dict[str, str]:
    """Return the names of a kind in a revision, each with a summary. Without a revision, return the names of all
    revisions.
    """
    wanted = [revision] if revision is not None else list(revisions())
    return {name: summary for one in wanted for name, summary in KINDS[kind].of(one).items()}


def unknown_name_message(kind: str, word: str, revision: str) -> str:
    """Return the message that a revision does not have a name, or has no name that matches a pattern."""
    return f"{revision} has no {KINDS[kind].singular} {word!r}.{_advice(kind, word, revision)}"


def _advice(kind: str, word: str, revision: str | None) -> str:
    option = f" --revision {revision}" if revision not in (None, default().rules.current) else ""
    meant = did_you_mean(word, names_of(kind, revision))
    if not meant and revision is not None:
        meant = elsewhere(word, {other: names_of(kind, other) for other in revisions()})
    return f"{meant} `sds-conformance list {kind}{option}` shows the names"


def elsewhere(word: str, names: Mapping[str, Iterable[str]]) -> str:
    """Return advice if another revision has the name or a similar name; otherwise "". ``names`` maps revisions to their
    names.
    """
    for revision, known in names.items():
        if word in known:
            return f" This name belongs to {revision}: add --revision {revision}."
    for revision, known in names.items():
        if meant := did_you_mean(word, known):
            return f"{meant} This name belongs to {revision}: add --revision {revision}."
    return ""


def complete_name(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Return the names that begin with the word that the user is typing."""
    return [CompletionItem(name) for name in names if name.lower().startswith(incomplete.lower())]


class NameChoice(click.Choice[str]):
    """Parameter type: one of a few names. The error for a wrong name suggests the most similar name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            self.fail(f"{error.message}{did_you_mean(str(value), self.choices)}", param, ctx)


class Name(click.types.StringParamType):
    """Parameter type: a name of one kind, such as a scenario, in any revision."""

    def __init__(self, kind: str) -> None:
        self.name, self._kind = KINDS[kind].singular, kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in names_of(self._kind):
            self.fail(f"there is no {self.name} {value!r}.{_advice(self._kind, value, None)}", param, ctx)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return complete_name(names_of(self._kind, ctx.params.get("revision")), incomplete)


class Pattern(click.types.StringParamType):
    """Parameter type: a pattern for names of some kinds. The shell completes the names, and the command reports a
    pattern that matches nothing.
    """

    name = "glob"

    def __init__(self, *kinds: str) -> None:
        self._kinds = kinds

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        revision = ctx.params.get("revision")
        return [item for kind in self._kinds for item in complete_name(names_of(kind, revision), incomplete)]
