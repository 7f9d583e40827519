"""The configuration of a participant: each choice that the specification leaves open.

The defaults are the positions of the suite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from .bloom_profiles import PROFILES, WAKU_SDS_JS, BloomParameters, BloomProfile
from .errors import ConfigurationError
from .hash_profiles import SHA256_BE64, HashProfile
from .repair_times import default_response_groups
from .revision import SDS_2026_01, Revision


class OwnIds(Enum):
    """When own message IDs enter the own filter (AMB-19). Both published implementations insert them after sending."""

    AFTER_SENDING = "after sending"
    BEFORE_SENDING = "before sending"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class RepairConfig:
    """Configuration of SDS-R (section "SDS-R global state"); times in milliseconds."""

    t_min_ms: int = 30_000
    """T_min; the specification recommends 30 seconds or more."""
    t_max_ms: int = 120_000
    """T_max; the specification recommends 120 to 600 seconds."""
    num_response_groups: int = 1
    num_participants: int | None = None
    """The number of participants from which ``num_response_groups`` was derived, if it was derived."""
    derive_groups: Callable[[int], int] = default_response_groups
    """Derives ``num_response_groups`` if only the number of participants is given (AMB-11)."""
    hash_profile: HashProfile = SHA256_BE64
    """The function that the specification calls ``hash()`` (AMB-01, AMB-02, AMB-03)."""
    whole_seconds: bool = False
    """T_req and T_resp are computed in seconds, with T_min and T_max in seconds too (AMB-05)."""
    clock_ms: int = 1
    """Resolution, in milliseconds, of the clock for T_req and T_resp (AMB-05)."""
    max_requests: int = 3
    """Largest number of entries in a repair request; the specification recommends at most 3 (AMB-86)."""
    forgets_requests: bool = False
    """Remove the entry of a missing message once it was requested, instead of requesting it with every later message
    until it arrives (AMB-68)."""
    requests_expire: bool = False
    """Stop requesting a missing message T_max after its T_req (AMB-81)."""
    answers_at_once: bool = False
    """Broadcast a response that is already due when the request arrives, not only on the sweep (AMB-113)."""
    needs_sender: bool = False
    """Ignore requests that name no sender, instead of using the sender of the cached message (AMB-72)."""
    pauses_after_answers: bool = False
    """For T_min after a response, ignore new requests for the same message (AMB-80)."""
    copies_keep_requests: bool = False
    """Send a response with the repair request of the original message (AMB-67)."""

    def __post_init__(self) -> None:
        _need(self.t_min_ms >= 0, "t_min_ms must not be negative")
        _need(self.t_max_ms > self.t_min_ms, "t_max_ms must be greater than t_min_ms: T_req is a backoff between them")
        _need(self.num_response_groups >= 1, "num_response_groups must be at least 1: every message needs responders")
        _need(self.clock_ms >= 1, "clock_ms must be at least 1: times are whole milliseconds")
        _need(self.max_requests >= 1, "max_repair_requests must be at least 1: otherwise nothing is ever requested")

    @property
    def unit_ms(self) -> int:
        """The unit, in milliseconds, in which T_req and T_resp are computed."""
        return 1_000 if self.whole_seconds and self.t_min_ms % 1_000 == self.t_max_ms % 1_000 == 0 else 1


@dataclass(frozen=True, slots=True)
class Config:
    """Configuration of a participant. Times are in milliseconds; ``None`` disables a feature."""

    revision: Revision = SDS_2026_01

    causal_history_size: int = 2
    """Message IDs in a causal history; the specification recommends two ("Send Message")."""
    causal_history_varies: bool = False
    """While the log has an odd number of messages, causal histories have ``causal_history_size`` + 1 IDs. The model
    declares no size of causal histories then."""
    causal_history_descending: bool = False
    """Causal histories start with the newest ID instead of the oldest; the specification says "ordered" (AMB-29)."""

    bloom_profile: BloomProfile = WAKU_SDS_JS
    """Hash and encoding of the filter (AMB-54)."""
    bloom_capacity: int = 10_000
    bloom_error_rate: float = 0.001
    bloom_retained: float = 0.5
    """Share of the capacity, filled with the newest IDs, that is kept at a roll-over (AMB-55)."""
    own_ids_in_filter: OwnIds = OwnIds.AFTER_SENDING
    ephemeral_ids_in_filter: bool = False
    """Insert the IDs of ephemeral messages into the filter, as "Receive Message" requires, although ephemeral messages
    have "no synchronization" (AMB-36)."""

    resend_unacknowledged_ms: int = 30_000
    """Resend period of unacknowledged messages, "a set period" ("Periodic Outgoing Buffer Sweep", AMB-63)."""
    resend_possibly_acknowledged_ms: int | None = 90_000
    """Resend period of possibly acknowledged messages; None never resends them (AMB-66)."""
    possible_ack_threshold: int | None = None
    """This many filter hits make a message *acknowledged* ("Review ACK Status", a MAY); at least 2 (AMB-57)."""

    review_duplicates: bool = False
    """Review the ACK status with duplicates as well (AMB-23)."""
    cascade_on_receive: bool = True
    """Deliver buffered messages as soon as their dependencies are met, not only on the sweep (AMB-94)."""
    incoming_sweep_ms: int = 0
    """Period of the incoming buffer sweep; 0 means every tick."""
    lost_timeout_ms: int | None = None
    """Mark dependencies as irretrievably lost when they were unmet for this long (a MAY)."""
    drops_the_lost: bool = False
    """Drop messages whose dependencies are irretrievably lost, instead of delivering them (AMB-92)."""
    buffer_syncs: bool = False
    """Keep sync messages with unmet dependencies in the incoming buffer until these are met (AMB-42)."""

    sync_interval_ms: int | None = 30_000
    """Period of automatic sync messages per channel ("Periodic Sync Message")."""
    sync_backoff_ms: int = 0
    """Random backoff that the caller chose, added to every sync interval; the model has no randomness."""
    sync_only_when_quiet: bool = False
    """Count the sync interval from the last message of any participant in the channel (a MAY, AMB-102)."""
    sync_with_empty_log: bool = True
    """Send a sync message even if the log is empty (AMB-103)."""

    sds_r: bool = False
    """Use the optional extension "SDS Repair (SDS-R)"."""
    repair: RepairConfig = field(default_factory=RepairConfig)

    creates_channels: bool = False
    """Join the unknown channel of a message that arrives, instead of ignoring the message (AMB-48)."""
    max_lamport_ahead_ms: int | None = None
    """Reject messages whose Lamport timestamp is further ahead of the current time than this (AMB-107)."""

    def __post_init__(self) -> None:
        _need(self.causal_history_size >= 1, "causal_history_size must be at least 1: otherwise no order is known")
        _need(
            0 < self.bloom_retained < 1,
            "bloom_retained must lie between 0 and 1: it is the share of IDs that a roll-over keeps",
        )
        _need(self.resend_unacknowledged_ms > 0, "resend_unacknowledged_ms must be positive")
        _need(_positive(self.resend_possibly_acknowledged_ms), "resend_possibly_acknowledged_ms must be positive")
        threshold = self.possible_ack_threshold
        _need(
            threshold is None or threshold >= 2,
            "possible_ack_threshold must be at least 2: one filter hit can be a false positive",
        )
        _need(_positive(self.lost_timeout_ms), "lost_timeout_ms must be positive")
        _need(_positive(self.sync_interval_ms), "sync_interval_ms must be positive")
        _need(self.incoming_sweep_ms >= 0 and self.sync_backoff_ms >= 0, "periods must not be negative")

    @property
    def bloom_parameters(self) -> BloomParameters:
        """The size of the filters, and their number of hash functions."""
        return BloomParameters.sized(self.bloom_capacity, self.bloom_error_rate)

    @property
    def bloom_retained_ids(self) -> int:
        """The number of newest IDs that stay in a filter at a roll-over: at least 1, or 0 if the capacity is 1."""
        return max(1, int(self.bloom_capacity * self.bloom_retained)) if self.bloom_capacity > 1 else 0


def _need(holds: bool, sentence: str) -> None:
    if not holds:
        raise ConfigurationError(sentence)


def _positive(period_ms: int | None) -> bool:
    return period_ms is None or period_ms > 0


def bloom_profile(name: str) -> BloomProfile:
    """The bloom profile called ``name``."""
    if name not in PROFILES:
        raise ConfigurationError(f"no bloom profile {name!r}: known are {', '.join(PROFILES)}")
    return PROFILES[name]
