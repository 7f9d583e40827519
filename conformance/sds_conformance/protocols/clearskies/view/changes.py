"""What the application of a peer under test did: each change, and the update by which it shows on the wire."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.trace import Step

from .facts import Update, equal

COMMANDS = ("put", "rename", "delete")


@dataclass
class Change:
    """One command that changes a record, and was not refused."""

    step: Step
    kind: str
    """``put``, ``rename`` or ``delete``."""
    key: str
    """The one that the record has then; of what is deleted, the one that it had."""
    old_key: str
    """The one that it had before."""
    value: Any = None
    """Of ``put``."""
    shown: Update | None = None
    """The first copy of it on any link; None where it was never sent, or under another name."""
    since: int = 0
    """Index of the step of the first of the changes of its record that nothing was sent of until this one was: what is
    sent late may have been made by any of these, or by all of them together."""

    @property
    def uuid(self) -> str:
        """As the peer tells it, else as it shows; "" where neither is known."""
        return self.step.uuid or (self.shown.uuid if self.shown is not None and self.shown.uuid else "")

    @property
    def keeps_its_key(self) -> bool:
        """Is it a rename that changes nothing?"""
        return self.kind == "rename" and self.key == self.old_key

    def says_the_same(self, other: Change) -> bool:
        """Do both write the same under the same key?"""
        return self.kind == other.kind == "put" and self.key == other.key and equal(self.value, other.value)

    def is_in(self, update: Update) -> bool:
        """Has the update the content of this change?"""
        if self.step.uuid and update.uuid is not None and update.uuid != self.step.uuid:
            return False
        if self.kind == "delete":
            return update.deleted
        same = not update.deleted and update.key == self.key
        return same and (self.kind == "rename" or equal(update.value, self.value))

    def is_shown_by(self, update: Update) -> bool:
        """Is the update a copy of it, whatever may be wrong with that?"""
        version = self.shown.version if self.shown is not None else None
        return self.is_in(update) or (version is not None and update.version == version)


def changes_of(steps: Iterable[Step], own: list[Update]) -> list[Change]:
    """The changes in the steps of a peer; ``own`` are the first copies of its own versions by revision, as they were
    sent.

    A copy is known by what it says, first where it is sent at once, or else by being sent at once, or by being of the
    record that was last changed so. Who sends later may leave out what was written over by then: of several changes
    that say the same, the last ones are those that show. A rename to the same key is a change where it shows as one,
    and need not be.
    """
    changes = [change for step in steps if (change := _change(step)) is not None]
    if any(change.step.uuid for change in changes):
        changes = [change for change in changes if change.kind != "delete" or change.step.uuid]  # it deleted nothing
    left = list(own)
    tests: tuple[Callable[[Change, Update], bool], ...] = (
        lambda change, update: change.step is update.step and change.is_in(update),
        lambda change, update: change.step.index <= update.step.index and change.is_in(update),
        lambda change, update: _belongs(update, change, changes),
    )
    for test in tests:
        for change in sorted(changes, key=lambda change: (change.keeps_its_key, -change.step.index)):
            if change.shown is None and (those := [update for update in left if test(change, update)]):
                earlier = (c for c in changes if c.shown is None and c.step.index < change.step.index)
                rivals = sum(any(test(c, update) for update in those) for c in earlier) if len(those) > 1 else 0
                change.shown = those[min(rivals, len(those) - 1)]
                left = [update for update in left if update is not change.shown]
    changes = [change for change in changes if change.shown is not None or not change.keeps_its_key]
    _say_since_when(changes)
    return changes


def _say_since_when(changes: list[Change]) -> None:
    """Since when was nothing sent of the record of each change?"""
    began: dict[str, int] = {}
    for change in changes:
        names = {change.step.uuid} if change.step.uuid else {change.key, change.old_key}
        change.since = min([change.step.index, *(began[name] for name in names if name in began)])
        for name in names:
            if change.shown is None:
                began[name] = change.since
            else:
                began.pop(name, None)


def _belongs(update: Update, change: Change, changes: list[Change]) -> bool:
    """Is an update that of a change, although it says something else? Of a record whose key another one was given, it
    may be the deletion."""
    uuid = change.step.uuid
    if update.step is change.step:
        return uuid in ("", update.uuid or update.members.get("uuid"))
    if not uuid or update.uuid != uuid or update.step.index < change.step.index:
        return False
    later = (c for c in changes if change.step.index < c.step.index <= update.step.index)
    return not any(c.step.uuid == uuid or change.key in (c.key, c.old_key) for c in later)


def written(request: pb.Request) -> Any:
    """The value that is put. Raises ValueError or RecursionError for what is no JSON."""
    return json.loads(request.put.value)


def renames_in_place(step: Step) -> bool:
    """Was a record given the key that it has? Some count that as a change, and it need not show as one."""
    command = step.request.rename
    return step.command == "rename" and step.effects is not None and command.key == command.new_key


def _change(step: Step) -> Change | None:
    if step.effects is None or step.command not in COMMANDS:
        return None
    request: pb.Request = step.request
    if step.command == "put":
        try:
            return Change(step, "put", request.put.key, request.put.key, written(request))
        except (ValueError, RecursionError):
            return None
    if step.command == "rename":
        return Change(step, "rename", request.rename.new_key, request.rename.key)
    return Change(step, "delete", request.delete.key, request.delete.key)
