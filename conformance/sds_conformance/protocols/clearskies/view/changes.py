"""What the application of a peer under test did: each change, and the update by which it shows on the wire."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.trace import Step

from .facts import Update

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
    """The first copy of it on any link; None where it was never sent."""

    @property
    def uuid(self) -> str:
        """As the peer tells it, else as it shows; "" where neither is known."""
        return self.step.uuid or (self.shown.uuid if self.shown is not None and self.shown.uuid else "")

    def is_in(self, update: Update) -> bool:
        """Has the update the content of this change?"""
        if self.step.uuid and update.uuid is not None and update.uuid != self.step.uuid:
            return False
        if self.kind == "delete":
            return update.deleted
        same = not update.deleted and update.key == self.key
        return same and (self.kind == "rename" or equal(update.value, self.value))


def changes_of(steps: Iterable[Step], own: list[Update]) -> list[Change]:
    """The changes in the steps of a peer; ``own`` are the first copies of its own versions, as they were sent."""
    changes = [change for step in steps if (change := _change(step)) is not None]
    left = list(changes)
    for update in own:
        for change in left:
            if change.step.index <= update.step.index and change.is_in(update):
                change.shown = update
                left.remove(change)
                break
    return changes


def equal(one: Any, other: Any) -> bool:
    """Are two JSON values the same? 1 and true are not, and neither are 1 and 1.0 told apart (JSON has one number)."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(value, other[name]) for name, value in one.items())
    return bool(one == other)


def _change(step: Step) -> Change | None:
    if step.effects is None or step.command not in COMMANDS:
        return None
    request: pb.Request = step.request
    if step.command == "put":
        try:
            value = json.loads(request.put.value)
        except (ValueError, RecursionError):
            return None
        return Change(step, "put", request.put.key, request.put.key, value)
    if step.command == "rename":
        return Change(step, "rename", request.rename.new_key, request.rename.key)
    return Change(step, "delete", request.delete.key, request.delete.key)
