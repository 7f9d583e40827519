"""Section "Record Changes": what goes to whom, and in which form."""

from __future__ import annotations

from collections.abc import Iterator

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import EXTENSION
from sds_harness.clearskies.clubs import READ_ONLY, READ_WRITE
from sds_harness.clearskies.frames import UPDATE

from ....judging.judgement import Observation, held, judged, noted, violated
from ..register import check
from ..view.clocks import bodies_received
from ..view.facts import FIELDS, Update, dominates, same_content
from ..view.knowledge import SAFE_INTEGER, made_by_a_reader
from ..view.peer_view import PeerView
from ..view.spreading import answers, changes_owed, relays_owed, untold
from .levels import fault_of_signature, not_kept, unsigned


@check("CSDB-14", of="changes requests")
def changes_go_to_all_peers(view: PeerView) -> Iterator[Observation]:
    """Each local change is sent on every link whose other end has asked for updates."""
    for owed in changes_owed(view):
        if owed.change is not None and owed.settled:
            deletion = owed.change.kind == "delete"
            code, what = ("deletion-not-sent", "the deletion") if deletion else ("change-not-sent", "an update")
            expected = f"{what} of {owed.change.key!r} for {view.end_of(owed.link)}"
            yield judged(owed.cause, code, bool(owed.copies), expected, "none came on that link")


@check("CSDB-15", of="links")
def messages_are_whole(view: PeerView) -> Iterator[Observation]:
    """What is sent are messages as the core protocol frames them, and their bodies are JSON objects."""
    for link in view.links:
        broken = link.connection.sent.broken
        if broken is not None:
            step = view.trace.steps[broken.step - 1]
            yield violated(
                step, "framing-broken", f"a message for {view.end_of(link)}", f"bytes that are none: {broken.reason}"
            )
        elif (begun := link.connection.sent.unfinished) is not None:
            step, left = view.trace.steps[begun - 1], link.connection.sent.rest
            if any(begun < index <= link.ended for index in view.quiet):
                yield violated(
                    step,
                    "message-incomplete",
                    f"a whole message for {view.end_of(link)}",
                    f"{left} bytes, and no more of it",
                )
        for message in link.connection.sent.messages:
            body = message.body
            code, wrong = "body-not-object", body.error or ("" if isinstance(body.value, dict) else "no JSON object")
            if not wrong and body.twice and body.raw not in bodies_received(view):  # what came so may be repeated so
                code, wrong = "member-twice", f"{body.twice[0]!r} is in it twice"
            yield judged(view.trace.steps[message.step - 1], code, not wrong, "a body that is a JSON object", wrong)


@check("CSDB-15", of="sent")
def updates_have_all_fields(view: PeerView) -> Iterator[Observation]:
    """An update is of the type ``database.update``, and has all fields of a record."""
    for update in view.sent:
        kind = update.message.type
        if kind != UPDATE and kind.startswith(f"{EXTENSION}."):
            yield violated(update.step, "wrong-type", f"the type {UPDATE!r}", f"{kind!r}")
        absent = [name for name in FIELDS if name not in update.members]
        absent = [n for n in absent if n != "vector_clock" and not (update.deleted and n in ("key", "value"))]
        if absent:
            yield violated(update.step, "field-missing", f"an update with the field {absent[0]}", "it has none")
        elif kind == UPDATE:
            yield held(update.step)


@check("CSDB-16", of="writes links-to-readers sent")
def updates_for_readers_are_signed(view: PeerView) -> Iterator[Observation]:
    """What a read-write peer sends to a read-only one has the signature of a read-write peer."""
    for link in view.links:
        for update in link.sent if link.level is READ_ONLY else ():
            if update.message.signature is None or update.message.profile is not None:
                met = update.signer is READ_WRITE
                code, seen = fault_of_signature(update)
                expected = f"{view.named(update)}, signed, for {view.end_of(link)}, who only reads"
                yield judged(update.step, code, met, expected, seen)


@check("CSDB-16", pb.CAPABILITY_READ_ONLY, of="reads-only received")
def readers_take_what_is_signed_alone(view: PeerView) -> Iterator[Observation]:
    """A read-only peer keeps nothing that comes from a read-write one without a signature."""
    yield from not_kept(
        view,
        lambda arrival: (
            arrival.update.message.signature is None
            and not made_by_a_reader(view.link_of(arrival.update), arrival.update)
        ),
        "unsigned-update-taken",
        "unsigned-update-counted",
        position="CA-17",
    )


