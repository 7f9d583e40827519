"""Checks of the form of sent messages: the greeting, the framing, requests, and the fields of each update."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import EXTENSION
from clearskies_reference.vector_clock import MAX_INTEGER, is_id
from sds_harness.clearskies.clubs import READ_ONLY, READ_WRITE
from sds_harness.clearskies.frames import GET_UPDATES, UPDATE

from ....judging.judgement import Observation, observe_outcome, observe_violation
from ....judging.view_cache import cache_per_view
from ..register import Judgements, check, check_several
from ..view.clocks import find_received_bodies
from ..view.facts import FIELDS, Update, VersionId, quoted
from ..view.knowledge import MEMBER_BYTES
from ..view.peer_view import PeerView

_MONTH, _DAY = r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
_DATE = rf"(?:\d{{4}}|[+-]\d{{4,10}})(?:-?{_MONTH}-?{_DAY}|-{_MONTH}|-?W\d{{2}}-?\d|-?\d{{3}})"
_CLOCK = r"(?:(?:[01]\d|2[0-3])(?::?[0-5]\d(?::?(?:[0-5]\d|60))?)?(?:[.,]\d+)?|24(?::?00){0,2}(?:[.,]0+)?)"
_ISO_8601 = re.compile(rf"{_DATE}T{_CLOCK}(?:Z|[+-]\d{{2}}(?::?\d{{2}})?)", re.IGNORECASE | re.ASCII)
"""A date and a time with a zone, in any form of ISO 8601, because the specification leaves the form open."""


@check("CSDB-01")
def names_the_extension(view: PeerView) -> Iterator[Observation]:
    """The greeting of a peer names the extension ``database``."""
    for step in view.steps:
        if step.reply is not None and step.answer == "opened":
            named = list(step.reply.opened.extensions)
            expected = f"the extension {EXTENSION!r}"
            yield observe_outcome(step, "extension-not-named", EXTENSION in named, expected, f"{named!r}"[:200])


@check("CSDB-15", of="links")
def messages_are_whole(view: PeerView) -> Iterator[Observation]:
    """Messages are framed as in the core protocol, and their bodies are JSON objects."""
    for link in view.links:
        whom, sent = view.name_other_end(link), link.connection.sent
        if sent.broken is not None:
            step, seen = view.trace.steps[sent.broken.step - 1], f"bytes that are not a message: {sent.broken.reason}"
            yield observe_violation(step, "framing-broken", f"a message for {whom}", seen)
        elif (begun := sent.unfinished) is not None and any(begun < index <= link.ended for index in view.quiet):
            step, seen = view.trace.steps[begun - 1], f"{sent.incomplete_bytes} bytes, and then nothing more"
            yield observe_violation(step, "message-incomplete", f"a whole message for {whom}", seen)
        for message in sent.messages:
            body = message.body
            code, wrong = "body-not-object", body.error or ("" if isinstance(body.value, dict) else "no JSON object")
            # A relayed message may repeat a member as its author did.
            if not wrong and body.twice and body.raw not in find_received_bodies(view):
                code, wrong = "member-twice", f"a body with the member {body.twice[0]!r} twice"
            yield observe_outcome(
                view.trace.steps[message.step - 1], code, not wrong, "a body that is a JSON object", wrong
            )


@check("CSDB-15", of="writes own")
def changes_fit_the_declared_limit(view: PeerView) -> Iterator[Observation]:
    """The update of a local change is not larger than the declared limit for bodies that can be sent or received.

    Sending may add one member to the vector clock or increase a number, so an excess of the size of a member is
    accepted. A peer that never refuses a change may support more than it declares, so it is not judged.
    """
    limit = view.trace.declaration.limit("body_bytes")
    refuses = any(step.command in ("put", "rename") and step.answer == "rejected" for step in view.steps)
    for update in view.own if limit is not None and refuses else ():
        size = len(update.message.body.raw)
        expected = f"a body of at most {limit} bytes, as declared, or a refusal of the change"
        met = size <= (limit or 0) + MEMBER_BYTES
        yield observe_outcome(update.step, "body-too-large", met, expected, f"{size} bytes")


@check("CSDB-16", of="writes links-to-readers sent")
def updates_for_readers_are_signed(view: PeerView) -> Iterator[Observation]:
    """An update for a read-only peer has the signature of a read-write peer."""
    for link in view.links:
        for update in link.sent if link.level is READ_ONLY else ():
            if update.message.signature is None or update.message.profile is not None:
                expected, (code, seen) = (
                    f"{view.named(update)}, signed, for {view.name_other_end(link)}",
                    find_signature_fault(update),
                )
                yield observe_outcome(update.step, code, update.message.signer is READ_WRITE, expected, seen)


def find_signature_fault(update: Update) -> tuple[str, str]:
    """The code of the violation and what was seen, for an update without the signature of a read-write peer."""
    if update.message.signature is None:
        return "not-signed", "no signature"
    return "wrong-signature", "a signature that no read-write peer made"


@check("CSDB-30", of="asked")
def requests_have_revisions_by_peer(view: PeerView) -> Iterator[Observation]:
    """A request is a ``database.get_updates`` message, whose ``since`` maps peer IDs to integers."""
    for request in view.asked:
        kind, since = request.message.type, request.message.body.members.get("since")
        if kind != GET_UPDATES:
            yield observe_violation(request.step, "wrong-type", f"the type {GET_UPDATES!r}", f"{kind!r}")
        elif not isinstance(since, dict):
            expected = "a member 'since' with an object that maps peer IDs to revisions"
            yield observe_violation(request.step, "since-not-object", expected, quoted(since))
        else:
            wrong = {peer: entry for peer, entry in since.items() if not is_id(peer) or type(entry) is not int}
            code = "revision-not-integer" if all(map(is_id, wrong)) else "peer-id-malformed"
            expected = "a member 'since' that maps peer IDs of 32 hex digits to integers"
            yield observe_outcome(request.step, code, not wrong, expected, quoted(wrong))


# ---- Fields of updates -----------------------------------------------------------------------------------------------


def _missing_field(update: Update) -> str:
    """The first field that an update lacks, "" if it lacks none. A deletion needs no key and no value (CA-13)."""
    optional = {"vector_clock", "key", "value"} if update.deleted else {"vector_clock"}  # CSDB-12 judges vector_clock
    return next((name for name in FIELDS if name not in update.members and name not in optional), "")


def _is_clock_member(member: object, number: object) -> bool:
    """Does a member of a vector clock map a peer ID to a 64-bit integer?"""
    return is_id(member) and type(number) is int and 0 <= number <= MAX_INTEGER


@cache_per_view
def _versions_without_writer(view: PeerView) -> set[VersionId | None]:
    """The versions that arrived with a vector clock that lacks their writer."""
    return {a.update.version for a in view.arrivals if a.update.by not in (a.update.clock or {})}


@cache_per_view
def _arrived_messages(view: PeerView) -> set[tuple[bytes, bytes | None]]:
    return {(a.update.message.body.raw, a.update.message.signature) for a in view.arrivals}


@check_several(
    *("CSDB-01", "CSDB-10", "CSDB-11", "CSDB-12", "CSDB-15", "CSDB-18", "CSDB-41"),
    needs={"CSDB-18": (pb.CAPABILITY_READ_ONLY,)},
    of="sent",
)
def fields_are_well_formed(view: PeerView) -> Judgements:
    """Each sent update has the fields of a record in the right form; a read-only peer repeats received updates."""
    for update in view.sent:
        step, members, kind, clock = update.step, update.members, update.message.type, update.clock
        if kind == UPDATE or not kind.startswith(f"{EXTENSION}."):
            expected = f"a type that begins with {EXTENSION!r} and a dot"
            yield "CSDB-01", observe_outcome(step, "prefix-missing", kind == UPDATE, expected, f"{kind!r}")
        else:
            yield "CSDB-15", observe_violation(step, "wrong-type", f"the type {UPDATE!r}", f"{kind!r}")
        missing = _missing_field(update)
        if kind == UPDATE or missing:
            expected = f"an update with the field {missing}"
            yield "CSDB-15", observe_outcome(step, "field-missing", not missing, expected, "the field is missing")
        if "last_updated_rev" in members:
            met, seen = update.rev is not None, quoted(members["last_updated_rev"])
            yield "CSDB-10", observe_outcome(step, "revision-not-integer", met, "an integer of 64 bits", seen)
        if update.by == view.peer_id and "update_time" in members:
            time = members["update_time"]
            met = isinstance(time, str) and _ISO_8601.fullmatch(time) is not None
            expected = "a time in ISO 8601, with its zone"
            yield "CSDB-11", observe_outcome(step, "not-iso-8601", met, expected, quoted(time))
        written = members.get("vector_clock")
        if isinstance(written, dict):
            wrong = next(((m, n) for m, n in written.items() if not _is_clock_member(m, n)), None)
            code = "number-not-integer" if wrong is not None and is_id(wrong[0]) else "peer-id-malformed"
            expected = "a vector clock that maps peer IDs to integers of 64 bits"
            seen = ": ".join(map(quoted, wrong or ()))[:120]
            yield "CSDB-41", observe_outcome(step, code, wrong is None, expected, seen)
        else:
            code = "clock-not-object" if written else "clock-missing"
            expected = f"a vector clock in {view.named(update)}"
            yield "CSDB-12", observe_violation(step, code, expected, quoted(written or "none"))
        relayed = update.by not in (None, view.peer_id)
        if clock is not None and relayed and update.version not in _versions_without_writer(view):
            met, expected = update.by in clock, f"a vector clock that counts the change of {view.name(update.by)}"
            yield "CSDB-12", observe_outcome(step, "writer-not-counted", met, expected, quoted(dict(clock)))
        if not view.writes and update.by != view.peer_id:  # CSDB-03 judges own updates
            body = update.message.body.raw
            met = (body, update.message.signature) in _arrived_messages(view)
            code = "signature-changed" if body in find_received_bodies(view) else "bytes-changed"
            expected = f"{view.named(update)}, as received"
            seen = "a body or a signature that differs from the received one"
            yield "CSDB-18", observe_outcome(step, code, met, expected, seen)
