"""The configuration of a peer: choices that the specification leaves open.

The defaults are the positions of the suite.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .errors import ConfigurationError
from .signing import RSA_PKCS1_SHA256, SignatureProfile


class AccessLevel(Enum):
    """Whether a peer may change records, or only read them (section "Access Levels")."""

    READ_WRITE = "read_write"
    READ_ONLY = "read_only"


class Resolution(Enum):
    """How a conflict is resolved ("Applications need to decide", CA-8)."""

    LARGEST_TIME = "largest update_time"
    """Rule: "The default way": the version with the larger update_time wins. No peer writes a change, because all peers
    choose the same winner."""
    MERGE = "merge"
    """Two objects are merged into one with the members of both. The result is a change, unless it equals the winner."""
    SEPARATE = "separate"
    """The loser of the conflict is stored as a separate record. Its new uuid and key are the same on all peers."""


class LoserOfKey(Enum):
    """The peers that delete the record with the smaller update_time when two records have one key (CSDB-38)."""

    NOBODY = "nobody"
    """The record is hidden while another record has its key. The stored records decide which one is visible, so all
    peers agree."""
    ITS_WRITER = "its writer"
    EVERYBODY = "everybody"


class Relay(Enum):
    """How a read-write peer passes on a signed change to read-only peers (CA-2)."""

    SIGNS_AGAIN = "signs again"
    REPEATS = "repeats the original"


@dataclass(frozen=True, slots=True)
class Config:
    """Configuration of a peer."""

    signature_profile: SignatureProfile = RSA_PKCS1_SHA256
    """Padding and hash of signatures, which the specification does not name."""
    signs_always: bool = False
    """Sign updates to read-write peers as well ("it's not necessary", CSDB-17)."""
    relay: Relay = Relay.SIGNS_AGAIN

    first_revision: int = 2
    """Revision of the first local change, 1 or 2. The counter "starts with one" and "is incremented by one": read
    literally, the first change has 2 (CA-4)."""
    time_digits: int = 3
    """Digits after the point in an own update_time, 0 to 9."""
    advancing_times: bool = True
    """A change has a later time than the changed record, even if the peer's clock is behind.

    Without this, peers can end with different records if a clock is wrong. Example: a second version has an earlier
    time than the first version, which it replaces, and a third version is concurrent to both. A peer that receives the
    third version between the two others picks another winner (CA-8).
    """
    writes_deleted_false: bool = False
    """Updates of records that are not deleted contain ``"deleted": false`` (CSDB-13)."""

    clock_per_peer: bool = False
    """One logical clock for all records of a peer, instead of one for each record (CA-7)."""
    clocks_count_hops: bool = False
    """Count sending and receiving (rules 3 and 4 in ``logical_clock``) in the vector clock of the record immediately,
    also for changes of others.

    By default, a peer counts them in the clock of its next own change, so a change has the same clock on all peers.
    With this option, a change can look concurrent to the change that it replaces, on a peer that received the two by
    different paths.
    """

    sends_unrequested: bool = False
    """Send updates also to links that have not sent database.get_updates (CA-1).

    An update before the answer to the request is out of order: if the link then breaks, the client has received a
    revision without the earlier ones, and never requests them (CA-5). So such peers can fail to
    converge.
    """
    echoes: bool = False
    """Send updates back to the peer that they came from ("as an optimization, implementations shouldn't", CSDB-21)."""
    asks_on_every_link: bool = False
    """Send database.get_updates also on a second link to a peer ("only one should be subscribed", CSDB-36)."""

    resolution: Resolution = Resolution.LARGEST_TIME
    loser_of_key: LoserOfKey = LoserOfKey.NOBODY

    def __post_init__(self) -> None:
        if self.first_revision not in (1, 2):
            raise ConfigurationError("first_revision must be 1 or 2: the counter starts with one")
        if not 0 <= self.time_digits <= 9:
            raise ConfigurationError("time_digits must be from 0 to 9: times are counted in nanoseconds")
