"""When something is sent and taken, in which order, and in which pieces: of that the text says next to nothing.

What one sends now the other sends later, as long as the order of each writer's updates is kept (CA-14), and at the
latest when it has nothing more to say.
"""

from __future__ import annotations

from sds_harness.clearskies.naming import Names
from sds_harness.clearskies.rows import Facts
from sds_harness.corpus.schema import Row
from sds_harness.schedules import Act

from ..freedoms import Case, Side
from .sides import MOVED, before, extra, number_in, rest, view_of


def later(case: Case) -> bool:
    """Is what only one side sends or signals here sent or signalled by the other before it is due, or had the other no
    occasion to send it before the link was gone?"""
    if not case.only("sent", "changed", "conflicts"):
        return False
    extras = [(field, *found) for field in sorted(case.fields) for found in extra(case, field)]
    return bool(extras) and all(
        _comes(case, side, field, entry) or (field == "sent" and _gone_soon(case, side, entry))
        for field, _, side, more in extras
        for entry in more
    )


def _comes(case: Case, side: Side, field: str, entry: str) -> bool:
    """Does a side say in a later step what the other says now, before all is due that comes of it?"""
    view, facts = view_of(side, case.who), Facts(side.performance)
    acts = [act for act in rest(side) if act.who == case.who]
    if view is None or not acts:
        return False
    # It may take then what has arrived now, and has said all when it is quiet.
    due = next((index for index in view.quiet if index > acts[0].step.index), None)
    return any(
        entry in facts.compared(act.step, act.trace)[field] for act in acts[1:] if due is None or act.step.index <= due
    )


def _gone_soon(case: Case, side: Side, entry: str) -> bool:
    """Is a link gone, or the participant, before that one is ticked again, with nothing sent there that would have to
    come after it?"""
    facts, number, of = Facts(side.performance), number_in(entry), _writer(entry)
    for act in rest(side)[1:]:
        if act.who != case.who:
            continue
        if act.step.command == "tick":
            return False
        if any(number_in(each) == number and _writer(each) == of for each in facts.sent(act.step, act.trace)):
            return False
        if act.step.command == "close" or (act.step.command == "disconnect" and act.step.link == number):
            return True
    return True


def _writer(entry: str) -> str:
    """Whose updates are told of in an entry of `sent`: these have an order."""
    return entry.rsplit(" ", 1)[1].rpartition(":")[0]


def in_another_order(case: Case) -> bool:
    """Has one step before written the same messages in another order, if in the same one of each writer? Then they
    arrive so."""
    if not case.fields & MOVED or "answer" in case.fields:
        return False
    names = [Facts(side.performance).names for side in case.sides]
    moved = False
    for acts in zip(*map(before, case.sides), strict=False):
        told = [_streams(named, act) for named, act in zip(names, acts, strict=True)]
        if told[0] != told[1] and sorted(told[0]) == sorted(told[1]):
            if any(
                [e for e in told[0] if _of(e) == of] != [e for e in told[1] if _of(e) == of] for of in map(_of, told[0])
            ):
                return False
            moved = True
    return moved


def _streams(names: Names, act: Act) -> list[tuple[int, str]]:
    """What a step writes, in order: the number of the link, and the name of the message."""
    return [(message.link, names.called(message)) for message in act.trace.out(act.step)]


def _of(entry: tuple[int, str]) -> tuple[int, str]:
    """The link, and who wrote: of these updates have an order."""
    return entry[0], entry[1].rpartition(":")[0]


def in_other_pieces(case: Case) -> bool:
    """Have steps before written the same messages in other pieces, or with others that say nothing to a database, and
    is the next step the same at each participant, but for those in which nothing came of such a piece?"""
    if not case.fields & MOVED or "answer" in case.fields:
        return False
    if all(
        [link for link, _ in acts[0].step.sent] == [link for link, _ in acts[1].step.sent]
        for acts in zip(*map(before, case.sides), strict=False)
    ):
        return False
    facts = [Facts(side.performance) for side in case.sides]
    return all(
        _next(case.a, facts[0], who) == _next(case.b, facts[1], who) for who in {act.who for _, act in case.played()}
    )


def _next(side: Side, facts: Facts, who: str) -> Row | None:
    """What a participant does next that says anything, None if nothing."""
    for act in rest(side):
        if act.who == who:
            row = {"command": act.step.command, "answer": act.step.answer, **facts.compared(act.step, act.trace)}
            if act.step.command != "receive" or any(value for name, value in row.items() if name in _SAYING):
                return row
    return None


_SAYING = frozenset({"arrives", "sent", "changed", "conflicts", "closed"})
"""Without anything in these columns, nothing has come of what arrived."""
