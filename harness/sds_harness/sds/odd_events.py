"""What a scripted peer, an odd application or a lot of time brings to one participant of a small world of SDS.

Each function is one kind of event. Messages that are named without being sent here are those of others in the schedule:
``a1`` is the first that alice does. What a peer said and what was lost of it has the label of the event in front.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..schedules.operations import Route
from .events import PERIOD_MS, event
from .operations import Again, Ephemeral, Garble, Look, Operation, Say, Send, StepClock, Sync, Tick, Wait

PEER, OTHER = "xavier", "yolanda"
ODD, APPLICATION, CLOCK, TWINS, MANY, CHANNEL = "odd", "application", "clock", "twins", "many", "channel"
OWN, NEXT = "a1", "a2"
DAY_MS = 86_400_000
_MOST_MS = 10**12
"""In one operation; and so many labels there are in a message at most."""
_MOST_LABELS = 950
Said = tuple[Operation, ...]
Story = Callable[[str, str, Route], Said]

odd = partial(event, ODD, most=1, equals=False, starts=True, aware=True)
"""One odd message of a scripted peer, or a few that belong together."""


def _lost(who: str, label: str, *, peer: str = PEER, **rest: object) -> Say:
    """A peer says something that never arrives, so that others can name it."""
    return Say(peer, label, to=who, route=Route((who,)), **rest)  # type: ignore[arg-type]


# ---- what it depends on ----------------------------------------------------------------------------------------------


@odd()
def gap(who: str, label: str, route: Route) -> Operation:
    """A content message that depends on one that nobody has."""
    return Say(PEER, label, after=("ghost",), senders_named=True, to=who)


@odd()
def half_a_gap(who: str, label: str, route: Route) -> Said:
    """It depends on one that has come, and after that on one that has not; it waits, whatever time passes."""
    first, second = f"{label}.1", f"{label}.2"
    return (
        Say(PEER, first, to=who),
        _lost(who, second),
        Say(PEER, label, after=(first, second), to=who),
        Tick(who),
        Wait(3_700_000),
        Tick(who),
        Again(second, who),
        Tick(who),
        Look(who),
    )


@odd()
def chain(who: str, label: str, route: Route) -> Said:
    """What each next one waits for comes last."""
    one, two, three, four, five = (f"{label}.{n}" for n in range(1, 6))
    return (
        _lost(who, one),
        Say(PEER, two, after=(one,), to=who),
        Say(PEER, three, after=(two,), to=who),
        Say(OTHER, four, after=(one,), to=who),
        Say(OTHER, five, after=(one, two), to=who),
        Ephemeral(who),
        Send(who, f"{label}.own"),
        Say(PEER, f"{label}.passing", lamport_ms=None, to=who),
        Look(who),
        Again(one, who),
        Tick(who),
        Wait(PERIOD_MS),
        Tick(who),
        Look(who),
        Send(who, f"{label}.then"),
        Sync(who),
    )


@odd()
def given_up(who: str, label: str, route: Route) -> Said:
    """Of two gaps one is filled after the other was given up."""
    one, two = f"{label}.1", f"{label}.2"
    return (
        _lost(who, one),
        _lost(who, two),
        Say(PEER, f"{label}.a", after=(one,), to=who),
        Wait(46_000),
        Tick(who),
        Say(PEER, f"{label}.b", after=(two,), to=who),
        Say(PEER, f"{label}.c", after=(one, two), to=who),
        Say(PEER, f"{label}.d", content=None, after=(two,), to=who),
        Wait(50_000),
        Tick(who),
        Look(who),
        Again(two, who),
        Tick(who),
        Wait(100_000),
        Tick(who),
        Look(who),
    )


@odd()
def passing(who: str, label: str, route: Route) -> Said:
    """An ephemeral message has the ID of one that is missing."""
    ghost = f"{label}.1"
    return (
        _lost(who, ghost),
        Say(PEER, label, after=(ghost,), to=who),
        Say(PEER, f"{label}.2", lamport_ms=None, id_of=ghost, to=who),
        Say(PEER, f"{label}.3", after=(f"{label}.2",), to=who),
        Say(PEER, f"{label}.4", content=None, id_of=ghost, to=who),
        Tick(who),
        Look(who),
    )


# ---- what it acknowledges --------------------------------------------------------------------------------------------


@odd()
def tells(who: str, label: str, route: Route) -> Operation:
    """A sync message with the first message of all in its filter."""
    return Say(PEER, label, content=None, filter=(OWN,), to=who)


@odd()
def names_two(who: str, label: str, route: Route) -> Operation:
    """It names two messages, and before them one that is missing."""
    return Say(PEER, label, after=("ghost", OWN, NEXT), to=who)


@odd()
def tells_twice(who: str, label: str, route: Route) -> Said:
    """Two filters with the message, and one without."""
    own, then = f"{label}.own", f"{label}.then"
    return (
        Send(who, own),
        Send(who, then),
        Say(PEER, f"{label}.1", filter=(own,), to=who),
        Tick(who),
        Look(who),
        Say(PEER, f"{label}.2", content=None, filter=(), to=who),
        Look(who),
        Wait(PERIOD_MS),
        Tick(who),
        Say(OTHER, f"{label}.3", after=("ghost",), filter=(own, then), to=who),
        Look(who),
        Wait(61_000),
        Tick(who),
        Say(OTHER, f"{label}.4", content=None, after=("ghost", own), to=who),
        Look(who),
        Wait(61_000),
        Tick(who),
        Say(PEER, f"{label}.5", content=None, filter=(own,), to=who),
        Say(OTHER, f"{label}.6", content=None, filter=(own,), to=who),
        Wait(61_000),
        Tick(who),
        Look(who),
    )


@odd()
def silence(who: str, label: str, route: Route) -> Said:
    """Nobody says anything for ten days, but that it is resent."""
    return (
        Send(who, f"{label}.own"),
        Say(PEER, f"{label}.1", content=None, filter=(f"{label}.own",), to=who),
        Send(who, f"{label}.other"),
        *(Wait(PERIOD_MS), Tick(who), Say(OTHER, label, to=who), Wait(PERIOD_MS), Tick(who), Wait(5_000), Tick(who)),
        *(Sync(who), Wait(30_000), Tick(who)),
        *(step for _ in range(24) for step in (Wait(61_000), Tick(who))),
        *(step for _ in range(10) for step in (Wait(DAY_MS), Tick(who))),
        Look(who),
    )


# ---- fields ----------------------------------------------------------------------------------------------------------


@odd()
def ahead(who: str, label: str, route: Route) -> Operation:
    """A content message from ten minutes ahead."""
    return Say(PEER, label, lamport_ms=600_000, to=who)


def _large(lamport_ms: int) -> Story:
    def write(who: str, label: str, route: Route) -> Said:
        """Timestamps as far from those of the clock as they can be, and between."""
        return (
            Say(PEER, f"{label}.1", lamport_ms=lamport_ms, to=who),
            Say(OTHER, f"{label}.2", lamport_ms=lamport_ms + 1, to=who),
            Say(PEER, f"{label}.3", lamport_ms=lamport_ms - 1, to=who),
            Say(PEER, f"{label}.4", content=None, lamport_ms=lamport_ms + 3, to=who),
            Say(PEER, f"{label}.5", lamport_ms=-1, to=who),
            Look(who),
            Send(who, f"{label}.own"),
            Sync(who),
            Look(who),
        )

    return write


for _lamport_ms in (-(10**13) + 1, (1 << 53) - 1_800_000_000_000, (1 << 63) - 1_800_000_000_000, (1 << 64) - 8):
    odd()(_large(_lamport_ms))


@odd()
def in_another_order(who: str, label: str, route: Route) -> Said:
    """What is later in the log comes first; and several with one timestamp, whose IDs differ by case, too."""
    return (
        *(Say(PEER, f"{label}.{n}", lamport_ms=n, to=who) for n in (9, 3, 12, 6)),
        *(Say(PEER, f"{label}.{n}", lamport_ms=5, to=who) for n in ("b", "C", "a", "D")),
        Look(who),
        Send(who, f"{label}.own"),
        *(Again(f"{label}.{n}", who) for n in (9, "b")),
        Look(who),
    )


@odd()
def impostor(who: str, label: str, route: Route) -> Said:
    """Messages of all kinds give whom they reach as their sender."""
    return (
        Say(PEER, label, poses_as=who, lamport_ms=60_000, to=who),
        Say(PEER, f"{label}.2", content=None, poses_as=who, after=(OWN,), lamport_ms=60_000, to=who),
        Say(PEER, f"{label}.3", lamport_ms=None, poses_as=who, to=who),
        Look(who),
        Send(who, f"{label}.own"),
        Sync(who),
        Look(who),
    )


@odd()
def reflected(who: str, label: str, route: Route) -> Said:
    """The network brings an own message back, and one that names it."""
    return (
        Send(who, f"{label}.own"),
        Again(f"{label}.own", who),
        Look(who),
        Say(PEER, label, id_of=f"{label}.own", to=who),
        Look(who),
    )


def _filtered(raw: str) -> Story:
    def write(who: str, label: str, route: Route) -> Said:
        """Filters that are none of the text, or of another size."""
        return (
            Send(who, f"{label}.own"),
            *(Say(peer, f"{label}.{peer}", raw_filter=raw, to=who) for peer in (PEER, OTHER)),
            Say(PEER, label, content=None, raw_filter=raw, after=(f"{label}.own",), to=who),
            Look(who),
        )

    return write


for _raw in ("00", "ff" * 9, "01" * 40, "ff" * 49_000, "0a0508001000", "0801"):
    odd()(_filtered(_raw))


@odd()
def unfiltered(who: str, label: str, route: Route) -> Said:
    """Messages without a filter, with fields from the future, in another order, and with hints."""
    return (
        Say(PEER, f"{label}.1", to=who),
        Say(PEER, f"{label}.2", after=(f"{label}.1",), hint=True, senders_named=True, to=who),
        Say(PEER, f"{label}.3", after=("ghost",), hint=True, senders_named=True, to=who),
        Say(PEER, f"{label}.4", encoding="unknown", to=who),
        Say(PEER, f"{label}.5", encoding="reversed", content=None, to=who),
        Tick(who),
        Look(who),
        Send(who, f"{label}.own"),
    )


@odd()
def equal(who: str, label: str, route: Route) -> Said:
    """Two messages of equal content, and contents of zero bytes and of no text."""
    return (
        *(Say(PEER, f"{label}.{n}", content="the same", to=who) for n in (1, 2)),
        Say(PEER, f"{label}.3", raw="00ff2061ff00", to=who),
        Say(PEER, f"{label}.4", raw="20206120", lamport_ms=None, to=who),
        Look(who),
    )


@odd()
def hybrid(who: str, label: str, route: Route) -> Said:
    """Content without a timestamp that names messages and has a filter; and what has neither."""
    return (
        Say(PEER, f"{label}.1", lamport_ms=None, after=(OWN, "ghost"), filter=(OWN,), to=who),
        Say(PEER, f"{label}.2", lamport_ms=None, content=None, to=who),
        Tick(who),
        Look(who),
    )


@odd()
def syncs(who: str, label: str, route: Route) -> Said:
    """Sync messages with empty content, with a known ID, with gaps, and from ahead."""
    return (
        Say(PEER, f"{label}.0", to=who),
        Say(PEER, f"{label}.1", content="", lamport_ms=5, filter=(OWN,), to=who),
        Say(PEER, f"{label}.2", content=None, lamport_ms=7, id_of=f"{label}.0", after=(OWN,), to=who),
        Say(PEER, f"{label}.3", content=None, after=("ghost", NEXT), lamport_ms=60_000, to=who),
        Say(PEER, f"{label}.3", content=None, after=("ghost", NEXT), lamport_ms=60_000, to=who),
        Look(who),
        Wait(100_000),
        Tick(who),
        Send(who, f"{label}.own"),
        Sync(who),
        Look(who),
    )


@odd()
def noise(who: str, label: str, route: Route) -> Operation:
    """Bytes that are no message."""
    return Garble(who, "ffffffffffffffff")


@odd(repairs=True)
def asks(who: str, label: str, route: Route) -> Operation:
    """A sync message that asks for the first message of all."""
    return Say(PEER, label, content=None, asks=(OWN,), senders_named=True, to=who)


# ---- IDs that are nearly the same ------------------------------------------------------------------------------------

twins = partial(event, TWINS, most=1, equals=False, starts=True, aware=True)


def _nearly(one: str, other: str) -> Story:
    def write(who: str, label: str, route: Route) -> Said:
        """IDs and names that a careless comparison takes for the same."""
        first, second = f"{label}{one}", f"{label}{other}"
        return (
            _lost(who, first),
            Say(PEER, second, to=who),
            Say(PEER, f"{label}.1", after=(first,), to=who),
            Look(who),
            Again(first, who),
            Look(who),
            *(_lost(who, f"{label}.{n}") for n in (2, 3)),
            Say(PEER, f"{first}.w", after=(f"{label}.2",), to=who),
            Say(PEER, f"{second}.w", after=(f"{label}.3",), to=who),
            Again(f"{label}.2", who),
            Again(f"{label}.3", who),
            Look(who),
            Say(f"{who}{one}", f"{label}.4", to=who),
            Send(who, f"{label}.own"),
            Sync(who),
            Look(who),
        )

    return write


for _one, _other in (("\0one", "\0two"), ("\u00e9", "e\u0301"), ("\ufb01", "fi"), ("x" * 50 + "1", "x" * 50 + "2")):
    twins()(_nearly(_one, _other))


# ---- the application -------------------------------------------------------------------------------------------------

application = partial(event, APPLICATION, most=1, starts=True, equals=False, aware=True)


@application()
def hinted(who: str, label: str, route: Route) -> Said:
    """The application gives retrieval hints, and content that is no text, twice the same, and of spaces."""
    return (
        *(Send(who, f"{label}.{n}", hint=True) for n in range(3)),
        Say(PEER, label, after=(f"{label}.0", "ghost"), hint=True, to=who),
        *(Send(who, f"{label}.a{n}", content="the same") for n in range(2)),
        *(Send(who, f"{label}.b{n}", raw=raw) for n, raw in enumerate(("20206120", "00ff2061ff00", "00", "ff"))),
        *(Ephemeral(who, raw=raw) for raw in ("20206120", "00ff2061ff00")),
        Sync(who),
        Look(who),
    )


@application()
def busy(who: str, label: str, route: Route) -> Said:
    """Several at once, and each resent while others come, with a timestamp that is ahead of the clock."""
    return (
        Say(OTHER, f"{label}.ahead", lamport_ms=600_000, to=who),
        Send(who, f"{label}.1", times=4),
        *(Wait(20_000), Tick(who), Send(who, f"{label}.2"), Wait(11_000), Tick(who), Send(who, f"{label}.3")),
        *(Wait(20_000), Say(PEER, label, to=who), Wait(11_000), Tick(who), Sync(who), Wait(31_000), Tick(who)),
        *(Wait(61_000), Tick(who), Wait(5_000), Tick(who), Look(who)),
    )


# ---- the clock -------------------------------------------------------------------------------------------------------

clock = partial(event, CLOCK, most=1, equals=False, starts=True, aware=True)


def _stepped(ms: int) -> Story:
    def write(who: str, label: str, route: Route) -> Said:
        """The clock is another one from now on, or a long time passes; what was due is due."""
        return (
            Send(who, f"{label}.1"),
            _lost(who, f"{label}.2"),
            Say(PEER, f"{label}.3", after=(f"{label}.2",), to=who),
            Say(PEER, f"{label}.4", content=None, filter=(f"{label}.1",), to=who),
            Tick(who),
            *_passing(who, ms),
            *(step for _ in range(3) for step in (Tick(who), Wait(PERIOD_MS))),
            Send(who, f"{label}.5"),
            _lost(who, f"{label}.6"),
            Say(PEER, f"{label}.7", after=(f"{label}.6",), to=who),
            Sync(who),
            Say(PEER, label, lamport_ms=min(ms, 10**12), to=who),
            *(step for _ in range(4) for step in (Tick(who), Wait(PERIOD_MS))),
            Tick(who),
            Look(who),
        )

    return write


def _passing(who: str, ms: int) -> Said:
    """As few steps as there can be in a schedule; back goes the clock of the participant alone."""
    if ms < 0:
        return (StepClock(who, ms),)
    return (*(Wait(_MOST_MS) for _ in range(ms // _MOST_MS)), Wait(ms % _MOST_MS))


for _ms in (-3_600_000, (1 << 31) + 1_000, (1 << 32) + 1_000, 12 * 365 * DAY_MS, 80 * 365 * DAY_MS):
    clock()(_stepped(_ms))


# ---- another channel -------------------------------------------------------------------------------------------------

channel = partial(event, CHANNEL, most=1, equals=False, starts=True, aware=True)


def _elsewhere(other: int) -> Story:
    def write(who: str, label: str, route: Route) -> Said:
        """Much the same happens in a channel whose name is nearly that of the first."""
        return (
            Send(who, f"{label}.1"),
            Send(who, f"{label}.2", channel=other),
            Say(PEER, f"{label}.3", channel=other, lamport_ms=900_000, after=(f"{label}.1", f"{label}.2"), to=who),
            Say(PEER, f"{label}.4", channel=other, id_of=f"{label}.3", to=who),
            Say(PEER, f"{label}.5", after=(f"{label}.3",), to=who),
            Send(who, f"{label}.6"),
            Sync(who, channel=other),
            Send(who, f"{label}.7", channel=other),
            Tick(who),
            Look(who),
        )

    return write


CHANNELS = ("c1", "C1", "c1\0again", "c\u00e9", "ce\u0301")
"""Names of channels that a careless comparison takes for the same."""
for _place in range(1, len(CHANNELS)):
    channel()(_elsewhere(_place))


# ---- many ------------------------------------------------------------------------------------------------------------

many = partial(event, MANY, most=1, equals=False, starts=True, aware=True)


def _some(names: tuple[str, ...]) -> tuple[str, ...]:
    """The first and the last of them, as many as one message may name."""
    half = _MOST_LABELS // 2
    return names if len(names) <= _MOST_LABELS else names[:half] + names[-half:]


def _own(number: int) -> Story:
    def write(who: str, label: str, route: Route) -> Said:
        """Own messages in one go, some of which others acknowledge."""
        all_names = tuple(f"{label}.{n}" for n in range(1, number))
        named = _some(all_names)
        parts = [all_names[n : n + _MOST_LABELS] for n in range(0, number, _MOST_LABELS)]
        return (
            Send(who, label, times=number),
            Wait(PERIOD_MS),
            Tick(who),
            Say(PEER, f"{label}.f", content=None, filter=named, to=who),
            Look(who),
            Wait(61_000),
            Tick(who),
            *(Say(PEER, f"{label}.h{n}", after=part, to=who) for n, part in enumerate(parts)),
            Look(who),
            Sync(who),
        )

    return write


def _heard(number: int) -> Story:
    def write(who: str, label: str, route: Route) -> Said:
        """Messages of peers, the first of which come late, and what names them all; and one that waits for the last."""
        all_names = tuple(f"{label}.{n}" for n in range(number))
        names = _some(all_names)
        return (
            *(Say(f"{PEER}-{n}" if n < 120 else PEER, name, lamport_ms=n, to=who) for n, name in enumerate(all_names)),
            Say(PEER, f"{label}.late", lamport_ms=-5, to=who),
            *(_lost(who, f"{label}.lost{n}") for n in range(2)),
            Say(PEER, f"{label}.n1", after=(*names, f"{label}.lost0"), to=who),
            Say(PEER, f"{label}.n2", after=(f"{label}.lost1", *names), to=who),
            Say(OTHER, f"{label}.n3", after=names, to=who),
            Again(names[0], who),
            Look(who),
            Send(who, f"{label}.own"),
        )

    return write


def _waiting(number: int) -> Story:
    def write(who: str, label: str, route: Route) -> Said:
        """Each message of a peer waits for the one before it, and the first comes last."""
        names = tuple(f"{label}.{n}" for n in range(number))
        return (
            _lost(who, names[0]),
            *(Say(PEER, name, after=(names[n],), to=who) for n, name in enumerate(names[1:])),
            Look(who),
            Again(names[0], who),
            Tick(who),
            Look(who),
        )

    return write


for _number in (150, 1_000):
    for _many in (_own, _heard, _waiting):
        many()(_many(_number))


@many()
def syncs_and_ephemerals(who: str, label: str, route: Route) -> Said:
    """Sync and ephemeral messages, of the participant and of a peer."""
    rounds = range(120)
    return (
        Send(who, f"{label}.own"),
        *(
            step
            for n in rounds
            for step in (Sync(who), Ephemeral(who), Say(PEER, f"{label}.e{n}", lamport_ms=None, to=who))
        ),
        *(Say(PEER, f"{label}.s{n}", content=None, filter=(f"{label}.own",) if n > 90 else (), to=who) for n in rounds),
        Look(who),
    )
