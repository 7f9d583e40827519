"""Faults that appear when other participants of the same process join or leave."""

from __future__ import annotations

from weakref import WeakSet

from ...config import Config
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


@mutant("OUTSWEEP-01", "when it joins a channel, restarts the resend periods of all other participants of the process")
class RestartsTheTimersOfOthers(_KnowsOthers):
    def join(self, channel_id: str, now_ms: int) -> None:
        super().join(channel_id, now_ms)
        for other in self._alive:
            for channel in other.channels.values() if other is not self else ():
                for entry in channel.outgoing:
                    channel.schedule_resend(entry, now_ms)
