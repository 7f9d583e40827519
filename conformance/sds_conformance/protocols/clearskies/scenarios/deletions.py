"""Deleted records, and ghosts of them."""

from __future__ import annotations

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.clubs import record_id
from sds_harness.clearskies.peer import iso

from .cast import Actor, ScriptedPeer, Stage, listening, look, scenario
from .conflicts import HOUR_MS, tell, version

YEAR_MS = 366 * 24 * HOUR_MS


@scenario("56", long=True)
def the_seven_steps(stage: Stage, alice: Actor, alan: Actor, anna: Actor) -> None:
    """Three peers know three records, of which one deletes two when the third one is away; then that one comes to the
    second one, who knows, and at last the first one comes back."""
    first, second = alice.link(alan), alan.link(anna)
    for number in range(3):
        alice.after(1_000).put(f"record-{number}", number)
    stage.settle()
    second.cut()
    alice.after(1_000).delete("record-0")
    alice.delete("record-1")
    stage.settle()
    first.cut()
    alan.link(anna)
    stage.settle()
    alice.link(alan)
    for actor in (alice, alan, anna):
        look(actor)


def _delete(actor: Actor, bob: ScriptedPeer, carol: ScriptedPeer, listener: ScriptedPeer) -> None:
    """Somebody has deleted two records of Carol's, and tells of that and of one that is there; another one listens."""
    listening(actor, listener)
    told = actor.link(bob)
    tell(told, bob.update("lamp", "on"))
    for key in ("door", "gate"):
        tell(told, version(bob, key, None, {bob.peer_id: 1, carol.peer_id: 1}, deleted=True))


def _haunt(stage: Stage, actor: Actor, carol: ScriptedPeer, *, read_only: bool = False) -> None:
    """Carol has not heard of that: the one record is dated after its deletion, the other one before it."""
    told = actor.link(carol)
    for key, later_ms in (("door", HOUR_MS), ("gate", -HOUR_MS)):
        tell(told, version(carol, key, "there", {carol.peer_id: 1}, update_time=iso(stage.now_ms + later_ms)))
    look(actor, read_only=read_only)


@scenario("56")
def ghosts(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer, dave: ScriptedPeer) -> None:
    """Somebody has deleted records, and the application deletes one; then who had them all comes back, and after a year
    once more."""
    _delete(alice, bob, carol, dave)
    roof = carol.update("roof", "whole")
    tell(alice.link(carol), roof)
    alice.after(1_000).delete("roof")
    _haunt(stage, alice, carol)
    stage.advance(YEAR_MS)
    tell(alice.link(carol), roof)
    look(alice)


@scenario("56", long=True)
def ghosts_of_many(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer, dave: ScriptedPeer) -> None:
    """Forty records are deleted, the key of one is taken, and a year passes; then who had the first ones comes back."""
    listening(alice, dave)
    told = alice.link(bob)
    tell(told, bob.update("lamp", "on"))
    stage.settle()
    clock = {bob.peer_id: 1, carol.peer_id: 1}
    for number in range(40):
        tell(told, version(bob, f"record {number}", None, clock, deleted=True))
    look(alice)
    tell(told, bob.update("record 0", "another"))
    old, ghosts = {carol.peer_id: 1}, alice.link(carol)
    tell(ghosts, *(version(carol, f"record {number}", "there", old) for number in range(3)))
    look(alice)
    stage.advance(YEAR_MS)
    stage.settle()
    tell(ghosts, *(version(carol, f"record {number}", "there", old) for number in range(3, 6)))
    look(alice)


@scenario("56", long=True)
def ghosts_with_other_keys(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Bob renames a record and deletes it; then Carol sends it with its old key."""
    told = alice.link(bob)
    tell(told, bob.update("lamp", "on"))
    uuid, clock = record_id("renamed and deleted"), {bob.peer_id: 2, carol.peer_id: 1}
    tell(told, version(bob, "new key", "there", {bob.peer_id: 1, carol.peer_id: 1}, uuid=uuid))
    stage.advance(1_000)
    tell(told, version(bob, "new key", None, clock, deleted=True, uuid=uuid))
    look(alice)
    tell(alice.link(carol), version(carol, "old key", "there", {carol.peer_id: 1}, uuid=uuid))
    look(alice)


@scenario("56", needs=(pb.CAPABILITY_READ_ONLY,))
def ghosts_at_a_reader(stage: Stage, rita: Actor, bob: ScriptedPeer, carol: ScriptedPeer, ruth: ScriptedPeer) -> None:
    """A read-only peer hears of deletions, and then of what was deleted."""
    _delete(rita, bob, carol, ruth)
    _haunt(stage, rita, carol, read_only=True)


@scenario("56", "44", "46", needs=(pb.CAPABILITY_STORE,), store=True, long=True)
def ghosts_after_a_restart(
    stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer, dave: ScriptedPeer
) -> None:
    """A peer hears of deletions, is started again, hears of what was deleted, and changes what was there before."""
    _delete(alice, bob, carol, dave)
    alice.put("roof", "whole")
    look(alice)
    alice.reopen()
    _haunt(stage, alice, carol)
    alice.after(1_000).put("lamp", "off")
    alice.put("roof", "open")
    look(alice)
