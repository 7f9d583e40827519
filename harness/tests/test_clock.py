"""The time of an implementation is moved from outside if that works; otherwise a probe reports the reason."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import pytest

import system_clock
from sds_harness import clock
from sds_harness.clock import ClockedLink, ClockProbe, Faketime, MissingClockLibraryError, find_library
from sds_harness.declaration import Declaration, OutsideClock
from sds_harness.link import Limits, LocalLink, StdioLink
from sds_harness.sds.clock import DAY_MS, probe_clock
from sds_harness.sds.language import SDS, open_session
from sds_harness.sds.stage import Stage
from sds_harness.session import Session
from sds_harness.stage import START_MS, ScheduleStoppedError
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config
from sds_reference.testee.server import Testee, TesteeOptions
from sds_reference.variants import VARIANTS
from sds_testee.framing import Framing
from waku_adapter import waku_command

LIMITS = Limits(start_s=20, command_s=10, exit_s=5)
CURRENT = "sds-2026-01"
LEAKS = Path("/dev/shm")


def start(command: Sequence[str], variables: Mapping[str, str]) -> StdioLink:
    return StdioLink(command, Framing.JSON, LIMITS, variables)


def from_the_wire(session: Session) -> ClockProbe:
    return probe_clock(session, None)


def from_outside(probe: Callable[[Session], ClockProbe] = from_the_wire) -> Faketime:
    try:
        return Faketime(find_library(), CURRENT, SDS, probe, LIMITS)
    except MissingClockLibraryError as error:
        pytest.skip(str(error))


def declared_by(*command: str, variables: Mapping[str, str] | None = None) -> Declaration:
    """The declaration of an implementation whose time should be moved from outside."""
    moving = from_outside()
    session = Session(lambda: moving.connect(partial(start, command), variables or {}), LIMITS, CURRENT, SDS)
    session.close()
    return session.declaration


def sent_at(stage: Stage, now_ms: int) -> int | None:
    """The Lamport timestamp of a message that a new participant sends at that time."""
    stage.now_ms = now_ms
    return stage.open(f"alice-{now_ms}").send().lamport_timestamp


def why_not(declared: Declaration) -> str:
    assert declared.outside_clock is not None
    assert not declared.outside_clock.moves
    assert not declared.can(pb.CAPABILITY_VIRTUAL_CLOCK)
    return declared.outside_clock.why_not


# ---- Implementations whose time can be moved -------------------------------------------------------------------------


@pytest.mark.parametrize("zone", ["UTC", "Europe/Istanbul", "America/St_Johns", "Europe/Berlin"])
def test_a_clock_shows_each_time_to_the_millisecond_in_every_zone(zone: str) -> None:
    moving = from_outside(lambda session: ClockProbe())
    link = moving.connect(partial(start, system_clock.COMMAND), {"TZ": zone})
    stage = Stage(Session(lambda: link, LIMITS, CURRENT, SDS), "a schedule")
    # An hour that occurs twice in Berlin, times before and after the present, and fractions that no double can
    # represent.
    twice = (1_792_893_600_001, 1_792_897_200_001)
    times = [START_MS, 86_400_000, START_MS + 123, *twice, START_MS + 999, 4_294_967_296_007, START_MS - 1]
    assert [sent_at(stage, now_ms) for now_ms in times] == [now_ms + 1 for now_ms in times]
    stage.session.close()


def test_who_reads_the_clock_of_the_system_gets_a_virtual_one() -> None:
    declared = declared_by(*system_clock.COMMAND)
    assert declared.can(pb.CAPABILITY_VIRTUAL_CLOCK)
    assert declared.outside_clock == OutsideClock(True, "libfaketime's, moved from outside before each command")


def test_monotonic_time_is_moved_for_who_needs_it() -> None:
    declared = declared_by(*system_clock.COMMAND, system_clock.MONOTONIC)
    assert declared.can(pb.CAPABILITY_VIRTUAL_CLOCK)
    assert declared.outside_clock is not None
    assert (
        declared.outside_clock.described == "libfaketime's, moved from outside before each command, like monotonic time"
    )


def test_a_program_in_node_reads_it_too(tmp_path: Path) -> None:
    node, adapter = waku_command()
    undone = tmp_path / "undone.mjs"
    # The adapter normally sets the clock of the library to the time in the commands, and declares that. In this test it
    # does not.
    undone.write_text("""
