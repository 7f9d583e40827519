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
    Broadcast,
    Network,
    both_revisions,
    first_copy_lost,
    five_messages,
    repair,
)
from scripted_peers import incoming
from sds_reference import (
    SDS_2025_10_AMENDED,
    SDS_2026_01,
    AfterRequest,
    Revision,
)


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
@pytest.mark.parametrize("lost", [1, 4])
@pytest.mark.parametrize("what", ["requests", "responses"])
def test_what_is_lost_of_a_repair_is_repeated(revision: Revision, lost: int, what: str) -> None:
    repairs: list[Broadcast] = []

    def loses(sent: Broadcast, to: str) -> bool:
        if (sent.message.repair_request if what == "requests" else sent.again) and sent not in repairs:
            repairs.append(sent)
        return first_copy_lost("alice")(sent, to) or sent in repairs[:lost]

    network = Network(["alice", "bob", "carol"], replace(CONFIG, revision=revision), loses)
    five_messages(network)
    network.leave("bob")
    network.run(400)
    assert network.converged()
    assert len(network.requests() if what == "requests" else network.responses()) > lost


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
