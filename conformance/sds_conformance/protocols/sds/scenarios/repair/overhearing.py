"""A participant that misses messages hears what others send and ask for.

Others ask a second before T_max, and the participant speaks only after that: the old entry is due by then, and a new
one could not be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sds_harness.sds.peer import Dependency, signed
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HistoryEntry, Message

from ..cast import Actor, ScriptedPeer, Stage, take_in
from .repairing import repair_scenario, repairing, t_max, t_min
from .requesting import missing, say, say_both


def _speak(stage: Stage, alice: Actor) -> None:
    """Content and sync messages around T_max and soon after, when a new entry would not be due."""
    for content, wait in ((False, 1_000), (True, 1_000), (False, 1_000), (True, 0)):
        alice.observe()
        say(alice.after(wait), content=content)


@repair_scenario("R-RECV-01")
def it_comes_before_its_time(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Three are missing and come before T_min: one alone, one that waits for another itself, one from a third party."""
    (first,) = missing(stage, alice, bob)
    never = carol.content(stage.now_ms - 5)
    blocked = carol.content(stage.now_ms - 4, *signed(never))
    alice.given(bob.content(stage.now_ms + 2, *signed(blocked))).observe()
    alice.after(t_min(alice) // 2).receive(first)
    alice.receive(blocked)
    _past_its_time(stage, alice)


def _past_its_time(stage: Stage, alice: Actor) -> None:
    """From before T_req until no old entry can be left: a new one is due T_min after the old could have been."""
    alice.observe()
    for wait in (t_min(alice) // 2, t_max(alice) - t_min(alice), 1_000):
        say_both(alice, wait)
        alice.observe()


@repair_scenario("R-RECV-01")
def it_comes_late_and_blocked(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """What is missing comes a second before T_max and has to wait itself; messages soon after do not ask for it."""
    blocked = carol.content(stage.now_ms - 4, HistoryEntry("never-sent", None, carol.name))
    alice.given(bob.content(stage.now_ms + 2, *signed(blocked))).observe()
    alice.after(t_max(alice) - 1_000).receive(blocked)
    _speak(stage, alice)


@repair_scenario("R-STATE-01", "R-RECV-03")
def a_dependency_that_waits(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """A message waits for one that never comes; then another depends on the one that waits, and time passes."""
    waiting = carol.content(stage.now_ms - 4, HistoryEntry("never-sent", None, carol.name))
    alice.given(waiting, bob.content(stage.now_ms + 2, *signed(waiting))).observe()
    say_both(alice, t_max(alice) + 1_000)


@repair_scenario("R-SEND-07")
def it_comes_when_it_is_due(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """What is missing comes after T_req, before any message has asked for it."""
    for content in (True, False):
        (lost,) = missing(stage, alice, bob)
        alice.after(t_max(alice) + 1_000).tick()
        alice.observe()
        alice.receive(lost)
        say(alice, content=content)
        alice.observe()
        alice.settle()


@repair_scenario("R-SEND-07")
def one_of_two_comes_when_it_is_due(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Two are due; one comes before a message goes out, which asks for the other alone."""
    first, second = missing(stage, alice, bob, 2)
    alice.after(t_max(alice) + 1_000).receive(second)
    say(alice, content=False)
    take_in(alice, first).send()


def _overhears(
    stage: Stage,
    alice: Actor,
    said: Callable[..., Message],
    *before: HistoryEntry,
    depends_on: tuple[Dependency, ...] = (),
    sender: bool = True,
) -> None:
    """Something is missing, and a second before T_max somebody else asks for it, after the entries ``before``.

    The message is as a scripted peer says it, and may have to wait for others.
    """
    bob, dave = stage.peer("bob"), stage.peer("dave")
    lost = bob.content(stage.now_ms - 1, message_id=f"lost-at-{len(stage.trace.steps)}")
    alice.given(bob.content(stage.now_ms + 1, *signed(lost), message_id=f"after-{lost.message_id}")).observe()
    stage.advance(t_max(alice) - 1_000)
    entry = HistoryEntry(lost.message_id, None, bob.name if sender else None)
    asking = said(dave, stage.now_ms, *depends_on, requests=[*before, entry])
    alice.receive(_renamed(asking, stage))
    _speak(stage, alice)
    take_in(alice, lost)


def _renamed(message: Message, stage: Stage) -> Message:
    """With an ID of its own: peers that are made anew count from one again."""
    return replace(message, message_id=f"{message.message_id}-at-{len(stage.trace.steps)}")


@repair_scenario("R-RECV-07")
def somebody_else_asks(stage: Stage, alice: Actor) -> None:
    """Others ask for what is missing, in a sync message and in content; the participant leaves it to them."""
    _overhears(stage, alice, ScriptedPeer.sync)
    _overhears(stage, alice, ScriptedPeer.content)


@repair_scenario("R-RECV-07")
def somebody_else_asks_early(stage: Stage, alice: Actor, dave: ScriptedPeer) -> None:
    """Others ask for three that are missing before T_min is over; the participant speaks until T_max."""
    lost = missing(stage, alice, stage.peer("bob"), 3)
    alice.observe()
    stage.advance(t_min(alice) - 1_000)
    for message in lost:
        alice.given(dave.sync(stage.now_ms, requests=signed(message))).observe()
    say_both(alice, *12 * [t_max(alice) // 12])


@repair_scenario("R-RECV-12")
def somebody_asks_for_many(stage: Stage, alice: Actor) -> None:
    """Requests for many messages: what is missing comes last, after unknown ones, and once has no sender."""
    unknown = HistoryEntry("nobody-knows-this")
    named = HistoryEntry("nor-this", None, stage.peer("carol").name)
    _overhears(stage, alice, ScriptedPeer.sync, unknown, named)
    _overhears(stage, alice, ScriptedPeer.content, named, unknown)
    _overhears(stage, alice, ScriptedPeer.sync, sender=False)
    _overhears(stage, alice, ScriptedPeer.sync, *(HistoryEntry(f"unknown-{n}", None, "carol") for n in range(150)))


@repair_scenario("R-RECV-12")
def somebody_asks_for_a_thousand(stage: Stage, alice: Actor, carol: ScriptedPeer) -> None:
    """A request and a causal history of 1,000 entries, which may be refused, and after them all goes on as before."""
    alice.receive(carol.sync(stage.now_ms, requests=[f"unknown-{number}" for number in range(1_000)]))
    alice.receive(carol.content(stage.now_ms, *(f"unheard-of-{number}" for number in range(1_000))))
    say(alice.after(t_max(alice) + 1_000), content=False)
    _overhears(stage, repairing(stage, "erin"), ScriptedPeer.sync, HistoryEntry("unknown-1", None, "carol"))


@repair_scenario("R-RECV-13", violated=("SYNC-12",), of_one_text=True)
def requests_in_any_message(stage: Stage, alice: Actor, bob: ScriptedPeer, dave: ScriptedPeer) -> None:
    """A sync message reveals a gap; others ask in a message that has to wait, and in a copy of a known one."""
    lost = bob.content(stage.now_ms - 1)
    alice.receive(dave.sync(stage.now_ms, *signed(lost)))  # the gap is not in its author's words
    alice.observe()
    say_both(alice, t_max(alice), 1_000)
    take_in(alice, lost)
    _overhears(stage, alice, ScriptedPeer.content, depends_on=("never-sent",))
    _overhears(stage, alice, ScriptedPeer.sync, depends_on=(HistoryEntry("never-sent", None, dave.name),))
    known = dave.content(stage.now_ms, message_id="known")
    alice.receive(known)
    lost = bob.content(stage.now_ms - 1)
    alice.given(bob.content(stage.now_ms + 1, *signed(lost))).observe()
    alice.after(t_max(alice) - 1_000).receive(replace(known, repair_request=signed(lost)))
    _speak(stage, alice)


@repair_scenario("R-RECV-04", "R-RECV-05")
def nobody_answers_the_others(stage: Stage, alice: Actor) -> None:
    """Somebody else asks for what is missing, and nothing comes; the next message is about something else."""
    bob, carol, dave = (stage.peer(name) for name in ("bob", "carol", "dave"))
    (lost,) = missing(stage, alice, bob)
    alice.observe()
    stage.advance(t_max(alice) - 1_000)
    for _ in range(3):
        alice.given(dave.sync(stage.now_ms, requests=signed(lost))).observe()
        alice.after(1_000).given(carol.content(stage.now_ms)).observe()
    _ask_again(stage, alice)
    take_in(alice, lost)


def _ask_again(stage: Stage, alice: Actor) -> None:
    """Messages soon after now, when a new entry is not due, and until it must be."""
    say(alice.after(1_000), content=False)
    say(alice.after(t_max(alice) - 1_000), content=False)
    say_both(alice, 1_000, content_first=True)


@repair_scenario("R-RECV-04", asked=pb.Configuration())
def its_request_is_lost(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """A participant asks, nobody hears it, and the next message is about something else; it has to ask again."""
    (lost,) = missing(stage, alice, bob)
    alice.observe()
    say(alice.after(t_max(alice)), content=False)
    alice.after(1_000).send()
    alice.receive(carol.content(stage.now_ms))
    _ask_again(stage, alice)
    take_in(alice, lost)


@repair_scenario("R-RECV-03")
def named_again_after_its_request(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """A participant asks, and nothing comes; then another message depends on what is missing, and time passes."""
    (lost,) = missing(stage, alice, bob)
    say_both(alice, t_max(alice) - 1_000, 500, 500)
    alice.receive(bob.content(stage.now_ms, *signed(lost)))
    say_both(alice, t_max(alice), 1_000)
