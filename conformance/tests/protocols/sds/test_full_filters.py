"""Roll-overs and full filters: what an implementation may do with its filter, and what shows that it did not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from run_helpers import Change, T, altered, certified, outcomes, reference, stage, verdict_on, view, with_verdict
from sds_conformance.judging.certification import Certification
from sds_conformance.judging.judgement import Outcome
from sds_conformance.judging.registry import CheckFunction
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.checks.core.filters import (
    false_hits_stay_bounded,
    filters_cease_to_grow,
    full_filters_keep_their_rate,
    newest_survive_the_roll_over,
)
from sds_conformance.protocols.sds.view.false_positives import count_false_hits
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import PROFILES, BloomParameters, Config, Message, build_filter, decode, encode
from sds_reference.mutants import MUTANTS
from sds_reference.testee import server

HELD, VIOLATED = {Outcome.HELD}, {Outcome.VIOLATED}
ROLL_OVER = (filters_cease_to_grow, newest_survive_the_roll_over, false_hits_stay_bounded)


def filled(on: Stage, capacity: int, received: int, rate: float = 0.01) -> Stage:
    """A participant with a filter of that capacity, a message of its own after every fifth that it receives."""
    alice = on.open(configuration=pb.Configuration(bloom_capacity=capacity, bloom_error_rate=rate))
    bob = on.peer("bob")
    for number in range(received):
        alice.receive(bob.content(T + number))
        if number % 5 == 4 or number == received - 1:
            alice.send()
    return on


def mutant(name: str) -> Stage:
    fault = MUTANTS[name]
    return stage(reference(fault.configure(Config()), participant=fault.participant_class))


@pytest.mark.parametrize("retained", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("check", ROLL_OVER)
def test_whatever_a_roll_over_retains_is_accepted(check: CheckFunction, retained: float) -> None:
    on = filled(stage(reference(Config(bloom_retained=retained))), 40, 125)
    assert outcomes(check, view(on)) == HELD


@pytest.mark.parametrize("check", ROLL_OVER)
def test_without_capacity_and_rate_in_force_nothing_is_judged(check: CheckFunction) -> None:
    def says_nothing(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("opened"):
            reply.opened.ClearField("configuration")

    assert outcomes(check, view(filled(stage(altered(says_nothing)), 40, 125))) == set()


@pytest.mark.parametrize(("length", "expected"), [(8, HELD), (120, VIOLATED)])
def test_a_little_change_of_length_is_the_encoding(length: int, expected: set[Outcome]) -> None:
    """Padding in the envelope of the filter, more with every message, ``length`` bytes at the end."""
    sent: list[Message] = []

    def pads(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("send"):
            sent.append(decode(reply.effects.broadcasts[0]))
            padding = bytes(length * len(sent) // 25)
            padded = (sent[-1].bloom_filter or b"") + b"\xfa\x01" + bytes([len(padding)]) + padding
            reply.effects.broadcasts[0] = encode(replace(sent[-1], bloom_filter=padded))

    on = filled(stage(altered(pads, reference(Config(bloom_profile=PROFILES["nim-sds"])))), 40, 125)
    assert outcomes(filters_cease_to_grow, view(on)) == expected


# ---- At capacity -----------------------------------------------------------------------------------------------------


def full(on: Stage, capacity: int, received: int) -> Stage:
    """A participant that receives so many messages and then sends one."""
    alice = on.open(configuration=pb.Configuration(bloom_capacity=capacity, bloom_error_rate=0.01))
    alice.receive(*[on.peer("bob").content(T + number, message_id=f"bob-{number}") for number in range(received)])
    alice.send()
    return on


@pytest.mark.parametrize(
    ("capacity", "received", "expected"), [(200, 199, HELD), (200, 150, set()), (100, 150, set()), (1_000, 199, set())]
)
def test_a_full_filter_is_judged_and_one_with_room_left_or_over_full_is_not(
    capacity: int, received: int, expected: set[Outcome]
) -> None:
    assert outcomes(full_filters_keep_their_rate, view(full(stage(), capacity, received))) == expected


def test_own_sync_messages_take_no_room() -> None:
    on = stage()
    alice = on.open(configuration=pb.Configuration(bloom_capacity=200, bloom_error_rate=0.01))
    for number in range(199):
        alice.receive(on.peer(f"peer-{number}").content(T + number))
        alice.send_sync()
    assert outcomes(full_filters_keep_their_rate, view(on)) == HELD


def test_a_small_filter_may_be_worse_by_chance() -> None:
    assert outcomes(full_filters_keep_their_rate, view(full(mutant("sets-three-times-the-bits"), 100, 99))) == set()


def test_a_filter_that_is_somewhat_worse_than_declared_is_not() -> None:
    """A fifth more IDs in it than it is for, which makes it worse by half."""
    fuller = PROFILES["waku-sds-js"]
    parameters = BloomParameters.sized(1_000, 0.01)

    def boasts(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("send"):
            message = decode(reply.effects.broadcasts[0])
            bloom_filter = build_filter(fuller, parameters, [f"bob-{number}" for number in range(1_200)])
            reply.effects.broadcasts[0] = encode(replace(message, bloom_filter=bloom_filter))

    on = full(stage(altered(boasts)), 1_000, 999)
    (sent,) = view(on).sent
    found = count_false_hits(view(on), sent.message.bloom_filter or b"", 20_000)
    assert found is not None
    assert 1.2 * 200 < found[0] < 2 * 200
    assert outcomes(full_filters_keep_their_rate, view(on)) == HELD


@pytest.mark.parametrize(("others", "expected"), [((), HELD), (("!", "?", "."), VIOLATED)])
def test_a_filter_that_the_codec_builds_full_is_judged_where_the_size_is_its_own(
    others: tuple[str, ...], expected: set[Outcome]
) -> None:
    class Codec(server.Testee):
        def _build_filter(self, command: pb.BuildFilter, reply: pb.Reply) -> None:
            config = Config(bloom_capacity=3_000, bloom_error_rate=0.01)
            ids = command.message_ids
            every = [*ids, *(message_id + other for message_id in ids for other in others)]
            reply.filter.bloom_filter = build_filter(config.bloom_profile, config.bloom_parameters, every)

    size = Config(bloom_capacity=3_000, bloom_error_rate=0.01)
    on = stage(Codec(server.TesteeOptions("1", size)).handle)
    on.open()
    on.step("", pb.Request(build_filter=pb.BuildFilter(message_ids=[f"bob-{n}" for n in range(3_000)])))
    assert outcomes(full_filters_keep_their_rate, view(on)) == expected
    asked = stage(Codec(server.TesteeOptions("1", size)).handle)
    asked.open(configuration=pb.Configuration(bloom_capacity=3_000))
    asked.step("", pb.Request(build_filter=pb.BuildFilter(message_ids=[f"bob-{n}" for n in range(3_000)])))
    assert outcomes(full_filters_keep_their_rate, view(asked)) == set()


# ---- Whole runs ------------------------------------------------------------------------------------------------------


class OfItsOwnSize(server.Testee):
    """Has filters for so many IDs, whatever it is asked for."""

    capacity = 3_000

    def _open(self, command: pb.Open, reply: pb.Reply) -> None:
        command.configuration.ClearField("bloom_capacity")
        command.configuration.ClearField("bloom_error_rate")
        super()._open(command, reply)


def of_its_own_size(capacity: int, change: Change, *without: int) -> Certification:
    size = Config(bloom_capacity=capacity, bloom_error_rate=0.01)
    return certified(
        lambda: altered(change, OfItsOwnSize(server.TesteeOptions("1", size, without=frozenset(without))).handle),
        select=["SDS-STATE-06", "SDS-STATE-07"],
        scenarios=["a-filter-rolls-over", "a-thousand-messages"],
    )


def unchanged(request: pb.Request, reply: pb.Reply) -> None:
    pass


def nameless(request: pb.Request, reply: pb.Reply) -> None:
    if reply.HasField("hello"):
        reply.hello.profiles.bloom = "of-my-own"


def never_rolls_over(request: pb.Request, reply: pb.Reply) -> None:
    if reply.HasField("filter"):
        size = BloomParameters.sized(2_500, 0.01)
        reply.filter.bloom_filter = build_filter(Config().bloom_profile, size, request.build_filter.message_ids)


def nameless_and_never_rolls_over(request: pb.Request, reply: pb.Reply) -> None:
    nameless(request, reply)
    never_rolls_over(request, reply)


def forgets_all(request: pb.Request, reply: pb.Reply) -> None:
    if reply.HasField("filter") and len(request.build_filter.message_ids) > 2_500:
        reply.filter.bloom_filter = bytes(len(reply.filter.bloom_filter))


@pytest.mark.parametrize("change", [unchanged, nameless])
def test_a_filter_that_is_too_large_to_be_filled_by_messages_is_built(change: Change) -> None:
    outcome = of_its_own_size(2_500, change)
    assert with_verdict(outcome, Verdict.PASS) == {"SDS-STATE-06", "SDS-STATE-07"}


@pytest.mark.parametrize("change", [never_rolls_over, nameless_and_never_rolls_over, forgets_all])
def test_what_is_wrong_with_a_filter_that_is_built_is_found(change: Change) -> None:
    outcome = of_its_own_size(2_500, change)
    assert verdict_on(outcome, "SDS-STATE-06").verdict is Verdict.WARN
    assert verdict_on(outcome, "SDS-STATE-07").verdict is Verdict.PASS


def test_a_filter_that_is_too_large_to_be_filled_and_has_no_codec_is_skipped() -> None:
    outcome = of_its_own_size(2_500, unchanged, pb.CAPABILITY_FILTER_CODEC)
    assert "filter-codec" in verdict_on(outcome, "SDS-STATE-06").reason


def test_a_filter_that_is_too_large_for_the_codec_too_makes_the_roll_over_inconclusive_and_says_so() -> None:
    rolled = verdict_on(of_its_own_size(50_000, unchanged), "SDS-STATE-06")
    assert rolled.verdict is Verdict.INCONCLUSIVE
    assert "50,000 IDs" in rolled.reason


def test_filters_that_nobody_can_read_are_not_passed() -> None:
    outcome = certified(
        lambda: altered(nameless, reference(without=[pb.CAPABILITY_FILTER_CODEC])),
        select=["SDS-STATE-06", "SDS-STATE-07"],
        scenarios=["a-filter-rolls-over", "a-thousand-messages"],
    )
    assert verdict_on(outcome, "SDS-STATE-06").verdict is Verdict.SKIPPED
    assert "filter-codec" in verdict_on(outcome, "SDS-STATE-06").reason
    assert verdict_on(outcome, "SDS-STATE-07").verdict is Verdict.SKIPPED
    assert "filter-codec" in verdict_on(outcome, "SDS-STATE-07").reason
