"""Renames the participants and messages of a shrunk schedule, so that their numbers are consecutive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from sds_harness.schedules import Operation, Route, Schedule

PEERS = ("xavier", "zoe", "wendy", "victor", "uma", "trent", "sybil")
"""Names of scripted peers in generated schedules."""


def with_usual_names(schedule: Schedule, names: Sequence[str]) -> Schedule:
    """Rename the participants, in order, to ``names``, which are the names in generated schedules. A schedule with more
    participants than names stays unchanged.
    """
    usual = dict(zip(schedule.names, names, strict=False))
    if len(schedule.names) > len(names):
        return schedule
    members = tuple(replace(member, name=usual[member.name]) for member in schedule.members)
    return replace(
        schedule, members=members, operations=tuple(_rename_operation(o, usual, {}) for o in schedule.operations)
    )


def with_usual_peers(schedule: Schedule) -> Schedule:
    """Rename scripted peers whose names are not ASCII to names of generated schedules."""
    peers = list(dict.fromkeys(peer for o in schedule.operations if (peer := getattr(o, "peer", ""))))
    free = (name for name in PEERS if name not in {*peers, *schedule.names})
    usual = {peer: peer if peer.isascii() else next(free, peer) for peer in peers}
    changed = {"peer", "poses_as"}
    operations = []
    for operation in schedule.operations:
        names = {f.name: getattr(operation, f.name) for f in fields(operation) if f.name in changed}
        operations.append(operation.with_values(**{key: usual.get(name, name) for key, name in names.items()}))
    return replace(schedule, operations=tuple(operations))


def with_numbered_labels(schedule: Schedule) -> Schedule:
    """Rename the messages to m1, m2, m3, ... in the order of sending. Messages that were never sent come last."""
    sent = [getattr(operation, "label", "") for operation in schedule.operations if hasattr(operation, "label")]
    spoken = [label for operation in schedule.operations for label in labels_of(operation)]
    labels = [label for label in dict.fromkeys([*sent, *spoken]) if label]
    numbered = {label: f"m{n}" for n, label in enumerate(labels, 1)}
    return replace(schedule, operations=tuple(_rename_operation(o, {}, numbered) for o in schedule.operations))


def labels_of(operation: Operation) -> list[str]:
    """Return the labels of messages that an operation names."""
    out: list[str] = []
    for key in operation.labels:
        value = getattr(operation, key, None) or ()
        referred = [value] if isinstance(value, str) else value
        # An entry of a causal history has a label, and other fields.
        out += [label for one in referred if (label := one if isinstance(one, str) else one.label)]
    return out


def _rename_reference(item: Any, known: Mapping[str, str]) -> Any:
    """Rename a name, a label, or the label of an entry."""
    return known.get(item, item) if isinstance(item, str) else replace(item, label=known.get(item.label, item.label))


def _rename_operation(operation: Operation, names: Mapping[str, str], labels: Mapping[str, str]) -> Operation:
    changes: dict[str, Any] = {}
    for field in fields(operation):
        value = getattr(operation, field.name)
        known = names if field.name in operation.names else labels if field.name in operation.labels else {}
        if isinstance(value, str):
            changes[field.name] = known.get(value, value)
        elif isinstance(value, tuple) and known:
            changes[field.name] = tuple(_rename_reference(item, known) for item in value)
        elif isinstance(value, Route):
            changes[field.name] = Route(
                tuple(names.get(name, name) for name in value.lost),
                tuple((names.get(name, name), ms) for name, ms in value.late),
                tuple(names.get(name, name) for name in value.twice),
            )
    return operation.with_values(**changes)
