"""The writer of passages: the operations so far, the present participants, their links, and the records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..schedules import passages
from ..schedules.choices import Choices
from .operations import Close, Delete, LinkPeers, Member, Put, Rename, Reopen, Say, Tick, Unlink, Wait

PEERS = ("xavier", "Yvonne", "zoe", "Victor", "wendy")
"""Scripted peers that may write."""
ODD_PEERS = ("xavier", "Yvonne", "zoe", "🦊", "e\u0301mile")
"""Scripted peers that may write, with odd names, for schedules whose participants have odd names."""
LURKERS = ("mallory", "Wanda")
"""Scripted peers that may only read."""
KEYS = ("k", "photo-1234", "k2", "a/b", "", "ключ", "K", "e\u0301", "é", "\u2028 ", "🦊")
SHORT_MS = (7, 1, 40, 1_000, 61_000)


class Writer(passages.Writer):
    """Builds one schedule of ClearSkies."""

    def __init__(self, choices: Choices, members: Sequence[Member]) -> None:
        super().__init__(choices, [member.name for member in members])
        self.peers = PEERS if all(member.name.isascii() for member in members) else ODD_PEERS
        self.members = {member.name: member for member in members}
        self.closed: list[str] = []
        self.links: list[tuple[str, str]] = []
        """Pairs of linked participants."""
        self.keys: list[str] = []
        """Keys that were written, oldest first."""

    # ---- choosing --------------------------------------------------------------------------------------------------

    @property
    def writers(self) -> list[str]:
        """The present writers; there is always one."""
        return [name for name in self.here if not self.members[name].read_only]

    @property
    def readers(self) -> list[str]:
        """The present read-only participants."""
        return [name for name in self.here if self.members[name].read_only]

    def writer(self, *but: str) -> str:
        """A present writer, not one of ``but`` if possible."""
        return self.pick([name for name in self.writers if name not in but] or self.writers)

    def two_writers(self) -> tuple[str, str]:
        """Two present writers: the same one twice if there is only one."""
        one = self.writer()
        return one, self.writer(one)

    def key(self) -> str:
        """A key that is in use, or a new one."""
        return self.pick(self.keys[-4:]) if self.keys and self.chance(60) else self.new_key()

    def new_key(self) -> str:
        """A key that was not written yet, if there is one."""
        return self.pick([key for key in KEYS if key not in self.keys][:4] or KEYS)

    def linked_to(self, who: str) -> list[str]:
        """The participants that are linked to ``who``."""
        return [other for pair in self.links if who in pair for other in pair if other != who]

    def neighbour(self, who: str) -> str:
        """A participant that is linked to ``who``. If there is none, adds a link to one."""
        near = self.linked_to(who)
        if near:
            return self.pick(near)
        other = self.pick_participant(who)
        self.link(who, other)
        return other

    # ---- writing ---------------------------------------------------------------------------------------------------

    def pause(self) -> None:
        """Usually let some time pass: changes within one millisecond have the same update_time."""
        if not self.chance(6):
            self.add(Wait(self.pick(SHORT_MS)))
        # Some implementations send only at a `tick`.
        self.with_probability(12, Tick())

    def put(
        self, who: str, key: str | None = None, text: str = "", times: int = 1, *, in_the_same_moment: bool = False
    ) -> str:
        """Add a write to a key, by default any key. Returns the label."""
        if not in_the_same_moment:
            self.pause()
        key = self.key() if key is None else key
        self._used(key)
        label = self.label()
        self.add(Put(who, label, key, text, times))
        return label

    def rename(self, who: str, key: str, new_key: str) -> str:
        self.pause()
        self._used(new_key)
        label = self.label()
        self.add(Rename(who, label, key, new_key))
        return label

    def delete(self, who: str, key: str) -> str:
        self.pause()
        label = self.label()
        self.add(Delete(who, label, key))
        return label

    def change(self, who: str, key: str) -> str:
        """Add a change of the record with this key: a write, a deletion or a new key. Returns the label."""
        match self.choices.integer(0, 9):
            case 7 | 8:
                return self.delete(who, key)
            case 9:
                return self.rename(who, key, self.key())
            case _:
                return self.put(who, key)

    def say(self, peer: str, to: str, **rest: object) -> str:
        """Add an update of a scripted peer. Returns the label."""
        self.pause()
        label = self.label()
        self.add(replace(Say(peer, to=to, label=label), **rest))  # type: ignore[arg-type]
        return label

    def link(self, one: str, other: str, *, held: bool = False) -> None:
        """Link two participants, unless they are linked."""
        if one != other and not self._are_linked(one, other):
            self.links.append((one, other))
            self.add(LinkPeers(one, other, held))

    def unlink(self, one: str, other: str) -> None:
        """Break the link between two participants, if there is one."""
        if self._are_linked(one, other):
            self.links = [pair for pair in self.links if {*pair} != {one, other}]
            self.add(Unlink(one, other))

    def isolate(self, who: str) -> list[str]:
        """Break all links of a participant. Returns the participants to which it was linked."""
        others = self.linked_to(who)
        for other in others:
            self.unlink(who, other)
        return others

    def close(self, who: str) -> None:
        """Close a participant, unless no writer or only one participant would be left."""
        if len(self.here) > 2 and self.writers != [who]:
            self.here.remove(who)
            self.closed.append(who)
            self.links = [pair for pair in self.links if who not in pair]
            self.add(Close(who))

    def reopen(self, who: str, *, forget: bool = False) -> None:
        """Open a closed participant again."""
        if who in self.closed:
            self.closed.remove(who)
            self.here.append(who)
            self.add(Reopen(who, forget))

    # ---- graphs ----------------------------------------------------------------------------------------------------

    def parts(self) -> list[list[str]]:
        """The connected components of the present participants."""
        left, out = list(self.here), []
        while left:
            part = [left.pop(0)]
            for who in part:
                near = [name for name in left if name in self.linked_to(who)]
                part += near
                left = [name for name in left if name not in near]
            out.append(part)
        return out

    def connect_others(self, *but: str) -> None:
        """Add links until all participants except ``but`` are connected. The participants in ``but`` should have no
        links, because others that are linked through them count as connected."""
        first, *others = self.others(*but) or [self.here[0]]
        for name in others:
            if not any(name in part and first in part for part in self.parts()):
                self.link(first, name)

    def connect_all(self) -> None:
        """Add links until all participants are connected."""
        first, *others = self.parts()
        for part in others:
            self.link(self.pick(first), self.pick(part))
            first += part

    def arrange(self, names: Sequence[str]) -> None:
        """Add links between these participants: a line, a star, a ring, all links, random links, or none."""
        names = list(names)
        shape = self.pick(("line", "star", "ring", "mesh", "random", "none"))
        for place, name in enumerate(names[1:], 1):
            match shape:
                case "line" | "ring":
                    self.link(names[place - 1], name)
                case "star":
                    self.link(names[0], name)
                case "mesh":
                    for other in names[:place]:
                        self.link(other, name)
                case "random":
                    for other in self.sample(names[:place], 50):
                        self.link(other, name)
        if shape == "ring" and len(names) > 2:
            self.link(names[-1], names[0])

    def _are_linked(self, one: str, other: str) -> bool:
        return any({*pair} == {one, other} for pair in self.links)

    def _used(self, key: str) -> None:
        if key in self.keys:
            self.keys.remove(key)
        self.keys.append(key)
