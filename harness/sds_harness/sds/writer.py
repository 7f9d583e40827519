"""Builds a schedule from passages: holds the operations so far, the present participants, and the labels of
messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..schedules import passages
from ..schedules.choices import Choices
from .operations import STRAIGHT, Crash, Ephemeral, Join, Member, Route, Say, Send, Sync

PEERS = ("xavier", "Yvonne", "zoe", "Victor", "wendy", "Ulla", "uma")
"""Scripted peers. The IDs of their messages begin with these names, whose order depends on case."""
ODD_PEERS = ("xavier", "Yvonne", "zoe", "🦊", "\uffee", "e\u0301mile", "émile")
"""Names of scripted peers in schedules whose participants also have odd names. The order of these names differs in
UTF-16 and after Unicode normalisation."""


if TYPE_CHECKING:  # schedules must not depend on the interpreter or on installed packages
    from sds_reference import Revision


@dataclass(frozen=True)
class Text:
    """The features of a revision on which schedules depend."""

    name: str = "SDS"
    repairs: bool = True
    """Whether the revision has SDS-R."""
    retrieval_hints: bool = True
    """Whether causal histories have senders and retrieval hints, and not only message IDs."""
    syncs_are_logged: bool = False
    """Whether sync messages are part of the log, so that other messages may depend on them."""

    @classmethod
    def of(cls, revision: Revision) -> Text:
        return cls(revision.name, revision.repairs, revision.retrieval_hints, revision.syncs_are_logged)


SDS = Text()


class Writer(passages.Writer):
    """Builds one schedule of SDS."""

    def __init__(
        self,
        choices: Choices,
        members: Sequence[Member],
        channels: int,
        configuration: Mapping[str, float],
        text: Text = SDS,
    ) -> None:
        super().__init__(choices, [member.name for member in members if not member.late])
        self.text = text
        self.peers = PEERS if all(member.name.isascii() for member in members) else ODD_PEERS
        self.late = [member.name for member in members if member.late]
        self.channels = channels
        self.home = 0
        """The channel of the current passage."""
        self.sds_r = bool(configuration.get("sds_r"))
        self.bloom_capacity = int(configuration.get("bloom_capacity", 10_000))
        self.resend_ms = int(configuration.get("resend_unacknowledged_ms", 30_000))
        self.sync_interval_ms = int(configuration.get("sync_interval_ms", 0))
        """Milliseconds between automatic sync messages; 0 if none are sent."""
        self.response_groups = int(configuration.get("num_response_groups", 1))
        self.t_min_ms = int(configuration.get("t_min_ms", 30_000))
        self.t_max_ms = int(configuration.get("t_max_ms", 120_000))
        self.mine: dict[str, list[str]] = {}
        """By participant or scripted peer, the labels of its messages so far, oldest first."""

    # ---- choosing --------------------------------------------------------------------------------------------------

    def two(self) -> tuple[str, str]:
        """Choose two present participants. They are the same one only if no other is present."""
        one = self.pick_participant()
        return one, self.pick_participant(one)

    def channel(self) -> int:
        return self.choices.integer(0, self.channels - 1)

    def hazards(self, who: str, percent: int = 25) -> Route:
        """Choose a route for a message of ``who``: with ``percent`` probability, some recipients lose it, or get it
        late or twice."""
        if not self.chance(percent):
            return STRAIGHT
        listeners = self.others(who)
        match self.choices.integer(0, 3):
            case 0 | 1:
                return Route(lost=tuple(self.sample(listeners)))
            case 2:
                delays = (1, 10, 1_000, 40_000)
                return Route(late=tuple((name, self.pick(delays)) for name in self.sample(listeners)))
            case _:
                return Route(twice=tuple(self.sample(listeners)))

    def heard_only_by(self, *names: str) -> Route:
        """The route of a message that reaches none of the present participants except ``names``."""
        return Route(lost=tuple(self.others(*names)))

    # ---- writing ---------------------------------------------------------------------------------------------------

    def label(self, who: str = "") -> str:
        label = super().label()
        self.mine.setdefault(who, []).append(label)
        return label

    def send(self, who: str, route: Route = STRAIGHT, channel: int | None = None, **rest: object) -> str:
        """Add a content message. Returns its label."""
        label = self.label(who)
        rest = self._stated(rest)
        self.add(replace(Send(who, label, self._channel(channel), route=route), **rest))  # type: ignore[arg-type]
        return label

    def sync(self, who: str, route: Route = STRAIGHT, channel: int | None = None) -> None:
        self.add(Sync(who, self._channel(channel), route))

    def ephemeral(self, who: str, route: Route = STRAIGHT, channel: int | None = None, raw: str = "") -> None:
        self.add(Ephemeral(who, self._channel(channel), raw, route))

    def say(self, peer: str = "", **rest: object) -> str:
        """Add a message of a scripted peer. Returns its label."""
        peer = peer or self.pick(self.peers)
        label = self.label(peer)
        self.add(replace(Say(peer, label, channel=self.home), **self._stated(rest)))  # type: ignore[arg-type]
        return label

    def _stated(self, rest: dict[str, object]) -> dict[str, object]:
        """``rest`` without the fields that messages of the revision do not have."""
        absent = () if self.text.retrieval_hints else ("hint", "senders_named")
        return {key: value for key, value in rest.items() if key not in absent}

    def _channel(self, channel: int | None) -> int:
        return self.home if channel is None else channel

    def crash(self, who: str) -> None:
        """Let a participant crash if more than two participants are present."""
        if len(self.here) > 2:
            self.here.remove(who)
            self.add(Crash(who))

    def join_all(self) -> None:
        """Let all late participants join."""
        for name in self.late:
            self.add(Join(name))
            self.here.append(name)
        self.late.clear()
