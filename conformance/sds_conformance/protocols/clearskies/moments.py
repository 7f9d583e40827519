"""Permitted differences in the time, order and pieces of messages, which the specification mostly leaves open.

One side may send an update later than the other side, if the updates of each writer keep their order (CA-14), and if
the participant sends the update by its next quiet step (see `facts.find_quiet_steps`).
"""

from __future__ import annotations

from sds_harness.clearskies.names import Names
from sds_harness.clearskies.rows import ClearSkiesRowReader
from sds_harness.corpus.schema import Row
from sds_harness.schedules import Act

from ..freedoms import DivergentSide, DivergentSteps
from .divergent_steps import STEP_COLUMNS, acts_before, acts_from_difference, find_extra_entries, link_number, view_of


def is_sent_later(case: DivergentSteps) -> bool:
    """Does each entry that one side lacks at this step appear on that side in a later step, by the next quiet step?

    A message may also be missing on that side if the link closes before the message is due.
    """
    if not case.differs_only_in("sent", "changed", "conflicts"):
        return False
    extras = [(field, *found) for field in sorted(case.fields) for found in find_extra_entries(case, field)]
    return bool(extras) and all(
        _comes_later(case, side, field, entry) or (field == "sent" and _closes_soon(case, side, entry))
        for field, _, side, more in extras
        for entry in more
    )


def _comes_later(case: DivergentSteps, side: DivergentSide, field: str, entry: str) -> bool:
    """Does a side send in a later step what the other side sends now, before the result must be visible?"""
    view, facts = view_of(side, case.participant), ClearSkiesRowReader(side.group_trace)
    acts = [act for act in acts_from_difference(side) if act.who == case.participant]
    if view is None or not acts:
        return False
    # A peer may process earlier arrivals now. By its next quiet step, it must have sent all results.
    due = next((index for index in view.quiet if index > acts[0].step.index), None)
    return any(
        entry in facts.normative_columns(act.step, act.trace)[field]
        for act in acts[1:]
        if due is None or act.step.index <= due
    )


def _closes_soon(case: DivergentSteps, side: DivergentSide, entry: str) -> bool:
    """Does the link or the participant close before the next tick and before the writer's next update on that link?"""
    facts, number, of = ClearSkiesRowReader(side.group_trace), link_number(entry), _writer_of_entry(entry)
    for act in acts_from_difference(side)[1:]:
        if act.who != case.participant:
            continue
        if act.step.command == "tick":
            return False
        if any(
            link_number(each) == number and _writer_of_entry(each) == of for each in facts.sent(act.step, act.trace)
        ):
            return False
        if act.step.command == "close" or (act.step.command == "disconnect" and act.step.link == number):
            return True
    return True


def _writer_of_entry(entry: str) -> str:
    """The writer whose updates an entry of `sent` contains; updates of one writer are ordered."""
    return entry.rsplit(" ", 1)[1].rpartition(":")[0]


def is_in_another_order(case: DivergentSteps) -> bool:
    """Did an earlier step write the same messages on both sides, in different orders that agree for each writer?

    The messages then arrive in different orders, so that later steps differ.
    """
    if not case.fields & STEP_COLUMNS or "answer" in case.fields:
        return False
    names = [ClearSkiesRowReader(side.group_trace).names for side in case.sides]
    moved = False
    for acts in zip(*map(acts_before, case.sides), strict=False):
        messages = [_find_written_messages(named, act) for named, act in zip(names, acts, strict=True)]
        if messages[0] != messages[1] and sorted(messages[0]) == sorted(messages[1]):
            if any(
                [e for e in messages[0] if _link_and_writer(e) == of]
                != [e for e in messages[1] if _link_and_writer(e) == of]
                for of in map(_link_and_writer, messages[0])
            ):
                return False
            moved = True
    return moved


def _find_written_messages(names: Names, act: Act) -> list[tuple[int, str]]:
    """The messages that a step writes, in order: the number of the link, and the name of the message."""
    return [(message.link, names.name_message(message)) for message in act.trace.out(act.step)]


def _link_and_writer(entry: tuple[int, str]) -> tuple[int, str]:
    """The link and the writer of an entry: updates of one writer on one link are ordered."""
    return entry[0], entry[1].rpartition(":")[0]


def is_in_other_pieces(case: DivergentSteps) -> bool:
    """Did earlier steps write the same messages in different pieces, or with additional messages of other extensions?

    The next step of each participant must be equal on both sides. Arrivals of pieces without a result are not compared.
    """
    if not case.fields & STEP_COLUMNS or "answer" in case.fields:
        return False
    if all(
        [link for link, _ in acts[0].step.sent] == [link for link, _ in acts[1].step.sent]
        for acts in zip(*map(acts_before, case.sides), strict=False)
    ):
        return False
    facts = [ClearSkiesRowReader(side.group_trace) for side in case.sides]
    return all(
        _find_next_result(case.a, facts[0], who) == _find_next_result(case.b, facts[1], who)
        for who in {act.who for _, act in case.played()}
    )


def _find_next_result(side: DivergentSide, facts: ClearSkiesRowReader, who: str) -> Row | None:
    """The next step of a participant with a result; None if there is none."""
    for act in acts_from_difference(side):
        if act.who == who:
            row = {
                "command": act.step.command,
                "answer": act.step.answer,
                **facts.normative_columns(act.step, act.trace),
            }
            if act.step.command != "receive" or any(value for name, value in row.items() if name in _RESULT_COLUMNS):
                return row
    return None


_RESULT_COLUMNS = frozenset({"arrives", "sent", "changed", "conflicts", "closed"})
"""If all of these columns are empty, the arriving bytes had no effect."""
