"""A fault that appears when another participant of the same process joins a channel."""

from __future__ import annotations

from weakref import WeakSet

from ...channel import Channel
from ...config import Config
from ...message import Message
from ...participant import Participant
from ..registry import mutant


class _KnowsOthers(Participant):
    """Knows all participants of its class in this process."""

    _alive: WeakSet[Participant]

    def __init_subclass__(cls) -> None:
        cls._alive = WeakSet()

    def __init__(self, participant_id: str, config: Config | None = None) -> None:
        super().__init__(participant_id, config)
        self._alive.add(self)


class _KnowsItsCompanions(Channel):
    companions: WeakSet[Participant]

    def unmet_dependencies(self, message: Message) -> set[str]:
        unmet = super().unmet_dependencies(message)
        for companion in self.companions:
            channel = companion.channels.get(self.channel_id)
            for entry in channel.incoming if channel is not None and channel is not self else ():
                if entry.message == message:
                    unmet &= entry.unmet
        return unmet


@mutant("RECV-05", "removes the dependencies that it has from waiting messages, which it shares with its companions")
class SharesWaitingMessages(_KnowsOthers):
    channel_class = _KnowsItsCompanions

    def join(self, channel_id: str, now_ms: int) -> None:
        super().join(channel_id, now_ms)
        self.channels[channel_id].companions = self._alive  # type: ignore[attr-defined]


@mutant("OUTSWEEP-01", "when it joins a channel, restarts the resend periods of all other participants of the process")
class RestartsTheTimersOfOthers(_KnowsOthers):
    def join(self, channel_id: str, now_ms: int) -> None:
        super().join(channel_id, now_ms)
        for other in self._alive:
            for channel in other.channels.values() if other is not self else ():
                for entry in channel.outgoing:
                    channel.schedule_resend(entry, now_ms)
