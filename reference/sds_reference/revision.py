"""Revisions of the SDS specification that the model supports.

A revision is data: code that depends on it reads a property.
"""

from __future__ import annotations

from dataclasses import dataclass

from .wire_formats import FORUM_2024 as FORUM_WIRE
from .wire_formats import V2026_01, WireFormat


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of the specification. The defaults are those of the current SDS."""

    name: str
    title: str
    prefix: str = "SDS"
    """Prefix of the IDs of the requirements of the revision, such as SDS in SDS-RECV-06."""
    wire: WireFormat = V2026_01
    """Encoding of messages (section "Message")."""
    lamport_follows_clock: bool = True
    """Lamport timestamps start at the epoch time and are never behind it ("Participant state", "Send Message").
    Otherwise they start at 0 and count."""
    sync_advances_lamport: bool = True
    """A sync message increases the Lamport timestamp. If False, it carries the current timestamp ("Periodic Sync")."""
    syncs_are_logged: bool = False
    """Sync messages are received like all other messages: they enter the filter, and the log or the incoming buffer
    ("Receive Message")."""
    histories_are_ordered: bool = True
    """A causal history is an ordered list ("Send Message"); otherwise the order of its IDs has no meaning."""
    retrieval_hints: bool = True
    """Causal histories may carry retrieval hints."""
    repairs: bool = True
    """The optional extension SDS-R exists."""
    requests_again: bool = False
    """A received message creates a new entry in the outgoing repair request buffer for every unmet dependency that has
    no entry. If False, only for the dependencies that this message names ("SDS-R receive message")."""

    def lamport_floor(self, now_ms: int) -> int:
        """The minimum of a Lamport timestamp at the epoch time ``now_ms``, and its value in a new channel."""
        return now_ms if self.lamport_follows_clock else 0


SDS_2026_01 = Revision("sds-2026-01", "SDS, as published up to August 2026")
SDS_2025_10_AMENDED = Revision(
    "sds-2025-10-amended", "SDS as of October 2025 with an amended receive step of SDS-R", requests_again=True
)
FORUM_2024 = Revision(
    "forum-2024",
    "the proposal of 2024, a separate protocol from which SDS grew",
    prefix="FORUM",
    wire=FORUM_WIRE,
    lamport_follows_clock=False,
    sync_advances_lamport=False,
    syncs_are_logged=True,
    histories_are_ordered=False,
    retrieval_hints=False,
    repairs=False,
)

REVISIONS: dict[str, Revision] = {
    revision.name: revision for revision in (SDS_2026_01, SDS_2025_10_AMENDED, FORUM_2024)
}
"""The revisions by name, the current one first."""
