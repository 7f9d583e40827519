"""SDS-R from the side of who misses something: what is asked for, when, and for how long."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.trace import Step
from sds_reference import HASH_PROFILES, t_req_offset

from ....judging.judgement import Outcome
from ....judging.once import once
from ..checks.repair.receive import entries_come_back
from ..register import way
from ..view.channel_view import ChannelView
from ..view.halves import asks_for_anything
from ..view.repair_terms import SECOND_MS
from ..view.repair_tracker import Missing
from ..view.requester import Requester, requester

LOOKED_AT = 8
"""Times of a view that are looked at: more tell no more."""
ENOUGH = 3
"""So many times that are all whole seconds, or all of one hash, are so by chance less than once in a million times."""


@once
def _times(view: ChannelView) -> list[tuple[Missing, Step, int]]:
    """What is missing for certain, where it was shown first, and its T_req from detection on."""
    side = requester(view)
    found: list[tuple[Missing, Step, int]] = []
    for missing in side.wanted if side.shown else ():
        due = side.shown_due(missing)
        if len(found) == LOOKED_AT:
            break
        if due is not None:
            shown = next(s.step for s in side.shown if s.due.get(missing.message_id) == due)
            found.append((missing, shown, due - missing.detected.step.now_ms))
    return found


@way(
    "AMB-01",
    {
        "sha256-be64": "the first eight bytes of SHA-256, as @waku/sds",
        "farmhash64-nim": "FarmHash, as nim-sds",
        "murmur3-32-nim": "Murmur3 of 32 bits, as nim-sds can be built",
        "otherwise": "none of the hashes that are known here",
    },
)
def hash_of_times(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Times to ask are shown, in milliseconds: three, and one known hash gives all; or no known hash gives any."""
    times, bounds = _times(view)[:ENOUGH], view.terms.bounds
    fine = view.terms.clock_ms <= 1 and any(offset % SECOND_MS for _, _, offset in times)
    if len(times) < ENOUGH or bounds is None or not fine or bounds[1] - bounds[0] < 1_000:
        return
    hits = {
        name: sum(
            t_req_offset(profile, view.party.participant_id, m.message_id, *bounds) == offset for m, _, offset in times
        )
        for name, profile in HASH_PROFILES.items()
    }
    given = [name for name, count in hits.items() if count == len(times)]
    if given:
        yield times[-1][1], given[0]
    elif not any(hits.values()):
        yield times[-1][1], "otherwise"


@way("AMB-05", {"milliseconds": "in milliseconds, or parts of a second", "seconds": "in whole seconds"})
def unit_of_times(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """A time to ask that is shown is no whole second; or three are, each of another message."""
    dues = [(step, offset + missing.detected.step.now_ms) for missing, step, offset in _times(view)]
    broken = next((step for step, due in dues if due % SECOND_MS), None)
    if broken is not None:
        yield broken, "milliseconds"
    elif len({due for _, due in dues}) >= ENOUGH:
        yield dues[-1][0], "seconds"


@way("AMB-68", {"asks-again": "asks again", "asks-once": "asks once and never again"}, of="missing sds-r")
def after_a_request(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """What was asked for, and did not come, a new message asks for again; or two after T_max more could, and do not.

    A message that names it once more came in between, which every text has lead to another request.
    """
    side, t_max = requester(view), view.terms.t_max_ms
    for missing in side.owing if t_max else ():
        asked, end = side.first_asked(missing.message_id, missing.detected.step.index), side.until(missing)
        if asked >= end or not t_max:
            continue
        again = next((s for s in side.sends(asked, end) if side.asks(s, missing.message_id)), None)
        if again is not None:
            yield again.step, "asks-again"
            continue
        named = next((r for r in missing.named if asked < r.step.index < end and r.binding), None)
        if named is None or named.foreign_filter:
            continue
        late = [s for s in side.sends(named.step.index, end) if s.step.now_ms >= named.step.now_ms + t_max + SECOND_MS]
        late = [s for s in late if not side.full(s) and side.in_step(missing.detected.step, s.step)]
        if len({sent.message.kind for sent in late}) == 2:
            yield late[-1].step, "asks-once"


@way(
    "AMB-118",
    {
        "all-that-wait": "enters what any message waits for",
        "of-the-message": "enters no more than what the message itself waits for",
    },
    of="missing sds-r",
)
def what_is_entered_again(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """An entry is gone, the next message is about something else, and the text has it made anew: it is back or not.

    Told by the check of SDS-R-RECV-04.
    """
    if view.revision.requests_again:
        for seen in entries_come_back(view):
            step = view.trace.steps[seen.step - 1]
            yield step, "all-that-wait" if seen.outcome is Outcome.HELD else "of-the-message"


def _due(side: Requester, step: Step) -> list[str]:
    """What was to be asked for when a step began, by the last state before it, and was not asked for since."""
    states = side.states(0, step.index)
    heard = side.heard_after(states[-1].step.index) if states else None
    if not states or (heard is not None and heard.step.index < step.index):
        return []
    ids = (message_id for message_id, due in states[-1].due.items() if due <= step.now_ms)
    return [i for i in ids if side.first_asked(i) >= step.index]


@way(
    "AMB-86",
    {
        "one": "one message at a time, though more are due",
        "two": "two messages at a time, though more are due",
        "three": "three messages at a time, though more are due",
        "more": "more than three messages at a time",
    },
    of="outgoing sds-r",
)
def length_of_requests(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """A repair request has more than three entries; or fewer than are due by the buffer that was shown before it.

    Where the suite asked for no number of its own.
    """
    if not view.terms.on or view.party.asked.HasField("max_repair_requests"):
        return
    names, side = {1: "one", 2: "two", 3: "three"}, requester(view)
    for sent in side.carriers:
        length = len(sent.message.repair_request)
        if length > 3:
            yield sent.step, "more"
        elif length and len(_due(side, sent.step)) > length:
            yield sent.step, names[length]


@way("AMB-87", {"names": "names the senders", "leaves-out": "leaves senders out that it knows"}, of="outgoing sds-r")
def senders_in_histories(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """With SDS-R, an entry of a causal history is about a message that was received or sent: it has a sender or not."""
    if not view.terms.on:
        return
    for sent in view.outgoing:
        known = [e for e in sent.message.causal_history if view.repair.authors(e.message_id)]
        if known:
            yield sent.step, "names" if all(entry.sender_id for entry in known) else "leaves-out"


@way("AMB-141", {"asks": "asks for what it misses", "asks-for-nothing": "asks for nothing"}, of="sds-r")
def whether_it_asks(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """A repair request goes out; or none in the whole trace, though T_max was over for content and for a sync message.

    They went out while something was missing of which nothing else had come.
    """
    if not view.terms.on or not view.terms.t_max_ms:
        return
    side = requester(view)
    asking = next((sent for sent in side.carriers if sent.message.repair_request), None)
    if asking is not None:
        yield asking.step, "asks"
        return
    if asks_for_anything(view):
        return
    for missing in side.owing:
        detected = missing.detected.step
        over = detected.now_ms + view.terms.t_max_ms + SECOND_MS
        late = [s for s in side.sends(detected.index, side.until(missing)) if s.step.now_ms >= over]
        if len({sent.message.kind for sent in late}) == 2 and side.in_step(detected, late[-1].step):
            yield late[-1].step, "asks-for-nothing"
