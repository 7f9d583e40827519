"""Requests for updates, and revisions."""

from __future__ import annotations

from .cast import Actor, ScriptedPeer, Stage, listening, scenario


@scenario("26", "29")
def changes_before_anybody_asks(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Changes are made when nobody is there; then somebody asks for all of them."""
    for number in range(3):
        alice.put(f"key-{number}", number)
        stage.advance(1_000)
    listening(alice, bob)
