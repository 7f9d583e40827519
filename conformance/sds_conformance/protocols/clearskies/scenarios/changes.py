"""Record changes: what a peer tells others of what its application does."""

from __future__ import annotations

from .cast import Actor, ScriptedPeer, Stage, listening, scenario


@scenario("01", "14", "26", "29")
def changes_spread(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Two peers ask for updates and get every change: two records, one written again, one deleted."""
    for peer in (bob, carol):
        listening(alice, peer)
    alice.put("photo-1", {"camera": "NIKON", "taken": "2014"})
    alice.after(1_000).put("photo-2", {"camera": "Leica"})
    alice.after(1_000).put("photo-1", {"camera": "NIKON", "taken": "2015"})
    alice.after(1_000).delete("photo-2")
