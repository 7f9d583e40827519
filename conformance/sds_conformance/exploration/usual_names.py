"""Renames the participants and messages of a shrunk schedule, so that their numbers are consecutive."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sds_harness.schedules import Operation, Schedule

from ..scenario_files.reader import rename_fields

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
    operations = tuple(rename_fields(one, (*one.names, "route"), _lookup_in(usual)) for one in schedule.operations)
    return replace(schedule, members=members, operations=operations)


def with_usual_peers(schedule: Schedule) -> Schedule:
    """Rename scripted peers whose names are not ASCII to names of generated schedules."""
    peers = list(dict.fromkeys(peer for o in schedule.operations if (peer := getattr(o, "peer", ""))))
    free = (name for name in PEERS if name not in {*peers, *schedule.names})
    usual = {peer: peer if peer.isascii() else next(free, peer) for peer in peers}
    operations = tuple(rename_fields(one, ("peer", "poses_as"), _lookup_in(usual)) for one in schedule.operations)
    return replace(schedule, operations=operations)


def with_numbered_labels(schedule: Schedule) -> Schedule:
    """Rename the messages to m1, m2, m3, ... in the order of sending. Messages that were never sent come last."""
    sent = [getattr(operation, "label", "") for operation in schedule.operations]
    spoken = [label for operation in schedule.operations for label in labels_of(operation)]
    labels = [label for label in dict.fromkeys([*sent, *spoken]) if label]
    numbered = {label: f"m{n}" for n, label in enumerate(labels, 1)}
    return replace(
        schedule, operations=tuple(rename_fields(one, one.labels, _lookup_in(numbered)) for one in schedule.operations)
    )


def labels_of(operation: Operation) -> list[str]:
    """Return the labels of messages that an operation names."""
    out: list[str] = []
    for key in operation.labels:
        value = getattr(operation, key, None) or ()
        referred = [value] if isinstance(value, str) else value
        # An entry of a causal history has a label, and other fields.
        out += [label for one in referred if (label := one if isinstance(one, str) else one.label)]
    return out


def _lookup_in(known: Mapping[str, str]) -> Callable[[str], str]:
    return lambda name: known.get(name, name)
