"""Passages about SDS-R with several requests for the same message: requests without a response, responses of other
participants, and repeated requests."""

from __future__ import annotations

from ..operations import Again, Look, Route, StepClock, Tick, Wait
from ..writer import Writer
from .registry import passage
from .repairs import missed, pass_time, speak, step_ms


@passage(5, repairs=True, scripted=True)
def asked_in_vain(writer: Writer) -> None:
    """A participant requests a missing message, finds its ID in a history, and should request it again after T_max."""
    ghost = f"ghost{len(writer.labels)}"
    poor = writer.pick_participant()
    writer.say(after=(ghost,), senders_named=True, to=poor)
    writer.add(Wait(writer.t_max_ms))
    speak(writer, poor)
    speak(writer, poor)
    if writer.chance(80):
        writer.say(after=(ghost,), senders_named=True, to=poor)
    writer.add(Wait(writer.t_max_ms + writer.pick((1_500, 0, 1))))
    writer.sync(poor)
    writer.send(poor)
    writer.with_probability(50, Look(poor))


@passage(5, repairs=True, scripted=True)
def answered_by_another(writer: Writer) -> None:
    """A participant receives a request and a response of another participant; it must respond to the next request."""
    author, holder = writer.two()
    label = writer.send(author, writer.heard_only_by(author, holder))
    writer.say(asks=(label,), content=None, senders_named=True, to=holder)
    writer.with_probability(70, Again(label, holder))
    pass_time(writer, 1, 3)
    writer.say(asks=(label,), content=None, senders_named=True, to=holder)
    writer.with_probability(30, Look(holder))
    writer.add(*3 * (Wait(writer.t_max_ms), Tick(holder)))


@passage(5, repairs=True, scripted=True)
def all_at_once(writer: Writer) -> None:
    """A peer requests three to nine messages at once, often more than a participant would request at once."""
    labels = [writer.say(lamport_ms=place) for place in range(writer.choices.integer(3, 7))]
    ghosts = tuple(f"ghost{place}" for place in range(writer.choices.integer(0, 2)))
    writer.say(asks=(*ghosts, *labels), content=None, senders_named=True)
    writer.with_probability(50, Look())
    writer.add(Wait(writer.t_max_ms), Tick())
    writer.with_probability(30, Look())


