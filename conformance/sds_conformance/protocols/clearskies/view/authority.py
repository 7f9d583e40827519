"""Who may change a record: what must be refused, and what may be (sections "Access Levels" and "Record Changes")."""

from __future__ import annotations

import json

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import AccessLevel
from sds_harness.clearskies.clubs import READ_ONLY, READ_WRITE
from sds_harness.declaration import Declaration

from .facts import Update
from .links import LinkView

SAFE_INTEGER = 1 << 53
"""The largest that survives without wide integers (CA-6)."""


def forbidden(level: AccessLevel, link: LinkView, update: Update) -> str:
    """Why a peer of that level must not take an update that came on a link, "" if it may.

    Between two read-write peers a signature is "not necessary", so that nobody has to look at one.
    """
    if level is link.level is READ_WRITE:
        return ""
    if update.message.signature is not None:
        if update.message.profile is not None and update.signer is not READ_WRITE:
            return "its signature is not that of a read-write peer"
        return ""
    if level is READ_ONLY:
        return "it is not signed, and comes to a read-only peer"
    if link.level is READ_ONLY:
        return "it is not signed, and comes from a read-only peer"
    return ""


def made_by_a_reader(link: LinkView, update: Update) -> bool:
    """Does a read-only peer say that it has changed something, by its signature or by sending it without any?"""
    if update.message.signature is not None:
        return update.signer is READ_ONLY
    return link.level is READ_ONLY


def excused(declared: Declaration, update: Update) -> str:
    """Why an update may be refused that nobody must refuse, "" if it is to be taken."""
    if update.odd:
        return update.odd
    if update.message.signature is not None and update.message.profile is None:
        return "its signature is of a profile that nobody knows"
    if update.message.signature is not None and update.signer is not READ_WRITE:
        return "its signature is not that of a read-write peer"
    if _over(len(update.message.body.raw), declared.limit("body_bytes")):
        return "its body is larger than declared"
    clock = update.clock or {}
    if _over(len(clock), declared.limit("clock_members")):
        return "its vector clock has more members than declared"
    if not declared.can(pb.CAPABILITY_WIDE_INTEGERS) and max([update.rev or 0, *clock.values()]) > SAFE_INTEGER:
        return "it has integers above 2^53, and wide ones are not declared"
    if _over(1 + _depth(update.value), declared.limit("depth")):
        return "its value is nested deeper than declared"
    if update.message.body.depth:
        return "its value is nested deeper than most readers of JSON go"
    return ""


def fits_limits(declared: Declaration, text: str) -> bool:
    """Is it JSON, and within the declared limits? Beside it there is not much in a message."""
    try:
        value = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return False
    too_large = _over(2 * len(text.encode("utf-8", "surrogatepass")) + 4_096, declared.limit("body_bytes") or 1 << 24)
    return not too_large and not _over(1 + _depth(value), declared.limit("depth"))


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number of JSON")


def _over(number: int, limit: int | None) -> bool:
    return limit is not None and number > limit


def _depth(value: object) -> int:
    """How deep arrays and objects are nested in a JSON value."""
    deepest, layer = 0, [value]
    while layer := [each for each in layer if isinstance(each, (dict, list))]:
        deepest += 1
        layer = [inner for each in layer for inner in (each.values() if isinstance(each, dict) else each)]
    return deepest
