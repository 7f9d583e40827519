"""Others ask a participant for messages that it has, or has not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sds_harness.sds.peer import signed
from sds_harness.sds.trace import Step
from sds_harness.stage import ScheduleStopped
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HistoryEntry, Message

from ...view.repair_terms import repair_terms
from ..cast import Actor, ScriptedPeer, Stage, scenario, take_in, tick_every
from .repairing import repair_scenario, repairing, t_max, t_min

LONG_MS = 600_000
"""A T_max against which the period of a sweep is short."""
FINE = 20
AHEAD_MS = 10_000_000
"""Lamport timestamps so far ahead make the next own one known exactly."""


def wait_out(stage: Stage, *actors: Actor) -> None:
    """Let all the time pass that an answer may take, and a sweep's period more."""
    longest = max(map(t_max, actors))
    for pause in (longest // 2, longest - longest // 2, 30_000, 31_000):
        stage.advance(pause)
        for actor in actors:
            actor.tick()


def fine_ticks(stage: Stage, *actors: Actor, more: int = 3) -> list[Step]:
    """Tick twenty times in T_max, and a little longer."""
    ticks = []
    for _ in range(FINE + more):
        stage.advance(t_max(actors[0]) // FINE)
        ticks += [actor.tick() for actor in actors]
    return ticks


def watch(stage: Stage, actor: Actor) -> None:
    """Look at what is asked for, and tick finely until no answer can be left."""
    actor.observe()
    fine_ticks(stage, actor)
    wait_out(stage, actor)


def holding(stage: Stage, actor: Actor, number: int, author: str = "bob") -> list[Message]:
    """Messages of one author that the participant has; one that delivers at ticks alone has them after some."""
    peer, serial = stage.peer(author), len(stage.trace.steps)
    ids = [f"{peer.name}-{serial + count}" for count in range(1, number + 1)]
    messages = [peer.content(stage.now_ms + count, message_id=message_id) for count, message_id in enumerate(ids)]
    last = actor.receive(*messages)
    if stage.trace.declaration.can(pb.CAPABILITY_DELIVERED) and not last.signals("delivered", messages[-1].channel_id):
        actor.settle()
    return messages


def sent_out(steps: Iterable[Step]) -> set[str]:
    """IDs of what was broadcast."""
    return {message.message_id for step in steps for message in step.messages}


def ask(stage: Stage, peer: ScriptedPeer, actor: Actor, *messages: Message) -> None:
    """One content message asks for several."""
    message_id = f"{peer.name}-asks-{len(stage.trace.steps) + 1}"
    actor.receive(peer.content(stage.now_ms, message_id=message_id, requests=signed(*messages)))


def ask_one_by_one(stage: Stage, peer: ScriptedPeer, actor: Actor, *messages: Message) -> None:
    """A content message for each."""
    for message in messages:
        ask(stage, peer, actor, message)


@repair_scenario(
    *("R-RECV-08", "R-STATE-04", "R-STATE-07", "R-GLOBAL-10"),
    *("R-SWEEP-01", "R-SWEEP-02", "R-SWEEP-04", "R-SWEEP-05", "R-TRESP-01"),
)
def asked_for_what_it_has(stage: Stage, alice: Actor, bob: ScriptedPeer, dave: ScriptedPeer) -> None:
    """A participant is asked for the last of three messages; nobody else answers, and nothing else happens."""
    base = stage.now_ms + AHEAD_MS
    root, side = bob.content(base), dave.content(base + 1)
    last = bob.content(base + 2, *signed(side, root), requests=["never-sent"])
    alice.receive(root, side, last)
    ask(stage, stage.peer("carol"), alice, last)
    alice.observe()
    fine_ticks(stage, alice, more=10)
    alice.observe()
    wait_out(stage, alice)
    alice.send()
    alice.given(dave.content(stage.now_ms)).tick()


@repair_scenario("R-RECV-12", "R-RECV-09")
def asked_for_several_at_once(stage: Stage, alice: Actor) -> None:
    """One message asks for what is known and what is not, with an author and without; another for a single message."""
    first, second, third = holding(stage, alice, 3)
    nameless = HistoryEntry("nobody-knows", None, None)
    unknown = HistoryEntry("never-sent", None, stage.label("erin"))
    asking = (nameless, *signed(first), HistoryEntry(third.message_id, None, None), unknown, *signed(second))
    alice.given(stage.peer("carol").content(stage.now_ms, requests=asking)).observe()
    wait_out(stage, alice)
    fourth, *_ = holding(stage, alice, 1, "frank")
    ask(stage, stage.peer("carol"), alice, fourth)
    wait_out(stage, alice)


@repair_scenario("R-RECV-13")
def asked_in_messages_of_all_kinds(stage: Stage, alice: Actor, carol: ScriptedPeer) -> None:
    """Requests come in a sync message, a blocked one, a copy and an ordinary one; one comes back from the network."""
    in_sync, in_blocked, in_copy, in_content, in_own, known = holding(stage, alice, 6)
    own = alice.send()
    alice.receive(carol.sync(stage.now_ms, requests=signed(in_sync)))
    alice.receive(carol.content(stage.now_ms, HistoryEntry("never-sent", None, "x"), requests=signed(in_blocked)))
    alice.receive(replace(known, repair_request=signed(in_copy)), replace(own, repair_request=signed(in_own)))
    alice.given(carol.content(stage.now_ms, requests=signed(in_content))).observe()
    wait_out(stage, alice)


@repair_scenario("R-STATE-08", "R-STATE-07", "R-SWEEP-05")
def asked_for_all_that_came_in_other_ways(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Messages that waited, that came as repairs, and of the participant itself are asked for, and one that did not."""
    own = alice.send()
    root = bob.content(stage.now_ms + 1, *signed(own))  # acknowledges it, so that a copy is no resend
    waited = bob.content(stage.now_ms + 2, *signed(root))
    take_in(alice, waited, root)
    repaired = bob.content(stage.now_ms + 3)
    alice.given(bob.content(stage.now_ms + 4, *signed(repaired))).after(t_max(alice) + 1_000).send()
    take_in(alice, repaired)
    ask_one_by_one(stage, carol, alice, root, waited, repaired, own)
    wait_out(stage, alice)
    alice.observe()


@repair_scenario("R-STATE-05", "R-RECV-02")
def somebody_else_answers_first(stage: Stage, alice: Actor) -> None:
    """Six messages are asked for; copies of three come before the participant answers."""
    messages = holding(stage, alice, 6)
    ask_one_by_one(stage, stage.peer("carol"), alice, *messages)
    alice.observe()
    alice.receive(*messages[::2])
    watch(stage, alice)


@repair_scenario("R-STATE-06", "R-RECV-08", asked=pb.Configuration(t_max_ms=LONG_MS))
def asked_for_again_and_again(stage: Stage, alice: Actor) -> None:
    """Messages are asked for once; later others ask for them over and over until they are answered."""
    messages = holding(stage, alice, 5)
    ask(stage, stage.peer("carol"), alice, *messages)
    alice.observe()
    fine_ticks(stage, alice)
    stage.advance(t_min(alice))
    open_ones = {message.message_id: message for message in messages}
    for number in range(FINE + 4):
        if open_ones and number % 3 == 0 and number < FINE:
            peer = stage.peer(("dave", "erin", "frank")[number // 3 % 3])
            ask(stage, peer, alice, *open_ones.values())
            alice.observe()
        stage.advance(t_max(alice) // FINE)
        for message_id in sent_out([alice.tick()]):
            open_ones.pop(message_id, None)
    wait_out(stage, alice)


@repair_scenario("R-SWEEP-04", "R-RECV-10", "R-TRESP-03", asked=pb.Configuration(t_max_ms=LONG_MS))
def asked_again_after_the_answer(stage: Stage, alice: Actor) -> None:
    """One participant asks for four messages, and when all are answered again; then another does."""
    messages = holding(stage, alice, 4)
    for name in ("carol", "carol", "dave"):
        ask(stage, stage.peer(name), alice, *messages)
        watch(stage, alice)


@repair_scenario("R-RECV-09", "R-STATE-04")
def asked_for_what_it_lacks(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Of three messages one is there, one waits, and one has never arrived; it comes when it was asked for already."""
    there, late = bob.content(stage.now_ms + 1), bob.content(stage.now_ms + 2)
    waiting = bob.content(stage.now_ms + 3, "never-sent")
    alice.receive(there, waiting)
    ask_one_by_one(stage, stage.peer("carol"), alice, late, waiting, there)
    alice.observe()
    alice.after(1_000).receive(late)
    watch(stage, alice)


@repair_scenario("R-SWEEP-03", "R-SWEEP-02")
def swept_at_the_very_moment(stage: Stage, alice: Actor) -> None:
    """Eight messages are asked for; the periodic work runs just when some answers are due, and just before."""
    messages = holding(stage, alice, 8)
    since = stage.now_ms
    ask(stage, stage.peer("carol"), alice, *messages)
    state = alice.observe()
    due = _times(stage, alice, messages, since, state)
    for moment in (due[2], due[6], due[7] - 1, due[7]):
        if moment > stage.now_ms:
            alice.after(moment - stage.now_ms).tick()
    wait_out(stage, alice)


def _times(stage: Stage, alice: Actor, messages: list[Message], since: int, state: pb.State | None) -> list[int]:
    """When the answers are due, in order: as shown, else by the declared hash."""
    shown = {e.message_id: e.due_ms for e in state.incoming_repairs.entries} if state is not None else {}
    terms = repair_terms(stage.trace.declaration, alice.party)
    due = []
    for message in messages:
        offset = terms.t_resp(message.sender_id, message.message_id)
        if message.message_id in shown:
            due.append(shown[message.message_id])
        elif offset is not None and offset.exact:
            due.append(since + offset.low)
        else:
            raise ScheduleStopped("the response times are not known: neither are they shown, nor is the hash declared")
    return sorted(due)


@repair_scenario("R-TRESP-02", "R-STATE-08", asked=pb.Configuration(t_max_ms=LONG_MS))
def authors_are_asked(stage: Stage, alice: Actor) -> None:
    """A participant is asked for messages of its own, and for some of another author at the same time."""
    own = [alice.send() for _ in range(6)]
    messages = holding(stage, alice, 4)
    alice.receive(stage.peer("bob").content(stage.now_ms, *signed(*own), message_id="acknowledges"))
    for message in own[:3]:
        ask(stage, stage.peer("carol"), alice, message)
    ask(stage, stage.peer("dave"), alice, *messages, *own[3:])
    alice.observe()
    fine_ticks(stage, alice)
    alice.observe()
    wait_out(stage, alice)


@scenario("R-RECV-08")
def no_time_to_answer_in(stage: Stage) -> None:
    """With T_max at 0 requests come to a participant, if it can be had at all; then to one with the usual times."""
    stage.need(pb.CAPABILITY_SDS_R, pb.CAPABILITY_VIRTUAL_CLOCK)
    for configuration in (pb.Configuration(t_min_ms=0, t_max_ms=0), None):
        try:
            alice = repairing(stage, configuration=configuration, instance="" if configuration is None else "hasty")
        except ScheduleStopped:
            continue  # refusing it is legal (AMB-09)
        own, (message, *_) = alice.send(), holding(stage, alice, 1)
        ask(stage, stage.peer("carol"), alice, own, message)
        alice.receive(stage.peer("dave").content(stage.now_ms, "never-sent"))
        tick_every(alice, 60_000, times=2)
        wait_out(stage, alice)


@repair_scenario("R-RECV-02", "R-STATE-05", "R-RECV-13")
def what_had_waited_comes_again(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Four messages waited before they were delivered. Some are asked for, and copies come; one copy asks for more."""
    root = bob.content(stage.now_ms + 1)
    waited = [bob.content(stage.now_ms + 2 + number, *signed(root)) for number in range(4)]
    take_in(alice, *waited, root)
    ask(stage, stage.peer("carol"), alice, *waited[:3])
    alice.observe()
    alice.receive(waited[0], waited[1], replace(waited[3], repair_request=signed(root)))
    watch(stage, alice)
