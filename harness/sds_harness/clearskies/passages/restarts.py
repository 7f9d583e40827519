"""Passages about peers that end and start again, with their store or without it."""

from __future__ import annotations

from ..operations import Read
from ..writer import Writer
from .registry import a_reader, passage


@passage(8)
def restart(writer: Writer) -> None:
    """A peer ends, other peers make changes, and the peer starts again, usually with its store."""
    who = writer.pick_participant()
    near = writer.linked_to(who)
    if who in writer.writers:
        writer.put(who)
    writer.close(who)
    for _ in writer.times(0, 3):
        writer.change(writer.writer(who), writer.key())
    writer.reopen(who, forget=writer.chance(15))
    writer.with_probability(25, Read(who))
    if near and near[0] in writer.here:
        writer.link(who, near[0])
    else:
        writer.link(who, writer.pick_participant(who))
    if writer.chance(60) and who in writer.writers:
        writer.put(who)


@passage(5)
def all_restart(writer: Writer) -> None:
    """All peers but one may end, and they start again one after the other."""
    writer.put(writer.writer())
    for name in list(writer.here):
        if writer.chance(70):
            writer.close(name)
    writer.put(writer.writer())
    for name in list(writer.closed):
        writer.reopen(name)
        writer.link(name, writer.pick_participant(name))


@passage(5, fits=a_reader)
def reader_restarts(writer: Writer) -> None:
    """A read-only peer starts again, and still passes on updates of writers with their original signatures."""
    reader = writer.readers[0]
    who = writer.writer()
    writer.link(who, reader)
    for _ in writer.times(1, 3):
        writer.put(who)
    writer.close(reader)
    writer.reopen(reader)
    for name in writer.others(reader, who):
        if writer.chance(60):
            writer.link(reader, name)


@passage(4)
def forgotten(writer: Writer) -> None:
    """A peer starts again without its records, and receives them from the others before it writes."""
    who = writer.pick_participant()
    writer.connect_all()
    writer.put(who if who in writer.writers else writer.writer())
    writer.close(who)
    writer.reopen(who, forget=True)
    writer.link(who, writer.pick_participant(who))
    writer.connect_all()
    if who in writer.writers:
        writer.put(who)


@passage(5)
def written_alone(writer: Writer) -> None:
    """A peer writes while it has no links, ends, and starts again before its changes have reached others."""
    who = writer.writer()
    writer.isolate(who)
    for _ in writer.times(1, 3):
        writer.change(who, writer.key())
    writer.close(who)
    writer.reopen(who)
    writer.link(who, writer.pick_participant(who))
