"""Compares a group trace with the expectations of its schedule.

An expectation names the messages, by label, that one participant must or must not signal. It is not checked if the
implementation does not declare the signal, if part of the schedule could not be played for lack of a capability, or if
the implementation broke down. An expectation applies to the unshrunk schedule only: a shrunk schedule has no
expectations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sds_harness.declaration import Declaration, printable
from sds_harness.schedules import GroupTrace
from sds_harness.schedules.operations import Expectation
from sds_harness.stage import NEEDS

from ..judging.run_player import describe_first_breakdown
from ..protocols.group_trace_reader import ACKNOWLEDGED, DELIVERED, Reading

UNSUPPORTED = "was answered `unsupported`"
"""Part of the reason why an operation was not played: the implementation answered that it does not support the
command.
"""
CHANGED = "changed"
"""The capability of implementations that signal deliveries as changes of a database."""
ENDLESS = -1
"""Used in place of the index of an expectation if participants sent messages without end."""
_REFUSES = "refuses"


@dataclass(frozen=True)
class ExpectationKind:
    """A kind of expectation: its sentence, and the signals that meet or contradict it."""

    sentence: str
    """The expectation as a sentence, with placeholders for the participant and the messages."""
    signal: str = ""
    """The kind of signal that the expectation is about; "" if it is about rejections."""
    negated: bool = False
    ordered: bool = False


KINDS = {
    "delivers": ExpectationKind("{} delivers {}", DELIVERED, ordered=True),
    "does_not_deliver": ExpectationKind("{} does not deliver {}", DELIVERED, negated=True),
    "acknowledged": ExpectationKind("{} reports {} as acknowledged", ACKNOWLEDGED),
    "not_acknowledged": ExpectationKind("{} does not report {} as acknowledged", ACKNOWLEDGED, negated=True),
    "misses": ExpectationKind("{} reports {} as missing", "missing"),
    "gives_up": ExpectationKind("{} reports {} as lost", "lost"),
    _REFUSES: ExpectationKind("{} refuses {}"),
}
"""All kinds of expectations, by their key in a file. The schema of each protocol lists the kinds that it supports."""


@dataclass(frozen=True)
class ExpectationResult:
    """The result of checking the expectations of a schedule."""

    unmet: tuple[tuple[int, str], ...] = ()
    """(index, what was seen) of each expectation that was not met."""
    unchecked: str = ""
    """Why the expectations were not checked; "" if they were."""


def sentence(expected: Expectation) -> str:
    """Format an expectation as a sentence without a full stop."""
    return KINDS[expected.what].sentence.format(printable(expected.who), _join_labels(expected.labels))


def check(group_trace: GroupTrace, reading: Reading) -> ExpectationResult:
    """Compare a group trace with the expectations of its schedule."""
    expectations = group_trace.schedule.expect
    if not expectations:
        return ExpectationResult()
    if group_trace.breakdown is not None:
        return ExpectationResult(unchecked=describe_first_breakdown(group_trace.breakdown))
    if group_trace.ended:
        return ExpectationResult(unchecked=group_trace.ended)
    if why := next((why for why in group_trace.left_out.values() if NEEDS in why or UNSUPPORTED in why), ""):
        return ExpectationResult(unchecked=why)
    for expected in expectations:
        why = _missing_capability(expected, group_trace.cast[expected.who].declaration) or _why_unsent(
            expected, group_trace
        )
        if why:
            return ExpectationResult(unchecked=why)
    seen = ((index, _contradiction(expected, group_trace, reading)) for index, expected in enumerate(expectations))
    return ExpectationResult(tuple((index, what) for index, what in seen if what))


def rows_of(expected: Sequence[tuple[int, str]], results: Mapping[str, ExpectationResult]) -> list[dict[str, Any]]:
    """Return a row of a report for each expectation, with the verdict and the first run that did not meet it.

    ``expected`` has the line and the sentence of each expectation. ``results`` maps each run that was played to its
    result.
    """
    unmet = [(run, index, seen) for run, result in results.items() for index, seen in result.unmet]
    unchecked = next((result.unchecked for result in results.values() if result.unchecked), "")
    unchecked = unchecked or ("" if results else "the scenario file was not played")
    rows = [
        {"line": line, "text": text, **_verdict((one for one in unmet if one[1] == index), unchecked)}
        for index, (line, text) in enumerate(expected)
    ]
    if endless := [one for one in unmet if one[1] == ENDLESS]:
        rows.append({"line": 0, "text": "the participants stop sending messages", **_verdict(endless, "")})
    return rows


def _verdict(unmet: Iterable[tuple[str, int, str]], unchecked: str) -> dict[str, str]:
    for run, _, seen in unmet:
        return {"verdict": "unmet", "run": run, "seen": seen}
    return {"verdict": "unchecked" if unchecked else "met", "run": "", "seen": unchecked}


def _missing_capability(expected: Expectation, declared: Declaration) -> str:
    """Return the capability that an expectation needs and the implementation does not declare; "" if there is none."""
    kind = KINDS[expected.what]
    name = CHANGED if declared.spoken.number_of(kind.signal) is None else kind.signal
    return f"{NEEDS}{name}" if kind.signal and not declared.can_by_name(name) else ""


def _why_unsent(expected: Expectation, group_trace: GroupTrace) -> str:
    """Return why a participant was not opened or a message was not sent, if the file allows this; "" otherwise."""
    closed = {member.name for member in group_trace.schedule.members if member.may_be_refused} - {*group_trace.parties}
    senders = {getattr(one, "who", "") for one in group_trace.schedule.operations if _label(one) in expected.labels}
    for name in sorted(closed & {expected.who, *senders}):
        return f"{printable(name, 60)} was not opened: the implementation refused it, as the file allows"
    for index, operation in enumerate(group_trace.schedule.operations):
        label = _label(operation)
        if label not in expected.labels or label in group_trace.labels:
            continue
        if operation.when and index not in group_trace.began:
            return f"{printable(label, 60)} was not sent: its condition does not hold"
        if getattr(operation, "may_be_refused", False) and KINDS[expected.what].signal:
            return f"{printable(label, 60)} was not sent: the implementation refused it, as the file allows"
    return ""


def _label(operation: object) -> str:
    return getattr(operation, "label", "")


def _contradiction(expected: Expectation, group_trace: GroupTrace, reading: Reading) -> str:
    """Return what was seen that contradicts an expectation; "" if the expectation was met."""
    kind = KINDS[expected.what]
    if not kind.signal:
        return _accepted_messages(expected, group_trace)
    keys = {label: reading.labelled(group_trace, label) for label in expected.labels}
    if unsent := [label for label, key in keys.items() if key is None]:
        return f"{_join_labels(unsent)} {'was' if len(unsent) == 1 else 'were'} never sent, or cannot be read"
    signalled: dict[object, int] = {}
    """Maps each message to the number of the first act (step of the group trace) that signals the message."""
    for act in group_trace.acts:
        if act.who == expected.who:
            for signal in reading.signals(act.step):
                if signal.kind == kind.signal:
                    for key in signal.keys:
                        signalled.setdefault(key, act.number)
    verb = {DELIVERED: "delivered", "missing": "reported as missing", "lost": "reported as lost"}.get(
        kind.signal, kind.signal
    )
    shown = sorted((number, label) for label, key in keys.items() if (number := signalled.get(key)) is not None)
    if kind.negated:
        return ", ".join(f"{verb} {printable(label)} at step {number}" for number, label in shown)
    lacking = [label for label, key in keys.items() if key not in signalled]
    in_order = [signalled.get(key, 0) for key in keys.values()]
    if not lacking and (not kind.ordered or in_order == sorted(in_order)):
        return ""
    return f"{verb}: {_join_labels([label for _, label in shown]) or 'none of them'}"


def _accepted_messages(expected: Expectation, group_trace: GroupTrace) -> str:
    """Describe the messages of an expectation that were not rejected; "" if all were rejected."""
    refused, met = set(), set()
    for act in group_trace.acts:
        if act.who == expected.who:
            operations = group_trace.schedule.operations
            own = getattr(operations[act.operation], "label", "") if 0 <= act.operation < len(operations) else ""
            label = act.packet.label if act.packet is not None else own
            met.add(label)
            refused |= {label} if act.step.answer == "rejected" else set()
    accepted = [label for label in expected.labels if label in met - refused]
    strange = [label for label in expected.labels if label not in met]
    parts = [f"accepted {_join_labels(accepted)}"] if accepted else []
    return ", ".join([*parts, *([f"{_join_labels(strange)} never arrived"] if strange else [])])


def _join_labels(labels: Sequence[str]) -> str:
    shown = [printable(label, 60) for label in labels[:20]]
    return ", ".join([*shown, *(["…"] if len(labels) > len(shown) else [])])
