"""Root causes of wrong answers: one fault makes many vectors fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...judging.causes import Failure, roots
from ...judging.rules import Rules
from ...judging.verdict import Verdict
from .examination import AnsweredVector
from .subject import REFUSAL, Status

_VERDICTS = {Status.FAIL: Verdict.FAIL, Status.WARN: Verdict.WARN}


@dataclass
class WrongAnswers:
    """One root cause and its wrong answers."""

    requirement: str
    """The violated requirement; the group of the vectors if these name no requirement."""
    answered: list[AnsweredVector]
    """The wrongly answered vectors, first those that test the requirement itself."""
    under: dict[str, str] = field(default_factory=dict)
    """Other requirements that the wrongly answered vectors test. Each has the reason why it is violated as well, or ""
    if another group was merged into this one.
    """

    @property
    def verdict(self) -> Verdict:
        """FAIL if any answer is a failure, WARN if all are only warnings."""
        return Verdict.FAIL if any(one.answer.status is Status.FAIL for one in self.answered) else Verdict.WARN


def causes_of(rules: Rules, answers: Iterable[AnsweredVector]) -> list[WrongAnswers]:
    """Return the root causes of all wrong answers: failures before warnings, then those with the most vectors first.

    Answers with the same difference have the same root cause, even if their vectors test different requirements.
    """
    answers = [one for one in answers if one.answer.status not in (Status.SKIPPED, Status.BROKEN, Status.ERROR)]
    wrong = [one for one in answers if one.answer.status in _VERDICTS]
    violated = {id(one): one.violated or [one.group] for one in wrong}
    exercised = Counter(name for one in answers for name in (*one.vector["requirements"][:1], one.group))
    found: list[WrongAnswers] = []
    for status, verdict in _VERDICTS.items():
        those = [one for one in wrong if one.answer.status is status]
        counts = Counter(name for one in those for name in _requirements_to_blame(one, violated[id(one)]))
        failures = [Failure(name, verdict, count, exercised[name]) for name, count in counts.items()]
        root_of = {name: root for root in roots(rules, failures) for name in (root.id, *root.under)}
        groups: dict[str, WrongAnswers] = {}
        for one in those:
            named = [root_of[name] for name in _requirements_to_blame(one, violated[id(one)])]
            root = next((root for root in named if root.id in violated[id(one)]), named[0])
            group = groups.setdefault(root.id, WrongAnswers(root.id, []))
            group.answered.append(one)
            group.under |= {name: root.under[name] for name in violated[id(one)] if name in root.under}
        for group in groups.values():
            group.answered.sort(key=lambda one: group.requirement not in violated[id(one)])
        found += _join_groups(groups.values(), exercised)
    order = {id(one): place for place, one in enumerate(wrong)}
    return sorted(found, key=lambda one: (one.verdict is Verdict.WARN, -len(one.answered), order[id(one.answered[0])]))


def _requirements_to_blame(answered: AnsweredVector, violated: Sequence[str]) -> Sequence[str]:
    """Return the requirements that can be the root cause: all of ``violated`` if the answer names the violated
    requirements, else the first.
    """
    return violated if answered.answer.requirements else violated[:1]


def _join_groups(groups: Iterable[WrongAnswers], exercised: Mapping[str, int]) -> list[WrongAnswers]:
    """Merge each group into the largest group that shares a difference with it.

    Implementations can reject messages for different reasons. So a group is merged because of rejections only if more
    than half of the answers for its requirement are wrong.
    """
    out: list[WrongAnswers] = []
    for group in sorted(groups, key=lambda one: -len(one.answered)):
        some = {"", *([] if 2 * len(group.answered) > exercised[group.requirement] else [REFUSAL])}
        differs = {one.answer.difference for one in group.answered} - some
        into = next((one for one in out if differs & {other.answer.difference for other in one.answered}), None)
        if into is None:
            out.append(group)
        else:
            into.answered += group.answered
            into.under |= {group.requirement: "", **group.under}
    return out
