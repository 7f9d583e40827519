"""SDS-R of several participants on a network that loses messages, under virtual time."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repair_network import (
    CONFIG,
    REPAIR,
    SECOND,
    Broadcast,
    Network,
    both_revisions,
    chosen,
    first_copy_lost,
    five_messages,
    repair,
    t_req,
)
from scripted_peers import incoming
from sds_reference import (
    SDS_2025_10_AMENDED,
    SDS_2026_01,
    AfterRequest,
    RepairConfig,
    Revision,
    t_resp_offset,
)
from sds_reference.hash_profiles import SHA256_BE64

# ---- one gap ---------------------------------------------------------------------------------------------------------


@both_revisions
def test_the_sender_answers_first_and_nobody_else_does(revision: Revision) -> None:
    names = ["alice", "bob", "carol", *(f"holder-{number}" for number in range(20))]
    network = Network(names, replace(CONFIG, revision=revision), first_copy_lost("alice"))
    five_messages(network)
    assert incoming(network.members["alice"]) == ["m-1", "m-2", "m-3", "m-4"]
    network.run(60)
    assert network.converged()
    assert set(network.requests()) == {("alice", "m-0")}
    assert network.responses() == [("bob", "m-0")]


@both_revisions
def test_with_the_sender_gone_whoever_is_left_answers(revision: Revision) -> None:
    network = Network(
        ["alice", "bob", "carol", "dave"], replace(CONFIG, revision=revision), first_copy_lost("alice", "dave")
    )
    five_messages(network)
    network.leave("bob")
    network.run(120)
    assert network.converged()
    assert set(network.responses()) == {("carol", "m-0")}


@both_revisions
def test_one_request_is_enough_for_all_who_miss_the_same(revision: Revision) -> None:
    missing_it = [f"member-{number}" for number in range(20)]
    config = replace(CONFIG, revision=revision, sync_interval_ms=30 * SECOND)
    network = Network(["bob", "carol", *missing_it], config, first_copy_lost(*missing_it))
    five_messages(network)
    assert all(list(t_req(network.members[name])) == ["m-0"] for name in missing_it)
    network.run(60)
    assert network.converged()
    assert len(network.requests()) == 1
    assert network.responses() == [("bob", "m-0")]


def test_of_many_holders_only_those_answer_whom_no_copy_can_reach_in_time() -> None:
    holders = [f"holder-{number}" for number in range(40)]
    repair_config = replace(REPAIR, t_max_ms=120 * SECOND)
    network = Network(["alice", "bob", *holders], replace(CONFIG, repair=repair_config), first_copy_lost("alice"))
    five_messages(network)
    network.leave("bob")
    network.run(400)
    assert network.converged()

    def second(name: str) -> int:
        return -(-t_resp_offset(SHA256_BE64, name, "bob", "m-0", 120 * SECOND) // SECOND)

    first = min(second(name) for name in holders)
    assert network.responses() == [(name, "m-0") for name in holders if second(name) == first]
    assert len(network.responses()) < 4


def test_everything_repeats_exactly() -> None:
    def tap() -> list[Broadcast]:
        chance = Random(7)
        network = Network(["alice", "bob", "carol"], CONFIG, lambda sent, to: chance.random() < 0.4)
        five_messages(network)
        network.run(60)
        return network.tap

    assert tap() == tap()


# ---- lost requests and lost responses --------------------------------------------------------------------------------


@both_revisions
@pytest.mark.parametrize("lost", [1, 4])
def test_a_lost_request_is_repeated(revision: Revision, lost: int) -> None:
    asked: list[Broadcast] = []

    def loses(sent: Broadcast, to: str) -> bool:
        if sent.message.repair_request and sent not in asked:
            asked.append(sent)
        return first_copy_lost("alice")(sent, to) or sent in asked[:lost]

    network = Network(["alice", "bob", "carol"], replace(CONFIG, revision=revision), loses)
    five_messages(network)
    network.leave("bob")
    network.run(120)
    assert network.converged()
    assert len(network.requests()) > lost
    assert network.responses() == [("carol", "m-0")]


@both_revisions
@pytest.mark.parametrize("lost", [1, 4])
def test_a_lost_response_is_asked_for_again(revision: Revision, lost: int) -> None:
    answered: list[Broadcast] = []

    def loses(sent: Broadcast, to: str) -> bool:
        if sent.again and sent not in answered:
            answered.append(sent)
        return first_copy_lost("alice")(sent, to) or sent in answered[:lost]

    network = Network(["alice", "bob", "carol"], replace(CONFIG, revision=revision), loses)
    five_messages(network)
    network.leave("bob")
    network.run(400)
    assert network.converged()
    assert len(network.responses()) > lost


def test_only_the_amended_revision_outlives_the_loss_of_a_request_that_is_forgotten() -> None:
    converged = {}
    for revision in (SDS_2026_01, SDS_2025_10_AMENDED):
        asked: list[Broadcast] = []

        def loses(sent: Broadcast, to: str, asked: list[Broadcast] = asked) -> bool:
            if sent.message.repair_request and sent not in asked:
                asked.append(sent)
            return first_copy_lost("alice")(sent, to) or sent in asked[:1]

        forgetful = replace(CONFIG, revision=revision, repair=replace(REPAIR, after_request=AfterRequest.FORGET))
        network = Network(["alice", "bob", "carol"], forgetful, loses)
        five_messages(network)
        network.leave("bob")
        network.run(600)
        converged[revision.name] = (network.converged(), len(network.requests()))
    assert converged == {"sds-2026-01": (False, 1), "sds-2025-10-amended": (True, 2)}


def test_only_the_amended_revision_outlives_the_loss_of_a_response_to_an_overheard_request() -> None:
    asked_first = {"alice, m-0": 0, "dave, m-0": 14 * SECOND, "carol": 1, "m-0": 2 * SECOND}
    converged = {}
    for revision in (SDS_2026_01, SDS_2025_10_AMENDED):
        answered: list[Broadcast] = []

        def loses(sent: Broadcast, to: str, answered: list[Broadcast] = answered) -> bool:
            if sent.again and sent not in answered:
                answered.append(sent)
            return first_copy_lost("alice", "dave")(sent, to) or (to == "dave" and sent in answered[:1])

        config = replace(CONFIG, revision=revision, repair=replace(REPAIR, hash_profile=chosen(asked_first)))
        network = Network(["alice", "bob", "carol", "dave"], config, loses)
        five_messages(network)
        network.leave("bob")
        network.run(20)
        assert (incoming(network.members["alice"]), len(incoming(network.members["dave"]))) == ([], 4)
        network.run(600)
        converged[revision.name] = (network.converged(), sorted({name for name, _ in network.requests()}))
    assert converged == {"sds-2026-01": (False, ["alice"]), "sds-2025-10-amended": (True, ["alice", "dave"])}


def test_a_later_message_that_names_the_gap_helps_in_either_revision() -> None:
    network = Network(
        ["alice", "bob", "carol"],
        replace(CONFIG, causal_history_size=10, repair=replace(REPAIR, after_request=AfterRequest.FORGET)),
        first_copy_lost("alice"),
    )
    five_messages(network)
    network.leave("bob")
    assert list(t_req(network.members["alice"])) == ["m-0"]
    repair(network.members["alice"]).drop("m-0")
    network.run(120)
    assert network.converged()


# ---- responders and requesters ---------------------------------------------------------------------------------------


def test_without_a_holder_in_the_response_group_a_repair_waits_for_the_sender() -> None:
    groups = chosen({"alice, m-0": 1, "bob, m-0": 2, "carol, m-0": 3, "dave, m-0": 5})
    config = replace(CONFIG, repair=replace(REPAIR, hash_profile=groups, num_response_groups=4))
    network = Network(["alice", "bob", "carol", "dave"], config, first_copy_lost("alice"))
    five_messages(network)
    bob = network.leave("bob")
    network.run(100)
    assert (network.responses(), len(incoming(network.members["alice"]))) == ([], 4)
    network.members["bob"] = bob
    network.run(30)
    assert network.converged()
    assert network.responses() == [("bob", "m-0")]


def test_holders_of_the_group_and_no_others_answer() -> None:
    groups = chosen(
        {"alice, m-0": 1, "bob, m-0": 2, "carol, m-0": 3, "dave, m-0": 6, "carol": 0, "dave": 1, "m-0": 9_000}
    )
    config = replace(CONFIG, repair=replace(REPAIR, hash_profile=groups, num_response_groups=4))
    network = Network(["alice", "bob", "carol", "dave"], config, first_copy_lost("alice"))
    five_messages(network)
    network.leave("bob")
    network.run(100)
    assert network.converged()
    assert set(network.responses()) == {("dave", "m-0")}


@both_revisions
def test_a_response_repairs_those_too_who_cannot_ask(revision: Revision) -> None:
    plain = replace(CONFIG, sds_r=False)
    repairing = replace(CONFIG, revision=revision)
    network = Network(
        ["alice", "bob", "carol", "dave"],
        {"alice": repairing, "bob": plain, "carol": repairing, "dave": plain},
        first_copy_lost("alice", "dave"),
    )
    five_messages_of_two(network)
    network.leave("bob")
    network.run(100)
    assert network.converged()
    assert set(network.responses()) == {("carol", "m-0")}
    plain_messages = [sent.message for sent in network.tap if sent.by in ("bob", "dave")]
    assert all(not message.repair_request for message in plain_messages)
    assert all(entry.sender_id is None for message in plain_messages for entry in message.causal_history)


def five_messages_of_two(network: Network) -> None:
    """Bob and Carol send five messages. Only Carol has SDS-R, so she sends the sender ID of Bob's message in her causal
    histories."""
    network.send("bob", "m-0")
    network.run(1)
    for number in range(1, 5):
        network.send("carol", f"m-{number}")
        network.run(1)


@both_revisions
def test_unequal_configurations_repair_each_other(revision: Revision) -> None:
    slow = RepairConfig(t_min_ms=20 * SECOND, t_max_ms=60 * SECOND, num_response_groups=1, max_requests=1)
    configs = {name: replace(CONFIG, revision=revision) for name in ("bob", "carol")}
    configs["alice"] = replace(CONFIG, revision=SDS_2026_01, repair=slow)
    configs["dave"] = replace(CONFIG, revision=SDS_2025_10_AMENDED, repair=replace(slow, t_max_ms=30 * SECOND))
    network = Network(list(configs), configs, first_copy_lost("alice", "dave"))
    five_messages(network)
    network.run(200)
    assert network.converged()


@both_revisions
def test_who_joins_late_gets_everything_back_to_the_start(revision: Revision) -> None:
    config = replace(CONFIG, revision=revision)
    network = Network(["bob", "carol"], config)
    for number in range(30):
        network.send(("bob", "carol")[number % 2], f"m-{number}")
        network.run(1)
    network.leave("bob")
    network.enter("alice", config)
    network.run(1_500, network.converged)
    assert network.converged()
    assert {name for name, _ in network.responses()} == {"carol"}
    network.run(30)
    assert (list(repair(network.members["alice"]).outgoing), list(repair(network.members["carol"]).incoming)) == (
        [],
        [],
    )
    quiet = len(network.requests())
    network.run(100)
    assert len(network.requests()) == quiet


# ---- any loss --------------------------------------------------------------------------------------------------------

talk = st.lists(
    st.tuples(st.sampled_from(["alice", "bob", "carol", "dave"]), st.integers(1, 8)), min_size=5, max_size=20
)
"""For each message, its sender and the seconds that pass after it."""

seeds = st.integers(0, 2**32)


def converse(network: Network, steps: list[tuple[str, int]]) -> None:
    """Send the messages of ``steps``. Erin, who receives everything, sends after each of them, so each message is in
    the causal history of a message that others can get.
    """
    for number, (name, seconds) in enumerate(steps):
        network.send(name, f"{number * 7 % 10}-{number}")
        network.run(seconds)
        network.send("erin", f"{number * 3 % 10}-{number}-heard")
        network.run(1)
    network.run(1)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    talk,
    seeds,
    st.sampled_from([0.2, 0.5]),
    st.sampled_from([AfterRequest.KEEP, AfterRequest.FORGET]),
    st.sampled_from([(SDS_2025_10_AMENDED, 2), (SDS_2026_01, 100)]),
)
def test_all_logs_are_equal_whatever_is_lost_and_whoever_is_gone(
    steps: list[tuple[str, int]], seed: int, loss: float, after_request: AfterRequest, named: tuple[Revision, int]
) -> None:
    """All logs become equal although Alice and Bob leave and the network keeps losing messages.

    In sds-2026-01 a participant that forgets a message after requesting it requests it again only if a later message
    has it in its causal history, so that causal histories must be long.
    """
    chance = Random(seed)
    revision, size = named
    config = replace(
        CONFIG,
        revision=revision,
        causal_history_size=size,
        repair=replace(REPAIR, after_request=after_request, max_requests=10),
    )
    network = Network(
        ["alice", "bob", "carol", "dave", "erin"], config, lambda sent, to: to != "erin" and chance.random() < loss
    )
    converse(network, steps)
    network.leave("alice")
    network.leave("bob")
    network.run(3_000, network.converged)
    assert network.converged()


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    talk, seeds, st.sampled_from([0.2, 0.5, 0.8]), st.booleans(), st.sampled_from([SDS_2026_01, SDS_2025_10_AMENDED])
)
def test_who_loses_messages_catches_up(
    steps: list[tuple[str, int]], seed: int, loss: float, cascade: bool, revision: Revision
) -> None:
    """Only Frank loses messages, and he only listens. No other participant sends a repair request, so none removes an
    entry of Frank."""
    chance = Random(seed)
    network = Network(
        ["alice", "bob", "carol", "dave", "erin", "frank"],
        replace(CONFIG, cascade_on_receive=cascade, revision=revision),
        lambda sent, to: to == "frank" and chance.random() < loss,
    )
    converse(network, steps)
    network.leave("alice")
    network.leave("bob")
    network.run(3_000, network.converged)
    assert network.converged()
    assert {name for name, _ in network.requests()} <= {"frank"}


@settings(max_examples=30, deadline=None, derandomize=True)
@given(talk, seeds, st.integers(2, 4), st.sampled_from([SDS_2026_01, SDS_2025_10_AMENDED]))
def test_with_the_senders_there_groups_do_not_hinder(
    steps: list[tuple[str, int]], seed: int, groups: int, revision: Revision
) -> None:
    chance = Random(seed)
    network = Network(
        ["alice", "bob", "carol", "dave", "erin", "frank"],
        replace(CONFIG, revision=revision, repair=replace(REPAIR, num_response_groups=groups)),
        lambda sent, to: to == "frank" and chance.random() < 0.5,
    )
    converse(network, steps)
    network.run(3_000, network.converged)
    assert network.converged()
