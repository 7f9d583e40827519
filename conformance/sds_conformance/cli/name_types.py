"""The names that options take: their types, which complete and correct them, and the lists of ``list``.

The names differ by revision. A type accepts the names of all revisions, because ``--revision`` may follow on the
command line; the command itself refuses a name that its revision does not have, with ``unknown``.
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
from ..protocols import default, protocol_of, repertoires, revisions


@dataclass(frozen=True)
class NameKind:
    """A kind of names."""

    singular: str
    used_by: str
    """The option that takes such a name."""
    of: Callable[[str], Mapping[str, str]]
    """The names of a revision, each with a summary, which may be empty."""


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
    return {name: summaries.get(name, "") for name in alphabet.names}


def _dimensions(revision: str) -> dict[str, str]:
    rules, known = protocol_of(revision).rules, protocol_of(revision).dimensions
    return {name: one.summary for name, one in known.items() if one.of_text(rules, revision, rules.full) is not None}


KINDS = {
    "revisions": NameKind("revision", "--revision", lambda _: {name: one.title for name, one in revisions().items()}),
    "profiles": NameKind("profile", "--profile", lambda revision: protocol_of(revision).rules.profiles),
    "requirements": NameKind(
        "requirement",
        "run --select",
        lambda revision: {one.id: one.statement for one in _rules(revision).judged(revision, _rules(revision).full)},
    ),
    "scenarios": NameKind("scenario", "run --scenario", _scenarios),
    "environments": NameKind(
        "environment",
        "run --environment",
        lambda revision: {name: one.summary for name, one in _rules(revision).environments.items()},
    ),
    "passages": NameKind("passage", "fuzz --passage", _passages),
    "events": NameKind("event", "exhaust --alphabet", _events),
    "dimensions": NameKind("dimension", "limits --only", _dimensions),
    "dialects": NameKind("dialect", "--dialect", lambda revision: dict.fromkeys(_rules(revision).dialects, "")),
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
    """The names of a kind in a revision, of all revisions if none is given, each with a summary."""
    wanted = [revision] if revision is not None else list(revisions())
    return {name: summary for one in wanted for name, summary in KINDS[kind].of(one).items()}


def unknown(kind: str, word: str, revision: str) -> str:
    """The message about a name, or a pattern, that a revision does not have."""
    return f"{revision} has no {KINDS[kind].singular} {word!r}.{_advice(kind, word, revision)}"


def _advice(kind: str, word: str, revision: str | None) -> str:
    option = f" --revision {revision}" if revision not in (None, default().rules.current) else ""
    return f"{did_you_mean(word, names_of(kind, revision))} `sds-conformance list {kind}{option}` shows the names"


def completed(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """The names that begin as the word does that the user is typing."""
    return [CompletionItem(name) for name in names if name.lower().startswith(incomplete.lower())]


class Name(click.types.StringParamType):
    """A name of a kind, of any revision."""

    def __init__(self, kind: str) -> None:
        self.name, self._kind = KINDS[kind].singular, kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in names_of(self._kind):
            self.fail(f"there is no {self.name} {value!r}.{_advice(self._kind, value, None)}", param, ctx)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return completed(names_of(self._kind, ctx.params.get("revision")), incomplete)


class Pattern(click.types.StringParamType):
    """A pattern for names of some kinds: it completes them, and the command says if it matches nothing."""

    name = "glob"

    def __init__(self, *kinds: str) -> None:
        self._kinds = kinds

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        revision = ctx.params.get("revision")
        return [item for kind in self._kinds for item in completed(names_of(kind, revision), incomplete)]
