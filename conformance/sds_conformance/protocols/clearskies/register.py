"""The register of ClearSkies: its checks and scenarios."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from typing import Any, Generic, NamedTuple, TypeVar

from sds_harness.clearskies.trace import Step

from ...judging.judgement import Observation, observe_met, observe_violation
from ...judging.registry import Register
from .view.peer_view import FACT_KINDS, PeerView

REGISTER = Register("CSDB-", facts=FACT_KINDS)

check = REGISTER.check
shows = REGISTER.shows

F = TypeVar("F")
Text = Callable[[PeerView, F], str]


class Rule(NamedTuple, Generic[F]):
    """A row of a table of checks: it judges one requirement on an item, such as a sent update."""

    requirement: str
    code: str | Text[F]
    applies: Callable[[PeerView, F], object]
    """Does the requirement apply to the item?"""
    met: Callable[[PeerView, F], object]
    expected_and_seen: Callable[[PeerView, F], tuple[str, str]]
    """Returns the expected and the seen text. Called only for violations, like ``code`` and ``position``."""
    position: str | Text[F] = ""
    needs: tuple[int, ...] = ()
    """The capabilities that the rule needs, as for a check."""


def table(rules: Sequence[Rule[F]], *, of: str = "") -> Callable[[Callable[[PeerView], Iterable[tuple[Step, F]]]], Any]:
    """Register a check for each requirement of a table, and for each set of capabilities that its rules need.

    The decorated function yields the items to judge, each with its step. Each rule that applies to an item makes an
    observation.
    """

    def register(items: Callable[[PeerView], Iterable[tuple[Step, F]]]) -> Any:
        for requirement, needs in dict.fromkeys((rule.requirement, rule.needs) for rule in rules):
            selected = [rule for rule in rules if (rule.requirement, rule.needs) == (requirement, needs)]
            check(requirement, *needs, of=of)(_make_check(selected, items))
        return items

    return register


def _make_check(
    rules: Sequence[Rule[F]], items: Callable[[PeerView], Iterable[tuple[Step, F]]]
) -> Callable[[PeerView], Iterator[Observation]]:
    @wraps(items)
    def judge(view: PeerView) -> Iterator[Observation]:
        for step, item in items(view):
            for rule in rules:
                if not rule.applies(view, item):
                    continue
                if rule.met(view, item):
                    yield observe_met(step)
                else:
                    code, position = (
                        text if isinstance(text, str) else text(view, item) for text in (rule.code, rule.position)
                    )
                    yield observe_violation(step, code, *rule.expected_and_seen(view, item), position)

    return judge
