"""What the text of the ClearSkies database extension leaves open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.clubs import READ_WRITE
from sds_harness.clearskies.naming import REQUEST, Names
from sds_harness.clearskies.operations import Reopen
from sds_harness.clearskies.rows import Facts
from sds_harness.schedules import Act

from ..freedoms import END, Case, Freedom, Side, calm, left_out, one_declares, only
from .properties.club_view import ClubView
from .view.authority import excused, forbidden
from .view.changes import COMMANDS
from .view.links import LinkView
from .view.peer_view import PeerView, peer_views

_OF_WHAT_IS_SENT = frozenset({"updates", "times", "since", "signed"})
"""What differs along with `sent`."""
_MOVED = frozenset({"participant", "command", "link", "at_ms", "answer", "arrives", END})
"""What differs where another step is taken."""
_OF_DATABASES = frozenset(
    {"record", "sent", "updates", "times", "since", "signed", "changed", "conflicts", "records", "deleted", "known"}
)
"""What a step tells of what is in a database."""
_SIGNALS: dict[str, int] = {"changed": pb.CAPABILITY_CHANGED, "conflicts": pb.CAPABILITY_CONFLICT}


def following(fields: frozenset[str], command: str) -> frozenset[str]:
    """Of the columns that differ at a command those that differ only because others do."""
    out: frozenset[str] = frozenset()
    if "sent" in fields:
        out |= _OF_WHAT_IS_SENT
    if fields & _MOVED:
        out |= _OF_DATABASES | {"closed"}
    return out


# ---- What both sides tell --------------------------------------------------------------------------------------------


def _view(side: Side, who: str) -> PeerView | None:
    trace = side.performance.cast.get(who)
    return next((view for view in peer_views(trace) if view.party.name == who), None) if trace is not None else None


def _link(view: PeerView, number: int) -> LinkView | None:
    """The link with that number, None if there was none: also to such a one somebody may write."""
    return next((link for link in view.links if link.number == number), None)


def _number(entry: str) -> int:
    """That of the link in an entry of `sent` or `signed`."""
    return int(entry.rsplit(" ", 1)[0].rsplit("/", 1)[1])


def _extra(case: Case, field: str) -> Iterator[tuple[Side, Side, list[str]]]:
    """For each side that has more in a field than the other: it, the other, and what it has more."""
    counts = [Counter((side.row or {}).get(field, ())) for side in case.sides]
    for mine, others in ((0, 1), (1, 0)):
        if more := list((counts[mine] - counts[others]).elements()):
            yield case.sides[mine], case.sides[others], more


def _before(side: Side, *, until: bool = False) -> list[Act]:
    """The compared acts before the one that differs; ``until``, with it."""
    at = side.row["step"] if side.row is not None else len(side.compared) + 1
    return list(side.compared[: at if until else at - 1])


# ---- Signatures and requests -----------------------------------------------------------------------------------------


def _between_writers(case: Case) -> bool:
    """Are the messages that only one side signs between read-write peers?"""
    if not case.only("signed"):
        return False
    for side, _, more in _extra(case, "signed"):
        view = _view(side, case.who)
        for entry in more:
            link = _link(view, _number(entry)) if view is not None else None
            if (
                view is None
                or link is None
                or not (entry.endswith(f" {REQUEST}") or link.level is view.level is READ_WRITE)
            ):
                return False
    return True


def _unasked(case: Case) -> bool:
    """Does only one side send updates to links that have not asked yet?"""
    if not case.only("sent"):
        return False
    extras = list(_extra(case, "sent"))
    for side, _, more in extras:
        view = _view(side, case.who)
        for entry in more:
            link = _link(view, _number(entry)) if view is not None else None
            if link is None or side.act is None or entry.endswith(f" {REQUEST}"):
                return False
            if link.subscribed is not None and link.subscribed < side.act.step.index:
                return False
    return bool(extras)


def _echoed(case: Case) -> bool:
    """Does only one side send updates back on the link that they came on?"""
    if not case.only("sent"):
        return False
    extras = list(_extra(case, "sent"))
    for side, _, more in extras:
        facts = Facts(side.performance)
        came = {
            f"{facts.compared(act.step, act.trace)['link']} {facts.names.called(message)}"
            for act in _before(side, until=True)
            if act.who == case.who and act.step.command == "receive"
            for message in act.trace.into(act.step)
        }
        if not set(more) <= came:
            return False
    return bool(extras)


def _later(case: Case) -> bool:
    """Is what only one side sends or signals here sent or signalled by the other at another time, or had the other no
    occasion to send it before the link was gone?"""
    if not case.only("sent", "changed", "conflicts"):
        return False
    extras = [(field, *extra) for field in sorted(case.fields) for extra in _extra(case, field)]
    for field, _, other, more in extras:
        facts = Facts(other.performance)
        rows = [facts.compared(act.step, act.trace) for act in other.compared if act.who == case.who]
        said = {entry for row in rows for entry in row[field]}
        if not all(entry in said or (field == "sent" and _gone_soon(case, other, _number(entry))) for entry in more):
            return False
    return bool(extras)


def _gone_soon(case: Case, side: Side, number: int) -> bool:
    """Is a link gone, or the participant, before that one is ticked again?"""
    for act in side.compared[len(_before(side, until=True)) :]:
        if act.who != case.who:
            continue
        if act.step.command == "tick":
            return False
        if act.step.command == "close" or (act.step.command == "disconnect" and act.step.link == number):
            return True
    return True


def _scanned(case: Case) -> bool:
    """Does the side that asks from an earlier revision on know that one no more, having been told of later ones?"""
    if not case.only("since", "known"):
        return False
    asked: list[dict[str, int]] = []
    told: list[dict[str, int]] = []
    for side, act in case.played():
        names = Facts(side.performance).names
        known = [message.body.members.get("since") for message in act.trace.out(act.step)]
        known += [act.step.state.known.since] if act.step.state is not None else []
        asked.append({})
        told.append({})
        for revisions, found in (
            (asked[-1], pair) for each in known if isinstance(each, Mapping) for pair in each.items()
        ):
            _higher(revisions, names.who(found[0]), names.revision(*found))
        for earlier in _before(side, until=True):
            for message in earlier.trace.into(earlier.step) if earlier.who == case.who else ():
                by = message.body.members.get("last_updated_by")
                _higher(told[-1], names.who(by), names.revision(by, message.body.members.get("last_updated_rev")))
    unlike = {who for each in asked for who in each if len({known.get(who, 0) for known in asked}) > 1}
    lower = {who: min((0, 1), key=lambda place: asked[place].get(who, 0)) for who in unlike}
    return (
        bool(lower) and len(asked) == 2 and all(asked[n].get(who, 0) < told[n].get(who, 0) for who, n in lower.items())
    )


def _higher(known: dict[str, int], who: str, revision: int | str) -> None:
    if isinstance(revision, int):
        known[who] = max(revision, known.get(who, 0))


# ---- Conflicts -------------------------------------------------------------------------------------------------------


def _in_conflict(case: Case) -> bool:
    """Had two records, or two versions of one, come to be in conflict at the participant? Then one of them may be there
    no more, and a change of it is refused."""
    if not (case.fields <= _OF_DATABASES or (case.only("answer") and case.command in COMMANDS)):
        return False
    views = [(_view(side, case.who), act) for side, act in case.played()]
    return any(view is not None and view.in_conflict(act.step) for view, act in views)


def _taken(case: Case) -> bool:
    """Does only one side refuse to give a record a key that another one has, or has had?"""
    if not (case.only("answer") and case.command == "rename"):
        return False
    for side, act in case.played():
        view, key = _view(side, case.who), act.step.request.rename.new_key
        if act.step.answer != "rejected" or view is None:
            continue
        told = any(u.key == key and u.step.index < act.step.index for u in (*view.sent, *view.received))
        written = any(
            key in (step.request.put.key, step.request.rename.new_key)
            for step in view.steps
            if step.index < act.step.index and step.command in ("put", "rename")
        )
        return told or written
    return False


def _hops(case: Case) -> bool:
    """Do the vector clocks of one side alone count sending and receiving, so that other changes look concurrent?"""
    if not case.fields <= _OF_DATABASES or case.command != "receive":
        return False
    one, other = (ClubView(side.performance).hops_show for side in case.sides)
    return one != other


# ---- What arrives ----------------------------------------------------------------------------------------------------


def _scripted(side: Side, act: Act) -> bool:
    """Has what arrives come from a scripted peer?"""
    return act.packet is not None and act.packet.sender not in side.performance.schedule.names


def _odd(case: Case) -> bool:
    """Has something arrived on the link that may be refused, or that must be?"""
    for side, act in case.played():
        view = _view(side, case.who)
        link = _link(view, act.step.link) if view is not None and act.step.command == "receive" else None
        if view is None or link is None:
            continue
        if link.in_doubt(act.step) or any(
            update.step.index <= act.step.index
            and (forbidden(view.level, link, update) or excused(act.trace.declaration, update))
            for update in link.received
        ):
            return True
        if _scripted(side, act) and any(
            not message.type.startswith("database.") for message in act.trace.into(act.step)
        ):
            return True
    return False


def _first_revisions(case: Case) -> bool:
    """Do participants count from another number, and does a scripted peer speak of revisions?"""
    firsts = [Facts(side.performance).names.first for side in case.sides]
    counted = any(firsts[1].get(name, first) != first for name, first in firsts[0].items())
    return counted and any(_scripted(side, act) for side, act in case.played())


def _in_another_order(case: Case) -> bool:
    """Has one step before written the same messages in another order, if in the same one of each writer? Then they
    arrive so."""
    if not case.fields & _MOVED or "answer" in case.fields:
        return False
    names = [Facts(side.performance).names for side in case.sides]
    moved = False
    for acts in zip(*map(_before, case.sides), strict=False):
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


def _in_other_pieces(case: Case) -> bool:
    """Have steps before written the same messages in other pieces, or with others that say nothing to a database?"""
    if not case.fields & _MOVED or "answer" in case.fields:
        return False
    return any(
        [link for link, _ in acts[0].step.sent] != [link for link, _ in acts[1].step.sent]
        for acts in zip(*map(_before, case.sides), strict=False)
    )


def _forgetting(case: Case) -> bool:
    """Was somebody reopened who has a store on one side only?"""
    operations = case.a.performance.schedule.operations
    reopened = {op.who for index, op in enumerate(operations) if isinstance(op, Reopen)}
    return any(case.a.can(who, pb.CAPABILITY_STORE) != case.b.can(who, pb.CAPABILITY_STORE) for who in reopened)


FREEDOMS: tuple[Freedom, ...] = (
    Freedom("other-signals", "a signal that only one of them declares", (), one_declares(_SIGNALS)),
    Freedom("undeclared", "a capability that only one of them declares", (), left_out),
    Freedom("signatures", "whether what read-write peers tell each other is signed", ("CA-2",), _between_writers),
    Freedom("update-times", "how precise an update_time is, and how it goes on", ("CA-9",), only("times")),
    Freedom(
        "known-revisions",
        "whether one looks for revisions in records that are there",
        ("CA-11",),
        _scanned,
    ),
    Freedom("unasked", "whether updates are sent on a link that has not asked for any", ("CA-1",), _unasked),
    Freedom("echoes", "whether an update is repeated to whom it came from", ("CA-3",), _echoed),
    Freedom(
        "conflicts",
        "how a conflict is resolved, who of those who do makes a change of it, and what becomes of "
        "the record that has lost its key",
        ("CA-7", "CA-8", "CA-9", "CA-13"),
        _in_conflict,
    ),
    Freedom(
        "keys-that-are-taken",
        "whether to give a record a key that another has is refused, or a conflict",
        ("CA-8", "CA-13"),
        _taken,
    ),
    Freedom(
        "hops",
        "whether the vector clocks of records count that they are sent and received",
        ("CA-2", "CA-3", "CA-8"),
        _hops,
    ),
    Freedom("first-revisions", "with which revision one begins to count", ("CA-4",), _first_revisions),
    Freedom("odd-messages", "what becomes of messages that may be refused, and of their links", ("CA-5", "CA-6"), _odd),
    Freedom("moments", "when one sends and takes what there is", ("CA-14",), _later),
    Freedom("order-of-updates", "in which order updates of several are sent", ("CA-14",), _in_another_order),
    Freedom("pieces", "in which pieces a stream is written, and what else is", (), _in_other_pieces),
    Freedom("stores", "whether what is known is there again when one is opened again", (), _forgetting),
    Freedom("calm", "how long it takes until nothing happens any more", (), calm),
)
"""Asked in this order."""