@passage(8, repairs=True, scripted=True)
def asked_by_two(writer: Writer) -> None:
    """One peer or two peers request the same message at two different times; time passes in small steps."""
    author, holder = writer.two()
    labels = [writer.send(author, writer.heard_only_by(author, holder)) for _ in writer.times(1, 3)]
    looks, alike = writer.chance(50), writer.chance(40)
    # The second request comes before the first response, after it, or twice: before and after it.
    for number, ticks in enumerate(writer.pick(((13, 13), (1, 12), (6, 12), (13, 3, 12), (13, 6, 12)))):
        peer = writer.peers[0 if alike else number]
        writer.say(peer, asks=tuple(labels), content=None, senders_named=True, to=holder)
        if looks:
            writer.add(Look(holder))
        for _ in range(ticks):
            writer.add(Wait(max(1, writer.t_max_ms // 12)), Tick(holder))


@passage(8, repairs=True, scripted=True, fits=lambda writer: writer.response_groups > 1)
def asked_by_three(writer: Writer) -> None:
    """Three peers ask for the same messages, one after another, in a group with several response groups."""
    author, holder = writer.two()
    labels = [writer.send(author, writer.heard_only_by(author, holder)) for _ in range(2)]
    for peer in writer.peers[:3]:
        writer.say(peer, asks=tuple(labels), content=None, senders_named=True, to=holder)
        writer.add(*4 * (Wait(writer.t_max_ms // 3 + 1), Tick(holder)))


@passage(5, repairs=True, scripted=True)
def repaired_then_asked(writer: Writer) -> None:
    """A participant that received a message by repair gets a request for it."""
    author, poor, label = missed(writer)
    writer.send(author)
    writer.add(Wait(writer.t_max_ms))
    speak(writer, poor)
    writer.add(*4 * (Wait(max(1, writer.t_max_ms // 3)), Tick()))
    writer.say(asks=(label,), content=None, senders_named=True, to=poor)
    writer.with_probability(50, Look(poor))
    writer.add(Wait(writer.t_max_ms), Tick(poor))


@passage(4, repairs=True, scripted=True)
def clock_before_the_gap(writer: Writer) -> None:
    """A participant sends after its clock was set back; when the clock has caught up, a repair request becomes due."""
    poor = writer.pick_participant()
    writer.send(poor)
    writer.add(StepClock(poor, -60_000))
    speak(writer, poor)
    writer.add(Wait(61_000))
    writer.say(after=(f"ghost{len(writer.labels)}",), senders_named=True, to=poor)
    writer.add(Wait(writer.t_max_ms + writer.pick((1_500, 0))))
    writer.sync(poor)
    writer.send(poor)
    writer.add(Wait(step_ms(writer)), Tick(poor))


@passage(5, repairs=True, scripted=True)
def left_to_others(writer: Writer) -> None:
    """A participant receives a request for a message that it misses, too; it must still request the message itself."""
    ghost = f"ghost{len(writer.labels)}"
    poor = writer.pick_participant()
    writer.say(after=(ghost,), senders_named=True, to=poor)
    writer.say("zoe", asks=(ghost,), content=None, to=poor)
    writer.add(Wait(1))
    writer.say(to=poor)
    speak(writer, poor)
    writer.add(Wait(writer.t_max_ms + writer.pick((1, 900))))
    speak(writer, poor)


@passage(3, repairs=True, scripted=True)
def told_by_a_sync(writer: Writer) -> None:
    """A participant misses a message that only a sync message names, and sends a sync and a content message."""
    poor = writer.pick_participant()
    writer.say(after=(f"ghost{len(writer.labels)}",), senders_named=True, to=poor, content=None)
    writer.add(Wait(writer.t_max_ms))
    writer.sync(poor)
    writer.send(poor)


@passage(5, repairs=True, scripted=True)
def waited_then_asked(writer: Writer) -> None:
    """Messages of a peer arrive in reverse order, so that one of them is buffered; then each of them is requested."""
    who = writer.pick_participant()
    first = writer.say(to=who, route=Route(late=((who, 10),)))
    later = writer.say(lamport_ms=1, after=(first,), senders_named=True, to=who)
    writer.add(Wait(100))
    writer.say(asks=(later, first), content=None, senders_named=True, to=who)
    writer.add(*2 * (Wait(writer.t_max_ms + 1), Tick(who)))


@passage(7, repairs=True, scripted=True)
def asked_in_silence(writer: Writer) -> None:
    """A participant receives a request and no other message until it must respond; it may send a message meanwhile."""
    author, holder = writer.two()
    if writer.chance(25):
        label = writer.say(lamport_ms=(1 << 53) + writer.choices.integer(1, 4), to=holder)
    else:
        label = writer.send(author, writer.heard_only_by(author, holder))
    writer.say(asks=(label,), content=None, senders_named=True, to=holder)
    writer.add(Tick(holder))
    if writer.chance(40):
        writer.send(holder, writer.heard_only_by(holder))
    writer.add(*3 * (Wait(writer.t_max_ms + 1_000), Tick(holder)))


@passage(6, repairs=True)
def asked_in_a_copy(writer: Writer) -> None:
    """A resent message requests another message, which a participant has sent or received."""
    who = writer.pick_participant()
    own, wanted = writer.send(who), writer.send(writer.pick_participant(who))
    known = own if writer.chance(50) else writer.send(writer.pick_participant(who))
    writer.add(Again(known, who, asks=(wanted,)))
    writer.add(*3 * (Wait(writer.t_max_ms), Tick(who)))