@check("CSDB-17", of="writes received shown")
def writers_need_no_signatures(view: PeerView) -> Iterator[Observation]:
    """Between read-write peers an update is taken with a signature and without one."""
    for arrival in view.arrivals:
        concerned = view.link_of(arrival.update).level is READ_WRITE and arrival.due
        if concerned and arrival.update.largest <= SAFE_INTEGER and (proof := view.proof(arrival)) is not None:
            unsigned = arrival.update.message.signature is None
            code, how = ("unsigned-not-taken", "without a signature") if unsigned else ("signed-not-taken", "signed")
            expected = f"{view.named(arrival.update)}, which came {how} at step {arrival.step.index}"
            yield judged(proof.shown.step, code, proof.is_there, expected, view.had(proof))


@check("CSDB-18", pb.CAPABILITY_READ_ONLY, of="reads-only sent")
def readers_repeat_bytes(view: PeerView) -> Iterator[Observation]:
    """What a read-only peer sends is what it has received, byte by byte, with its signature."""
    known = {(a.update.message.body.raw, a.update.message.signature) for a in view.arrivals}
    bodies = {body for body, _ in known}
    for update in view.sent:
        met = (update.message.body.raw, update.message.signature) in known
        code = "signature-changed" if update.message.body.raw in bodies else "bytes-changed"
        yield judged(update.step, code, met, f"{view.named(update)}, as it came", "other bytes, or another signature")


@check("CSDB-18", pb.CAPABILITY_READ_ONLY, pb.CAPABILITY_STORE, of="reads-only requests")
def readers_keep_messages(view: PeerView) -> Iterator[Observation]:
    """A read-only peer that is started again has the messages that it had."""
    opened = [step.index for step in view.steps if step.command == "open"]
    for answer in answers(view):
        began = max((index for index in opened if index < answer.link.began), default=0)
        for update in answer.expected:
            if update.step.index < began:
                expected = f"{view.named(update)}, which came before it was started again"
                if update in answer.missing:
                    yield violated(answer.request.step, "lost-on-restart", expected, "nothing of it on that link")
                elif answer.given:
                    yield held(answer.request.step)


@check("CSDB-18", pb.CAPABILITY_READ_ONLY, pb.CAPABILITY_OBSERVE, of="reads-only shown")
def readers_keep_the_messages_of_what_they_show(view: PeerView) -> Iterator[Observation]:
    """A read-only peer answers a request for everything with a signed message of each record that it shows."""
    for shown, link, missing in untold(view):
        left = [seen for seen in missing if seen.version not in unsigned(view)]  # CSDB-05
        seen = f"nothing of it for {view.end_of(link)}, who asked for everything"
        yield judged(shown.step, "message-not-kept", not left, f"{left[0].key!r}, which is shown" if left else "", seen)


@check("CSDB-19", of="received")
def what_is_known_is_not_repeated(view: PeerView) -> Iterator[Observation]:
    """An update that comes again is not passed on again."""
    for arrival in view.arrivals:
        if arrival.outcome != "present":
            continue
        version = arrival.update.version
        for link in view.links:
            # A late copy, or one in an answer, is not there because the update came again.
            settled = view.quiet_before(arrival.step)
            asked = any(request.step.index > settled for request in link.requests)
            first = min(a.step.index for a in view.arrivals if a.update.version == version)
            if link.subscribed is None or not link.there(arrival.step) or asked or first > settled:
                continue
            copies = [update for update in link.sent if update.version == version]
            before = [update for update in copies if update.step.index < arrival.step.index]
            again = [u for u in copies if u.step.index >= arrival.step.index and not _knows_more(view, u, before)]
            if again and before:
                expected = f"no second {view.named(arrival.update)} for {view.end_of(link)}"
                yield violated(
                    again[0].step,
                    "relayed-again",
                    expected,
                    f"one more, because it came again at step {arrival.step.index}",
                )
            elif copies and view.due(arrival.step, link) is not None:
                yield held(arrival.step)


@check("CSDB-20", of="writes received requests")
def changes_of_others_are_passed_on(view: PeerView) -> Iterator[Observation]:
    """An update that was not there is sent on to everybody who has asked, but for who sent it."""
    for owed in relays_owed(view):
        if owed.arrival is not None and owed.settled:
            expected = f"{view.named(owed.arrival.update)}, for {view.end_of(owed.link)}"
            code = "deletion-not-relayed" if owed.arrival.update.deleted else "update-not-relayed"
            yield judged(owed.cause, code, bool(owed.copies), expected, "nothing of it on that link")


@check("CSDB-21", of="received requests")
def updates_are_not_sent_back(view: PeerView) -> Iterator[Observation]:
    """An update is not repeated to the peer that sent it: "as an optimization", so that it is only told."""
    for arrival in view.arrivals:
        link = view.link_of(arrival.update)
        asked = any(request.step.index >= arrival.step.index for request in link.requests)
        if not arrival.due or link.subscribed is None or asked:
            continue
        back = [u for u in link.sent if u.step.index >= arrival.step.index and u.version == arrival.update.version]
        if back:
            yield noted(back[0].step, f"{view.named(arrival.update)} goes back to {view.end_of(link)}")
        elif view.due(arrival.step, link) is not None:
            yield held(arrival.step)


