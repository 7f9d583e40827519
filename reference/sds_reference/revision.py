"""Revisions of the SDS text that the model speaks. A revision is data: each rule that differs asks for its property."""

from __future__ import annotations

from dataclasses import dataclass

from .wire_formats import FORUM_2024 as FORUM_WIRE
from .wire_formats import V2026_01, WireFormat


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of the text. The defaults are what SDS says."""

    name: str
    title: str
    prefix: str = "SDS"
    """With what the IDs of its requirements begin."""
    wire: WireFormat = V2026_01
    """How messages stand in bytes (section "Message")."""
    lamport_follows_clock: bool = True
    """Lamport timestamps start at the epoch time and never fall behind it ("Participant state", "Send Message");
    otherwise they start at 0 and count."""
    sync_advances_lamport: bool = True
    """A sync message increases the Lamport timestamp; otherwise it carries the one there is ("Periodic Sync")."""
    syncs_are_logged: bool = False
    """Sync messages are received like all others: into filter and log, or into the buffer ("Receive Message")."""
    histories_are_ordered: bool = True
    """A causal history is an ordered list ("Send Message"); otherwise the order of its IDs says nothing."""
    retrieval_hints: bool = True
    """Causal histories may help to find what they name."""
    repairs: bool = True
    """There is the optional extension SDS-R."""
    requests_again: bool = False
    """A received message gives every unmet dependency without an entry in the outgoing repair request buffer a new
    one; otherwise only those it names itself ("SDS-R receive message")."""

    def lamport_floor(self, now_ms: int) -> int:
        """What a Lamport timestamp starts at, and never falls behind, at an epoch time in milliseconds."""
        return now_ms if self.lamport_follows_clock else 0


SDS_2026_01 = Revision("sds-2026-01", "SDS, the text as published up to August 2026")
SDS_2025_10_AMENDED = Revision(
    "sds-2025-10-amended", "SDS as of October 2025 with an amended receive step of SDS-R", requests_again=True
)
FORUM_2024 = Revision(
    "forum-2024",
    "the proposal of 2024 that SDS grew from, a protocol of its own",
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
