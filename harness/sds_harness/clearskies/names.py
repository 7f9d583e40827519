"""Names of records and messages in corpora. Implementations with the same behaviour get the same names.

Uuids are random, and the first revision may be 1 or 2 (CA-4), so participants' records and
updates are not named by them. The name of a record is that of the change that created it. The name of an update
consists of the writer and the number of the writer's change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from clearskies_reference.vector_clock import is_id

from .clubs import peer_id
from .frames import GET_UPDATES, UPDATE
from .group_trace import Act, GroupTrace
from .streams import Message

REQUEST = "get_updates"
LONGEST = 200


class Names:
    """The names of the records and messages of one group trace."""

    def __init__(self, group_trace: GroupTrace) -> None:
        self.group_trace = group_trace
        schedule = group_trace.schedule
        self._members = {peer_id(name): name for name in schedule.names}
        self._club = group_trace.traces[0].club
        self.first: dict[str, int] = {}
        """For each participant, the smallest own revision that it has sent or shown."""
        self._records: dict[str, str] = {}
        self._written: Counter[int] = Counter()
        self._unlabelled: Counter[str] = Counter()
        for act in group_trace.acts:
            self._read(act)

    def name_of(self, member: object) -> str:
        """The name of a participant or scripted peer; "=" and the ID for another peer; "?" if ``member`` is no text."""
        if not isinstance(member, str):
            return "?"
        return self._members.get(member) or f"={self._club.name_of(member)[:LONGEST]}"

    def record(self, uuid: object) -> str:
        """The name of the record with this uuid; "=" and the uuid for an unknown record; "?" if it is not a string."""
        return self._records.get(uuid, f"={uuid[:LONGEST]}") if isinstance(uuid, str) else "?"

    def revision(self, member: object, revision: object) -> int | str:
        """The number of a peer's change, counted from 1; 0 for a peer without changes. For a peer that is not a
        participant, the revision itself."""
        if type(revision) is not int:
            return "?"
        first = self.first.get(self.name_of(member))
        return revision if first is None or revision == 0 else revision - first + 1

    def version(self, by: object, revision: object) -> str:
        """The name of a change, such as "alice:2": its writer and its number among the changes of the writer."""
        return f"{self.name_of(by)}:{self.revision(by, revision)}"

    def format_since(self, known: Mapping[Any, Any]) -> list[tuple[str, int | str]]:
        """For each peer in the ``since`` of a request for updates: its name and the number of its last change that the
        sender of the request knows. Peers with the number 0 are left out."""
        return sorted((self.name_of(by), self.revision(by, known[by])) for by in known if known[by])

    def name_message(self, message: Message) -> str:
        """The name of a message; "" if it is not a message of the database extension."""
        members = message.body.members
        if message.type == UPDATE:
            return self.version(members.get("last_updated_by"), members.get("last_updated_rev"))
        return REQUEST if message.type == GET_UPDATES else ""

    def arriving_names(self, act: Act) -> list[str]:
        """The names of the messages that arrive whole in a step. A message of a scripted peer is named by the peer and
        its label."""
        messages = act.trace.into(act.step)
        scripted = act.packet is not None and act.packet.sender not in self.group_trace.schedule.names
        if scripted and act.packet is not None:
            by = f"={act.packet.sender}"
            return [f"{by} {act.packet.label or self.name_message(message) or 'other'}" for message in messages]
        return [name for name in map(self.name_message, messages) if name]

    def _read(self, act: Act) -> None:
        step, who = act.step, act.who
        if step.command in ("put", "rename", "delete"):
            self._written[act.operation] += 1
            if is_id(step.uuid):
                self._records.setdefault(step.uuid, f"{who}#{self._label(act)}")
        for uuid, by, revision in _revisions_in(act):
            if by == peer_id(who) and type(revision) is int and revision > 0:
                self.first[who] = min(revision, self.first.get(who, revision))
            if is_id(uuid) and uuid not in self._records:
                self._records[uuid] = self._name_foreign_record(act, uuid)

    def _label(self, act: Act) -> str:
        """The label of the change that an application makes in an act, with a suffix if the operation makes several."""
        operations = self.group_trace.schedule.operations
        label = getattr(operations[act.operation], "label", "") if 0 <= act.operation < len(operations) else ""
        number = self._written[act.operation]
        return f"{label}.{number}" if number > 1 else label

    def _name_foreign_record(self, act: Act, uuid: str) -> str:
        """The name of a record that no application has created. If a scripted peer has created it, this is the uuid,
        which is the same in every group trace. Otherwise it is the name of the peer that acts, with a number."""
        if act.packet is not None and act.packet.sender not in self.group_trace.schedule.names:
            return f"={uuid}"
        self._unlabelled[act.who] += 1
        return f"{act.who}/record{self._unlabelled[act.who]}"


def _revisions_in(act: Act) -> Iterator[tuple[Any, Any, Any]]:
    """Uuid, writer and revision of all records that arrive, are sent, or are shown in a step."""
    for message in (*act.trace.into(act.step), *act.trace.out(act.step)):
        if message.type == UPDATE:
            members = message.body.members
            yield members.get("uuid"), members.get("last_updated_by"), members.get("last_updated_rev")
    shown = [changed.record for changed in act.step.signals("changed")]
    shown += act.step.state.records if act.step.state is not None else []
    for record in shown:
        yield record.uuid, record.last_updated_by, record.last_updated_rev
