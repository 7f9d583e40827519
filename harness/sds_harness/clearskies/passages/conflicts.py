"""Passages about conflicts: independent changes of one record or of one key."""

from __future__ import annotations

from ..operations import Hold, Release
from ..writer import Writer
from .registry import passage, two_writers


def separate(writer: Writer, one: str, other: str) -> bool:
    """Separate two peers from now on. Returns True if their links are held, and False if they are broken."""
    if writer.chance(40):
        writer.add(Hold())
        return True
    writer.isolate(one)
    if writer.chance(30):
        writer.isolate(other)
    return False


def together(writer: Writer, one: str, other: str, *, held: bool) -> None:
    """Connect two peers again; ``held`` is the result of ``separate``."""
    if held:
        writer.add(Release())
    writer.link(one, other)
    if writer.chance(50):
        writer.connect_all()


@passage(10, fits=two_writers)
def concurrent_edits(writer: Writer) -> None:
    """Two or three peers change one record before they receive each other's changes."""
    writer.connect_all()
    one, other = writer.two_writers()
    key = writer.new_key()
    writer.put(one, key)
    held = separate(writer, one, other)
    writer.change(one, key)
    writer.change(other, key)
    if writer.chance(40):
        writer.put(writer.writer(), key)
    if writer.chance(30):
        writer.change(one, key)
    together(writer, one, other, held=held)
    if writer.chance(40):
        writer.change(writer.writer(), key)


@passage(8, fits=two_writers)
def one_key_twice(writer: Writer) -> None:
    """Two peers create a record with the same key, independently."""
    one, other = writer.two_writers()
    held = separate(writer, one, other)
    key = writer.new_key()
    writer.put(one, key)
    writer.put(other, key, in_the_same_moment=writer.chance(25))
    if writer.chance(30):
        writer.change(writer.pick((one, other)), key)
    together(writer, one, other, held=held)
    if writer.chance(40):
        writer.change(writer.writer(), key)


@passage(8, fits=two_writers)
def renamed_onto_each_other(writer: Writer) -> None:
    """Two peers independently rename two records: to each other's keys, or both to a third key."""
    writer.connect_all()
    one, other = writer.two_writers()
    first, second = writer.new_key(), writer.key()
    writer.put(one, first)
    writer.put(one, second)
    held = separate(writer, one, other)
    third = writer.new_key()
    swap = writer.chance(50)
    writer.rename(one, first, second if swap else third)
    writer.rename(other, second, first if swap else third)
    together(writer, one, other, held=held)


@passage(8, fits=two_writers)
def deleted_and_edited(writer: Writer) -> None:
    """One peer deletes a record, and the other one edits or renames it, before they receive each other's change."""
    writer.connect_all()
    one, other = writer.two_writers()
    key = writer.new_key()
    writer.put(one, key)
    held = separate(writer, one, other)
    if writer.chance(50):
        writer.delete(one, key)
    if writer.chance(70):
        writer.put(other, key)
    else:
        writer.rename(other, key, writer.new_key())
    if writer.chance(60):
        writer.delete(one, key)
    together(writer, one, other, held=held)


@passage(7, fits=two_writers)
def renamed_and_edited(writer: Writer) -> None:
    """One peer changes the key of a record, and another peer changes its value."""
    writer.connect_all()
    one, other = writer.two_writers()
    key, new_key = writer.new_key(), writer.key()
    writer.put(one, key)
    held = separate(writer, one, other)
    if writer.chance(50):
        writer.rename(one, key, new_key)
        writer.put(other, key)
    else:
        writer.put(other, key)
        writer.rename(one, key, new_key)
    together(writer, one, other, held=held)
    if writer.chance(50):
        writer.put(one, new_key)


@passage(6, fits=lambda writer: len(writer.writers) > 2)
def three_ways(writer: Writer) -> None:
    """Three isolated peers change a record, and then receive each other's versions in some order."""
    writer.connect_all()
    one, other = writer.two_writers()
    third = writer.writer(one, other)
    key = writer.new_key()
    writer.put(one, key)
    for who in (one, other, third):
        writer.isolate(who)
    for who in (one, other, third):
        for _ in writer.times(1, 2):
            writer.put(who, key)
    writer.link(one, other)
    if writer.chance(50):
        writer.put(writer.pick((one, other)), key)
    writer.link(third, writer.pick((one, other)))
    if writer.chance(30):
        writer.link(one, third)
