"""Faults of time in SDS-R: T_req and T_resp are computed and stored in too few bits."""

from __future__ import annotations

from ...config import RepairConfig
from ...message import HistoryEntry, Message
from ...repair import Repair
from ...variants import PRIVATE_HASH
from ..core.long_times import keep_low_bits
from ..registry import for_sizes


class _Sized(Repair):
    size: int
    unit_us = 1_000

    def modulus(self, span_ms: int) -> int:
        """Convert ``span_ms`` to ``size`` bits in units of ``unit_us`` microseconds, and back to ms; at least 1."""
        return abs(keep_low_bits(span_ms * 1_000 // self.unit_us, self.size)) * self.unit_us // 1_000 or 1

    def seconds(self, time_ms: int) -> int:
        return keep_low_bits(time_ms // 1_000, self.size)


@for_sizes("R-TREQ-01", "computes T_req in milliseconds with numbers of {} bits", 31, 32)
class ComputesTReqInMsOfBits(_Sized):
    def t_req(self, entry: HistoryEntry, now_ms: int) -> int:
        low = self.config.t_min_ms
        hashed = self.config.hash_profile.hash(self.participant_id, entry.message_id)
        return now_ms + low + hashed % self.modulus(self.config.t_max_ms - low)


@for_sizes("R-TREQ-01", "computes T_req in microseconds with numbers of {} bits", 31, 32)
class ComputesTReqInUsOfBits(ComputesTReqInMsOfBits):
    unit_us = 1


@for_sizes(
    "R-TREQ-03",
    "computes T_req in microseconds with numbers of {} bits and a private hash",
    31,
    32,
    repair=RepairConfig(hash_profile=PRIVATE_HASH),
)
class ComputesPrivateTReqInUsOfBits(ComputesTReqInUsOfBits):
    pass


@for_sizes("R-TRESP-01", "computes T_resp in milliseconds with numbers of {} bits", 31, 32)
class ComputesTRespInMsOfBits(_Sized):
    def t_resp(self, entry: HistoryEntry, now_ms: int) -> int:
        hashes = self.config.hash_profile
        distance = hashes.distance(self.participant_id, entry.sender_id or "")
        return now_ms + distance * hashes.hash(entry.message_id) % self.modulus(self.config.t_max_ms)


@for_sizes("R-TRESP-01", "computes T_resp in microseconds with numbers of {} bits", 31, 32)
class ComputesTRespInUsOfBits(ComputesTRespInMsOfBits):
    unit_us = 1


@for_sizes("R-SEND-02", "stores T_req in whole seconds, with {} bits", 31, 32)
class StoresTReqSecondInBits(_Sized):
    def eligible_requests(self, now_ms: int) -> list[HistoryEntry]:
        due = [item.entry for item in self.outgoing if self.seconds(item.due_ms) <= self.seconds(now_ms)]
        return due[: self.config.max_requests]


@for_sizes("R-SEND-01", "compares T_req with the clock in whole seconds, stored with {} bits", 31, 32)
class ComparesTReqSecondsInBits(_Sized):
    def eligible_requests(self, now_ms: int) -> list[HistoryEntry]:
        return super().eligible_requests(self.seconds(now_ms) * 1_000)


@for_sizes("R-SWEEP-03", "stores T_resp in whole seconds, with {} bits", 31, 32)
class StoresTRespSecondInBits(_Sized):
    def take_responses(self, now_ms: int) -> list[Message]:
        due = [item.due_ms for item in self.incoming if self.seconds(item.due_ms) <= self.seconds(now_ms)]
        return super().take_responses(max(due, default=-1))


@for_sizes("R-SWEEP-01", "compares T_resp with the clock in whole seconds, stored with {} bits", 31, 32)
class ComparesTRespSecondsInBits(_Sized):
    def take_responses(self, now_ms: int) -> list[Message]:
        return super().take_responses(self.seconds(now_ms) * 1_000)
