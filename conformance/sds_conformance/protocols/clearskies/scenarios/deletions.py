"""Deleted records, and versions of them that arrive later (ghosts)."""

from __future__ import annotations

from sds_harness.clearskies.script import Part, Peer, Script

from .conflicts import link_with_record, version
from .scripts import HOUR_MS, request_all, scenario, subscribe

YEAR_MS = 366 * 24 * HOUR_MS


@scenario("56", long=True)
def the_seven_steps(script: Script, alice: Part, alan: Part, anna: Part) -> None:
    """Two of three records are deleted while Anna is away; then Alice leaves, and Anna returns before Alice."""
    first, second = alice.link(alan), alan.link(anna)
    for number in range(3):
        alice.after(1_000).put(f"record-{number}", number)
    script.settle()
    second.cut()
    alice.after(1_000).delete("record-0")
    alice.delete("record-1")
    script.settle()
    first.cut()
    alan.link(anna)
    script.settle()
    alice.link(alan)
    for part in (alice, alan, anna):
        request_all(part)


def _send_deletions(part: Part, bob: Peer, carol: Peer, listener: Peer) -> None:
    """Let Bob send a record and deletions of two records of Carol, while another peer is subscribed."""
    subscribe(part, listener)
    link = link_with_record(part, bob)
    for key in ("door", "gate"):
        version(link, key, None, {bob: 1, carol: 1}, deleted=True)


def _send_ghosts(part: Part, carol: Peer, *, read_only: bool = False) -> None:
    """Let Carol send the deleted records: one with a time after its deletion, the other with a time before it."""
    link = part.link(carol)
    for key, later_ms in (("door", HOUR_MS), ("gate", -HOUR_MS)):
        version(link, key, "there", {carol: 1}, time=later_ms)
    request_all(part, read_only=read_only)


@scenario("56")
def ghosts(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Bob and the application delete records of Carol. Carol sends these records immediately and after a year."""
    _send_deletions(alice, bob, carol, dave)
    roof = carol.update("roof", "whole")
    alice.link(carol).send(roof)
    alice.after(1_000).delete("roof")
    _send_ghosts(alice, carol)
    script.advance(YEAR_MS)
    alice.link(carol).send(roof)
    request_all(alice)


@scenario("56", long=True)
def ghosts_of_many(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """120 records are deleted and the key of one is reused; Carol sends old versions, also after a year."""
    subscribe(alice, dave)
    link = link_with_record(alice, bob)
    script.settle()
    for number in range(120):
        version(link, f"record {number}", None, {bob: 1, carol: 1}, deleted=True)
    request_all(alice)
    link.update("record 0", "another")
    old = alice.link(carol)
    for number in range(3):
        version(old, f"record {number}", "there", {carol: 1})
    request_all(alice)
    script.advance(YEAR_MS)
    script.settle()
    for number in range(3, 6):
        version(old, f"record {number}", "there", {carol: 1})
    request_all(alice)


@scenario("56", long=True)
def ghosts_of_own_records(script: Script, alice: Part, bob: Peer) -> None:
    """The application deletes sixty records; Bob sends some of them again immediately, and others after a year."""
    link = subscribe(alice, bob)
    alice.put("kept", 0)
    records = [alice.put(f"record {number}", number) for number in range(60)]
    script.settle()
    for number in range(60):
        alice.after(1_000).delete(f"record {number}")
    request_all(alice)
    link.send(*records[:2])
    request_all(alice)
    script.advance(YEAR_MS)
    script.settle()
    link.send(*records[2:4])
    request_all(alice)


@scenario("56", long=True)
def ghosts_with_other_keys(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Bob renames a record and deletes it; then Carol sends the record with its old key."""
    link = link_with_record(alice, bob)
    record = "renamed and deleted"
    version(link, "new key", "there", {bob: 1, carol: 1}, record=record)
    script.advance(1_000)
    version(link, "new key", None, {bob: 2, carol: 1}, deleted=True, record=record)
    request_all(alice)
    version(alice.link(carol), "old key", "there", {carol: 1}, record=record)
    request_all(alice)


@scenario("56")
def ghosts_at_a_reader(script: Script, rita: Part, bob: Peer, carol: Peer, ruth: Peer) -> None:
    """A read-only peer receives deletions, and then old versions of the deleted records."""
    _send_deletions(rita, bob, carol, ruth)
    _send_ghosts(rita, carol, read_only=True)


@scenario("56", "44", "46", store=True, long=True)
def ghosts_after_a_restart(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """A peer receives deletions, restarts, receives old versions, and changes records that it received before."""
    _send_deletions(alice, bob, carol, dave)
    alice.put("roof", "whole")
    request_all(alice)
    alice.reopen()
    _send_ghosts(alice, carol)
    alice.after(1_000).put("lamp", "off")
    alice.put("roof", "open")
    request_all(alice)
