"""The benchmark repair_storms.py computes what real participants, with real messages under virtual time, do."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from sds_reference import (
    HASH_PROFILES,
    AfterRequest,
    Config,
    Message,
    Participant,
    RepairConfig,
    decode,
    default_response_groups,
)

CHANNEL = "c1"
START_MS = 1_800_000_000_000
LONG_AGO_MS = -1_000_000
NEVER_MS = 10**9


def load_benchmark() -> ModuleType:
    """Benchmarks are scripts in no package."""
    path = Path(__file__).parents[2] / "benchmarks" / "repair_storms.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from benchmarks import repair_storms as storms
else:
    storms = load_benchmark()


class Network:
    """Virtual time, and a broadcast network that loses nothing; at the same moment, messages arrive before all else."""

    def __init__(self, delay_ms: int) -> None:
        self.delay_ms = delay_ms
        self.members: list[Participant] = []
        self.sent: list[tuple[int, Message]] = []
        self._events: list[tuple[int, bool, int, Callable[[int], None]]] = []
        self._serial = count()

    def at(self, now_ms: int, do: Callable[[int], None], *, arrival: bool = False) -> None:
        heappush(self._events, (now_ms, not arrival, next(self._serial), do))

    def every(self, period_ms: int, phase_ms: int, do: Callable[[int], list[bytes]], sender: Participant) -> None:
        """From the start on, ``sender`` broadcasts what ``do`` returns at that phase of every period."""

        def turn(now_ms: int) -> None:
            for wire in do(START_MS + now_ms):
                self.broadcast(sender, wire, now_ms)
            self.at(now_ms + period_ms, turn)

        self.at(phase_ms, turn)

    def broadcast(self, sender: Participant, wire: bytes, now_ms: int) -> None:
        self.sent.append((now_ms, decode(wire)))

        def arrive(then_ms: int) -> None:
            for member in self.members:
                if member is not sender:
                    assert not member.receive(wire, START_MS + then_ms).broadcasts

        self.at(now_ms + self.delay_ms, arrive, arrival=True)

    def run(self, until_ms: int) -> None:
        while self._events[0][0] < until_ms:
            now_ms, _, _, do = heappop(self._events)
            do(now_ms)

    def copies(self, message_id: str) -> list[int]:
        return [now_ms for now_ms, message in self.sent if message.message_id == message_id]

    def requests(self, message_id: str) -> list[int]:
        return [now_ms for now_ms, message in self.sent if message_id in asked_by(message)]


def asked_by(message: Message) -> set[str]:
    return {entry.message_id for entry in message.repair_request}


def config(profile: str, t_max_ms: int, groups: int = 1) -> Config:
    """Each asks once, nothing is resent by its sender, and syncs are sent by hand."""
    repair = RepairConfig(
        t_min_ms=storms.T_MIN_MS,
        t_max_ms=t_max_ms,
        num_response_groups=groups,
        hash_profile=HASH_PROFILES[profile],
        after_request=AfterRequest.NEVER_AGAIN,
    )
    return Config(
        sds_r=True,
        repair=repair,
        bloom_capacity=10,
        resend_unacknowledged_ms=NEVER_MS,
        resend_possibly_acknowledged_ms=None,
        sync_interval_ms=None,
    )


def members(ids: list[str], settings: Config) -> Iterator[Participant]:
    for each in ids:
        participant = Participant(each, settings)
        participant.join(CHANNEL, START_MS + LONG_AGO_MS)
        yield participant


def sent_two(sender: Participant, message_id: str, now_ms: int) -> list[bytes]:
    """The message to miss, and another that depends on it."""
    first = sender.send(CHANNEL, b"first", START_MS + now_ms, message_id)
    return first.broadcasts + sender.send(CHANNEL, b"second", START_MS + now_ms).broadcasts


def modelled_requests(trial: storms.Trial, setting: storms.Asking, missing: int, delay_ms: int) -> list[int]:
    """All but the sender miss the message, notice at 0, and sync until they have it."""
    settings = config(trial.profile.name, setting.t_max_ms)
    network = Network(delay_ms)
    network.members = list(members([trial.sender_id, *trial.ids[:missing]], settings))
    sender, *others = network.members
    network.every(1_000, 0, lambda now_ms: sender.tick(now_ms).broadcasts, sender)
    _, second = sent_two(sender, trial.message_id, -delay_ms)
    network.broadcast(sender, second, -delay_ms)
    period = setting.every_ms
    for participant, own_phase in zip(others, trial.phases, strict=False):
        phase = trial.phase if setting.in_step else own_phase

        def sync(now_ms: int, participant: Participant = participant) -> list[bytes]:
            return participant.send_sync(CHANNEL, now_ms).broadcasts

        network.every(period, int(phase * period), sync, participant)
    until_ms = 0
    while not network.copies(trial.message_id):
        until_ms += 1_000
        network.run(until_ms)
    network.run(until_ms + 2 * delay_ms)
    assert all(participant.channel(CHANNEL).has_arrived(trial.message_id) for participant in others)
    return network.requests(trial.message_id)


def modelled_responses(
    trial: storms.Trial, setting: storms.Answering, holders: int, delay_ms: int, online: bool
) -> list[int]:
    """One asks at 0; the others have got the message long ago."""
    groups = default_response_groups(setting.groups_for or holders)
    settings = config(trial.profile.name, setting.t_max_ms, groups)
    (sender, asking, *others) = members([trial.sender_id, "asks", *trial.ids[:holders]], settings)
    network = Network(delay_ms)
    network.members = [asking, *others, *([sender] if online else [])]
    wires = sent_two(sender, trial.message_id, LONG_AGO_MS)
    for participant in others:
        for wire in wires:
            participant.receive(wire, START_MS + LONG_AGO_MS)
    asking.receive(wires[1], START_MS + LONG_AGO_MS)
    (request,) = asking.send_sync(CHANNEL, START_MS).broadcasts
    assert asked_by(decode(request)) == {trial.message_id}
    network.broadcast(asking, request, 0)
    sweeping = [*zip(others, trial.phases, strict=False), *([(sender, trial.phase)] if online else [])]
    for participant, own_phase in sweeping:
        phase = trial.phase if setting.in_step else own_phase

        def sweep(now_ms: int, participant: Participant = participant) -> list[bytes]:
            return participant.tick(now_ms).broadcasts

        network.every(setting.sweep_ms, int(phase * setting.sweep_ms), sweep, participant)
    network.run(setting.t_max_ms + setting.sweep_ms + delay_ms + 1)
    return network.copies(trial.message_id)


@pytest.mark.parametrize("profile", HASH_PROFILES)
@pytest.mark.parametrize(
    ("missing", "every_ms", "delay_ms", "in_step"),
    [
        (2, 30_000, 200, False),
        (50, 30_000, 200, False),
        (20, 30_000, 9_000, False),
        (30, 30_000, 200, True),
        (10, 1_000, 200, False),
        (10, 1_000, 4_000, False),
    ],
)
def test_requests_are_those_of_real_participants(
    profile: str, missing: int, every_ms: int, delay_ms: int, in_step: bool
) -> None:
    setting = storms.Asking("", every_ms, in_step=in_step)
    trial = storms.Trial(7, missing, HASH_PROFILES[profile], missing)
    expected = trial.requests(setting, missing, delay_ms)
    assert modelled_requests(trial, setting, missing, delay_ms) == expected
    assert len(expected) > 1 or delay_ms < 9_000, "a long delay is there to let several ask"


@pytest.mark.parametrize("online", [True, False], ids=["online", "gone"])
@pytest.mark.parametrize("profile", HASH_PROFILES)
@pytest.mark.parametrize(
    ("holders", "delay_ms", "options"),
    [
        (1, 200, {}),
        (50, 200, {}),
        (50, 3_000, {"sweep_ms": 5_000}),
        (30, 200, {"sweep_ms": 5_000, "in_step": True}),
        (20, 200, {"sweep_ms": 30_000, "t_max_ms": 40_000, "groups_for": 400}),
        (2, 200, {"groups_for": 10_000}),
    ],
)
def test_responses_are_those_of_real_participants(
    profile: str, holders: int, delay_ms: int, options: dict[str, Any], online: bool
) -> None:
    setting = storms.Answering("", **options)
    trial = storms.Trial(7, holders, HASH_PROFILES[profile], holders)
    expected = trial.responses(setting, holders, delay_ms, sender_online=online)
    assert modelled_responses(trial, setting, holders, delay_ms, online) == expected


def test_a_quota_of_values_is_at_or_below_a_percentile() -> None:
    assert storms.percentile(range(1, 101), 0.95) == 95
    assert storms.percentile([3, 1, 2], 0.5) == 2
    assert storms.percentile([7], 0.95) == 7


def test_the_report_is_the_same_for_the_same_seed_and_fits_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--trials", "2", "--sizes", "200", "1", "--seed"]
    shown = []
    for seed in ("3", "3", "4"):
        assert storms.main([*arguments, seed]) == 0
        shown.append(capsys.readouterr())
    assert shown[0] == shown[1] != shown[2]
    assert max(map(len, shown[0].out.splitlines())) <= 80
    assert shown[0].err == ""