@check("CSDB-22", of="changes shown")
def own_records_change_their_keys(view: PeerView) -> Iterator[Observation]:
    """A record that the application renames has its new key, and nothing has the old one."""
    for change in view.changes:
        if change.kind != "rename" or change.shown is None or change.key == change.old_key:
            continue
        yield judged(
            change.shown.step,
            "new-key-not-sent",
            change.shown.key == change.key,
            f"the key {change.key!r}",
            "another one",
        )
        later = (other for other in view.changes if other.step.index > change.step.index)
        again = min((c.step.index for c in later if change.old_key in (c.key, c.old_key)), default=None)
        shown = next((shown for shown in view.shown if shown.asked.index > change.step.index), None)
        if shown is None or view.in_conflict(shown.step) or (again is not None and again < shown.step.index):
            continue
        expected = f"nothing under {change.old_key!r}, which was renamed at step {change.step.index}"
        yield judged(shown.step, "old-key-kept", change.old_key not in shown.values, expected, "a record")


@check("CSDB-22", of="received shown")
def records_of_others_change_their_keys(view: PeerView) -> Iterator[Observation]:
    """A record that comes with another key has that afterwards, and no more the old one."""
    for arrival in view.arrivals:
        before = arrival.held.update if arrival.held is not None else None
        if arrival.outcome != "newer" or before is None or before.deleted or arrival.update.deleted:
            continue
        proof = view.proof(arrival) if before.key != arrival.update.key else None
        if proof is not None and proof.seen is not None and proof.is_shown:
            expected = f"the key {arrival.update.key!r}, which came at step {arrival.step.index}"
            yield judged(
                proof.shown.step,
                "new-key-not-taken",
                proof.seen.key == arrival.update.key,
                expected,
                f"{proof.seen.key!r}",
            )


@check("CSDB-23", of="changes")
def records_stay_what_they_are(view: PeerView) -> Iterator[Observation]:
    """A record that is renamed keeps its uuid."""
    for change in view.changes:
        if change.kind != "rename" or change.shown is None or change.shown.uuid is None:
            continue
        before = _uuid_of(view, change.old_key, change.step.index)
        if before is not None and not view.in_conflict(change.step):
            seen = change.shown.uuid
            yield judged(
                change.shown.step,
                "uuid-changed-by-rename",
                seen == before,
                f"{before!r}, the uuid of the record",
                f"{seen!r}",
            )


@check("CSDB-23", of="received sent")
def records_are_not_known_by_their_keys(view: PeerView) -> Iterator[Observation]:
    """What is passed on is of the record that it came of, whichever key that has."""
    came: dict[tuple[str | None, int | None], list[Update]] = {}
    for arrival in view.arrivals:
        came.setdefault((arrival.update.by, arrival.update.rev), []).append(arrival.update)
    theirs = {(arrival.update.uuid, arrival.update.by) for arrival in view.arrivals}
    for update in view.sent:
        originals = came.get((update.by, update.rev), ()) if update.by not in (None, view.peer_id) else ()
        if update.uuid is None or (update.uuid, update.by) in theirs:
            continue  # CSDB-47, if it is another version
        for original in originals:
            if same_content(original.content, update.content):
                expected = f"{original.uuid!r}, the uuid of {view.named(original)}, as it came"
                yield violated(update.step, "uuid-changed-by-relay", expected, f"{update.uuid!r}")
                break


@check("CSDB-24", pb.CAPABILITY_OBSERVE, of="shown")
def keys_are_unique(view: PeerView) -> Iterator[Observation]:
    """The application sees one record with a key at most."""
    for shown in view.shown:
        if not shown.on_the_wire and view.in_conflict(shown.step):
            most = max((len(values) for values in shown.values.values()), default=0)
            yield judged(shown.step, "key-twice", most <= 1, "one record with each key", f"{most} with one key")


def _knows_more(view: PeerView, update: Update, before: list[Update]) -> bool:
    """Has its clock a number of somebody else that no earlier copy has? So the winner of a conflict goes out again,
    with the clocks merged (CA-3, CA-8)."""
    others = {member: n for member, n in (update.clock or {}).items() if member != view.peer_id}
    return not any(dominates(each.clock, others) for each in before)


def _uuid_of(view: PeerView, key: str, index: int) -> str | None:
    """The uuid of the one record that surely has a key before the step with that index."""
    found = [
        uuid
        for uuid, held_ in view.known.all_at(index - 1)
        if held_.update is not None and not held_.update.deleted and held_.update.key == key
    ]
    return found[0] if len(found) == 1 else None