const now = Date.now, write = process.stdout.write.bind(process.stdout);
Object.defineProperty(Date, "now", { get: () => now, set: () => {} });
process.stdout.write = (line, ...rest) => write(line.replace('"CAPABILITY_VIRTUAL_CLOCK",', ""), ...rest);
""")
    command = [node, "--import", undone.as_uri(), adapter]
    bare = open_session(lambda: start(command, {}), LIMITS, CURRENT)
    assert not bare.declaration.can(pb.CAPABILITY_VIRTUAL_CLOCK)
    bare.close()
    assert declared_by(*command).can(pb.CAPABILITY_VIRTUAL_CLOCK)


def test_who_declares_a_virtual_clock_keeps_its_own() -> None:
    declared = declared_by(sys.executable, "-m", "sds_reference")
    assert declared.can(pb.CAPABILITY_VIRTUAL_CLOCK)
    assert declared.outside_clock == OutsideClock(
        False, "the implementation's own, as declared: the suite does not move it"
    )


# ---- Implementations whose time cannot be moved ----------------------------------------------------------------------


def test_who_is_deaf_to_the_library_is_found_out() -> None:
    declared = declared_by(*system_clock.COMMAND, system_clock.DEAF)
    assert "Its Lamport timestamps do not follow the clock" in why_not(declared)
    skipped = declared.why_skipped(["observe", "virtual-clock"])
    assert skipped.startswith("not declared: observe; --clock faketime: time does not move for this implementation (")


def test_who_does_not_run_under_the_library_runs_without_it() -> None:
    declared = declared_by(*system_clock.COMMAND, system_clock.SHY)
    reason = "the implementation breaks down under libfaketime: the process ended with "
    assert why_not(declared).startswith(f"--clock faketime: {reason}")


def test_timers_that_stand_still_are_named() -> None:
    assert why_not(declared_by(*system_clock.COMMAND, system_clock.IDLE)) == (
        "--clock faketime: the clock of this implementation moves, its timers do not (nothing is resent in 3 days "
        "of virtual time; do not declare `resend` if that never happens)"
    )


# ---- Probes of unusual implementations -------------------------------------------------------------------------------


def seen_of(config: Config, participant: type) -> ClockProbe:
    testee = Testee(TesteeOptions("1", config, participant))
    return probe_clock(open_session(lambda: LocalLink(testee.handle), LIMITS, CURRENT), None)


def test_the_clock_of_every_legal_variant_is_seen_to_move() -> None:
    for name, variant in VARIANTS.items():
        if name != "answers-repairs-only":
            assert seen_of(variant.configure(Config()), variant.participant_class) == ClockProbe(), name


def test_nothing_on_the_wire_of_the_proposal_shows_a_clock() -> None:
    testee = Testee(TesteeOptions("1"))
    session = open_session(lambda: LocalLink(testee.handle), LIMITS, "forum-2024")
    assert probe_clock(session, None).clock == "no field on the wire of this revision depends on the clock"


# ---- Cleanup and requirements ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [ClockedLink.close, ClockedLink.kill])
def test_nothing_is_left_behind(
    end: Callable[[ClockedLink], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    pids: list[int] = []

    def noted(variables: Mapping[str, str]) -> StdioLink:
        link = start(system_clock.COMMAND, variables)
        pids.append(link.pid)
        return link

    link = from_outside().connect(noted, {})
    assert isinstance(link, ClockedLink)
    assert any(tmp_path.iterdir())
    session = Session(lambda: link, LIMITS, CURRENT, SDS)
    Stage(session, "a schedule").open().send()
    end(link)
    assert len(pids) == 2
    assert not any(tmp_path.iterdir())
    assert not [path.name for path in LEAKS.glob("*faketime_*") if path.name.rpartition("_")[2] in map(str, pids)]


def test_the_library_of_the_system_serves_where_the_package_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "find_spec", lambda name: None)
    try:
        found = find_library()
    except MissingClockLibraryError:
        pytest.skip("the system has none: apt-get install faketime")
    assert found.parent.name == "faketime"
    assert "site-packages" not in found.parts


def test_a_library_for_another_processor_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "_machine", lambda file: b"\x3e\x00" if file == Path(sys.executable) else b"\xb7\x00")
    with pytest.raises(MissingClockLibraryError) as output:
        find_library()
    assert str(output.value) == (
        "--clock faketime needs libfaketime: pip install 'sds-conformance[clock]', or apt-get install faketime"
    )


def test_it_is_for_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(MissingClockLibraryError, match="works on Linux only"):
        find_library()


def test_nothing_is_played_after_the_year_9999() -> None:
    link = from_outside(lambda session: ClockProbe()).connect(partial(start, system_clock.COMMAND), {})
    stage = Stage(Session(lambda: link, LIMITS, CURRENT, SDS), "a schedule")
    stage.advance(200_000 * 366 * DAY_MS // 1_000)
    with pytest.raises(ScheduleStoppedError, match="cannot advance"):
        stage.advance(8_000 * 366 * DAY_MS)
    stage.session.kill()
