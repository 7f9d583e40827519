"""SDS-R and periodic sync messages: what is due to be asked for is said in them, whether or not others are quiet."""

from __future__ import annotations

from repair_peers import SECOND, T_MAX, U, asks, of_bob, repairing, requesting
from scripted_peers import T, content, copies, joined, lamport, log, sync
from sds_reference import Config, Kind, Participant, decode

QUIET_SYNCS = Config(
    sds_r=True,
    repair=repairing(requesting(u=5 * SECOND)).repair,
    sync_interval_ms=20 * SECOND,
    sync_only_when_quiet=True,
    resend_unacknowledged_ms=10**12,
)


def sync_times(alice: Participant, since_ms: int, until_ms: int) -> dict[int, list[str]]:
    """The seconds after T of the sync messages while another participant sends every five seconds, and their
    requests."""
    times: dict[int, list[str]] = {}
    for after in range(since_ms, until_ms, SECOND):
        if after % (5 * SECOND) == 0:
            alice.receive(sync(f"s{after}"), T + after)
        for wire in alice.tick(T + after).broadcasts:
            assert decode(wire).kind is Kind.SYNC
            times[after // SECOND] = [entry.message_id for entry in decode(wire).repair_request]
    return times


def test_a_due_request_waits_for_nobodys_silence() -> None:
    alice = joined(QUIET_SYNCS)
    alice.receive(content("y", *of_bob("u")), T)
    assert U == 35 * SECOND
    assert sync_times(alice, 0, 100 * SECOND) == {35: ["u"], 55: ["u"], 75: ["u"], 95: ["u"]}


def test_without_a_due_request_the_silence_is_waited_for() -> None:
    alice = joined(QUIET_SYNCS)
    assert sync_times(alice, 0, 100 * SECOND) == {}
    alice.receive(content("y", *of_bob("u")), T + 100 * SECOND)
    assert sync_times(alice, 100 * SECOND, 135 * SECOND) == {}
    alice.receive(content("u", at=1, sender="bob"), T + 135 * SECOND - 1)
    assert sync_times(alice, 135 * SECOND, 200 * SECOND) == {}


def test_a_due_request_does_not_hasten_a_sync_message() -> None:
    alice = joined(QUIET_SYNCS)
    alice.receive(content("y", *of_bob("u")), T)
    alice.send("c", b"x", T + 34 * SECOND)
    assert sync_times(alice, 34 * SECOND, 60 * SECOND) == {54: ["u"]}


def test_requests_that_have_expired_lift_nothing() -> None:
    alice = joined(
        Config(
            sds_r=True,
            repair=repairing(requesting(u=5 * SECOND), requests_expire=True).repair,
            sync_interval_ms=20 * SECOND,
            sync_only_when_quiet=True,
            sync_with_empty_log=False,
        )
    )
    alice.receive(sync("s", *of_bob("u")), T)
    assert copies(alice.send_sync("c", T + U + T_MAX)) == []
    assert sync_times(alice, U + T_MAX, U + T_MAX + 60 * SECOND) == {}


def test_a_due_request_is_something_to_say_although_the_log_is_empty() -> None:
    alice = joined(
        Config(sds_r=True, repair=QUIET_SYNCS.repair, sync_interval_ms=30 * SECOND, sync_with_empty_log=False)
    )
    alice.receive(content("y", *of_bob("u")), T)
    before = lamport(alice)
    assert (copies(alice.tick(T + U - 1)), copies(alice.send_sync("c", T + U - 1))) == ([], [])
    assert (lamport(alice), log(alice)) == (before, [])
    assert asks(alice, U) == ["u"]


def test_a_sync_message_with_an_empty_log_asks_as_soon_as_its_period_has_passed() -> None:
    alice = joined(Config(sds_r=True, repair=QUIET_SYNCS.repair, sync_with_empty_log=False))
    alice.receive(content("y", *of_bob("u")), T)
    asking_at = [after for after in range(0, 120 * SECOND, SECOND) if alice.tick(T + after).broadcasts]
    assert asking_at == [60 * SECOND, 90 * SECOND]
