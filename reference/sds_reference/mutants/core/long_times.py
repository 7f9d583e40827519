"""Faults in storing times: a time has too few bits, so that it wraps around or becomes negative.

The size of each fault is the number of bits. If this number is odd, the stored integer has a sign bit in addition.
"""

from __future__ import annotations

from ...channel import Channel
from ...config import Config
from ...effects import Effects
from ...message import Kind, Message
from ...outgoing_buffer import AckState, OutgoingEntry
from ..registry import for_sizes, mutant

DAY_MS = 86_400_000


def keep_low_bits(number: int, size: int) -> int:
    """Return ``number`` wrapped to ``size`` bits. If ``size`` is odd, the result has a sign bit in addition."""
    below_zero = 1 << size if size % 2 else 0
    return (number + below_zero) % (1 << size << size % 2) - below_zero


class _Timed(Channel):
    size: int

    def __init__(self, participant_id: str, channel_id: str, config: Config, now_ms: int) -> None:
        super().__init__(participant_id, channel_id, config, now_ms)
        self._began_ms = now_ms

    def since_start(self, time_ms: int) -> int:
        """Milliseconds since the start, in the faulty number format."""
        return keep_low_bits(time_ms - self._began_ms, self.size)

    def seconds(self, time_ms: int) -> int:
        """Seconds of the epoch, in the faulty number format."""
        return keep_low_bits(time_ms // 1_000, self.size)

    def period(self, entry: OutgoingEntry) -> int:
        possibly = entry.state is AckState.POSSIBLY_ACKNOWLEDGED
        c = self.config
        return (c.resend_possibly_acknowledged_ms or 1 << 62) if possibly else c.resend_unacknowledged_ms


# ---- Lamport timestamps ----------------------------------------------------------------------------------------------


@for_sizes("STATE-03", "stores the milliseconds since its start in {} bits", 31, 32)
class StoresUptimeMsInBits(_Timed):
    def next_lamport(self, now_ms: int) -> int:
        return super().next_lamport(self._began_ms + self.since_start(now_ms))


@for_sizes("STATE-03", "stores the seconds of the clock in {} bits", 31, 32)
class StoresClockSecondsInBits(_Timed):
    def next_lamport(self, now_ms: int) -> int:
        return super().next_lamport(self.seconds(now_ms) * 1_000 + now_ms % 1_000)


@for_sizes(
    "RECV-07",
    "keeps only {} bits of the seconds of the clock when it compares them with timestamps",
    31,
    32,
    max_lamport_ahead_ms=DAY_MS + 1,
)
class ComparesTimestampsWithSecondsInBits(_Timed):
    def refuse_unusable(self, message: Message, kind: Kind, now_ms: int) -> None:
        super().refuse_unusable(message, kind, self.seconds(now_ms) * 1_000 + now_ms % 1_000)


# ---- The sweeps ------------------------------------------------------------------------------------------------------


class _Resending(_Timed):
    def is_due(self, entry: OutgoingEntry, now_ms: int) -> bool:
        raise NotImplementedError

    def sweep_outgoing(self, now_ms: int, effects: Effects) -> None:
        for entry in [entry for entry in self.outgoing if self.is_due(entry, now_ms)]:
            effects.broadcasts.append(self.rebroadcast(entry))
            self.schedule_resend(entry, now_ms)


@for_sizes("OUTSWEEP-01", "stores the milliseconds since the last rebroadcast in {} bits", 31, 32)
class StoresMsSinceRebroadcastInBits(_Resending):
    def is_due(self, entry: OutgoingEntry, now_ms: int) -> bool:
        period = self.period(entry)
        return keep_low_bits(now_ms - (entry.due_ms - period), self.size) >= period


@for_sizes("OUTSWEEP-02", "stores the milliseconds since a filter hit in {} bits", 31, 32)
class StoresMsSinceFilterHitInBits(_Resending):
    def is_due(self, entry: OutgoingEntry, now_ms: int) -> bool:
        period = self.period(entry)
        waited = now_ms - (entry.due_ms - period)
        possibly = entry.state is AckState.POSSIBLY_ACKNOWLEDGED
        return entry.due_ms >= 0 and (keep_low_bits(waited, self.size) if possibly else waited) >= period


@for_sizes(
    "OUTSWEEP-01",
    "keeps only {} bits of the present second when it compares it with the second in which to resend",
    31,
    32,
)
class ComparesResendSecondsInBits(_Resending):
    def is_due(self, entry: OutgoingEntry, now_ms: int) -> bool:
        return self.seconds(now_ms) >= entry.due_ms // 1_000


@for_sizes("OUTSWEEP-06", "stores the resend time in seconds of the clock, in {} bits", 31, 32)
class StoresResendSecondInBits(_Resending):
    def is_due(self, entry: OutgoingEntry, now_ms: int) -> bool:
        return self.seconds(now_ms) >= self.seconds(entry.due_ms)


@for_sizes("OUTSWEEP-06", "stores the resend time in milliseconds since its start, in {} bits", 31, 32)
class StoresResendMsInBits(_Resending):
    def is_due(self, entry: OutgoingEntry, now_ms: int) -> bool:
        return self.since_start(now_ms) >= self.since_start(entry.due_ms)


@for_sizes(
    "INSWEEP-01",
    "stores the milliseconds since its last sweep in {} bits",
    31,
    cascade_on_receive=False,
    incoming_sweep_ms=5_000,
)
class StoresMsSinceSweepInBits(_Timed):
    def __init__(self, participant_id: str, channel_id: str, config: Config, now_ms: int) -> None:
        super().__init__(participant_id, channel_id, config, now_ms)
        self._last_ms = now_ms

    def sweep_incoming(self, now_ms: int, effects: Effects) -> None:
        if keep_low_bits(now_ms - self._last_ms, self.size) >= self.config.incoming_sweep_ms:
            self._last_ms = now_ms
            super().sweep_incoming(now_ms, effects)


class _GivingUp(_Timed):
    def is_over(self, end_ms: int, now_ms: int) -> bool:
        raise NotImplementedError

    def give_up_lost(self, received_ms: int, effects: Effects) -> None:
        timeout = self.config.lost_timeout_ms or 0
        ends = [entry.received_ms + timeout for entry in self.incoming]
        over = [end for end in ends if self.is_over(end, received_ms + timeout)]
        super().give_up_lost(max(over) - timeout if over else -1, effects)


@for_sizes("INSWEEP-05", "stores the time at which a dependency is lost in seconds of the clock, in {} bits", 31, 32)
class StoresLossSecondInBits(_GivingUp):
    def is_over(self, end_ms: int, now_ms: int) -> bool:
        return self.seconds(now_ms) >= self.seconds(end_ms)


@for_sizes(
    "INSWEEP-05", "stores the time at which a dependency is lost in milliseconds since its start, in {} bits", 31, 32
)
class StoresLossMsInBits(_GivingUp):
    def is_over(self, end_ms: int, now_ms: int) -> bool:
        return self.since_start(now_ms) >= self.since_start(end_ms)


# ---- Sync messages ---------------------------------------------------------------------------------------------------


@for_sizes("SYNC-01", "stores the milliseconds since its last sync message in {} bits", 31)
class StoresMsSinceSyncInBits(_Timed):
    def sync_is_due(self, now_ms: int) -> bool:
        interval = self.config.sync_interval_ms
        return interval is not None and keep_low_bits(now_ms - self._quiet_since_ms, self.size) >= interval


@mutant("STATE-05", "removes older IDs from its filter once a day")
class RollsItsFilterOverDaily(Channel):
    _rolled_ms: int | None = None

    def receive(self, message: Message, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        if self._rolled_ms is None or now_ms - self._rolled_ms > DAY_MS:
            if self._rolled_ms is not None:
                self.filter._roll_over()
            self._rolled_ms = now_ms
        return super().receive(message, now_ms, retrieval_hint)


@mutant("SYNC-01", "sends no more sync messages after a day without a tick")
class StopsSyncsAfterADayWithoutTick(Channel):
    def sync_is_due(self, now_ms: int) -> bool:
        return super().sync_is_due(now_ms) and now_ms - self._silent_since_ms < DAY_MS
