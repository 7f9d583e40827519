"""What a peer under test has shown of its records: to strangers who asked for everything, and where it is observed.

The wire is enough. What an implementation shows when it is observed is what its application sees, where a record that
has lost its key may be hidden.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import MalformedMessage, Timestamp, VectorClock, timestamp
from sds_harness.clearskies import bodies
from sds_harness.clearskies.trace import Step

from .facts import Update, Version, yields
from .links import LinkView
from .quiet import due


@dataclass(frozen=True)
class Seen:
    """One record, as it was shown."""

    uuid: str
    key: str | None
    value: Any
    deleted: bool
    by: str | None
    rev: int | None
    time: Timestamp | None
    clock: VectorClock | None

    @property
    def version(self) -> Version | None:
        return (self.uuid, self.by, self.rev) if self.by is not None and self.rev is not None else None

    @property
    def content(self) -> tuple[Any, Any, bool]:
        """As that of an update."""
        return (None, None, True) if self.deleted else (self.key, self.value, False)


@dataclass(frozen=True)
class Shown:
    """All records of a peer, as of a step."""

    step: Step
    """The one by which all had been shown."""
    asked: Step
    """The one with which that began."""
    as_of: Step
    """What came before it had been looked at when that began: some look at what arrives when they are ticked."""
    records: Mapping[str, Seen]
    """By uuid."""
    link: LinkView | None
    """The one of the stranger; None where the peer was observed."""

    @property
    def on_the_wire(self) -> bool:
        return self.link is not None

    @property
    def values(self) -> dict[str, list[Any]]:
        """By key the values of what is not deleted: more than one where records are hidden from applications."""
        out: dict[str, list[Any]] = {}
        for seen in self.records.values():
            if not seen.deleted and seen.key is not None:
                out.setdefault(seen.key, []).append(seen.value)
        return out


def told(links: list[LinkView], quiet: list[int], steps: list[Step]) -> list[Shown]:
    """What was told to whoever asked for everything, with all that followed until the peer was quiet."""
    out = []
    for link in links:
        first = link.requests[0] if link.requests else None
        if first is None or not first.asks_for_all:
            continue
        end = due(quiet, first.step, link.readable)
        if end is None:
            continue
        records: dict[str, Update] = {}
        for update in link.sent:
            if update.uuid is not None and first.step.index <= update.step.index <= end:
                before = records.get(update.uuid)
                # Who answers with all that it ever heard, by revision, can say what is older last: that is discarded.
                if before is None or not yields(update, before):
                    records[update.uuid] = update
        out.append(
            Shown(steps[end - 1], first.step, first.step, {uuid: _of_update(u) for uuid, u in records.items()}, link)
        )
    return out


def observed(steps: list[Step], quiet: list[int]) -> list[Shown]:
    """What it showed when it was observed, all of it."""
    out, as_of, when_quiet = [], steps[0] if steps else None, set(quiet)
    for step in steps:
        if step.index in when_quiet:
            as_of = step
        elif as_of is not None and step.state is not None and not step.request.observe.uuids:
            out.append(Shown(step, step, as_of, {seen.uuid: seen for seen in map(of_record, step.state.records)}, None))
    return out


def _of_update(update: Update) -> Seen:
    return Seen(
        str(update.uuid),
        update.key,
        update.value,
        update.deleted,
        update.by,
        update.rev,
        update.time,
        update.clock,
    )


def of_record(record: pb.Record) -> Seen:
    """A record as the testee protocol has it."""
    try:
        time = timestamp(record.update_time)
    except MalformedMessage:
        time = None
    # As in an update: what is nested too deep to be read is collapsed in the same way.
    said = bodies.read(b'{"value":%s}' % record.value.encode()) if record.value else None
    value = None if said is None else said.members.get("value", record.value)
    clock = {peer_id: number for peer_id, number in record.vector_clock.items() if number}
    by, rev = record.last_updated_by, record.last_updated_rev
    return Seen(record.uuid.lower(), record.key, value, record.deleted, by, rev, time, clock)
