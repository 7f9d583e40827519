"""Registers functions that write schedules as scenarios, and offers operations that many of them use."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.operations import Leave, Schedule, Settle, Tick, Unlink
from sds_harness.clearskies.player import perform
from sds_harness.clearskies.script import Numbers, Part, Peer, Script, ScriptLink

from ....judging.registry import ScenarioFunction
from ..register import REGISTER

HOUR_MS = 3_600_000
UNDER_TEST = ("alice", "alan", "anna")
READERS_UNDER_TEST = ("rita", "rosa")
READERS = ("rolf", "ruth")


def scenario(
    *exercises: str,
    needs: tuple[int, ...] = (),
    store: bool = False,
    resolution: pb.Resolution | None = None,
    violated: tuple[str, ...] = (),
    long: bool = False,
) -> Callable[[Callable[..., None]], ScenarioFunction]:
    """Register a function that writes a schedule as a scenario, as ``Register.scenario`` does.

    Its first parameter is the script. ``alice``, ``alan`` and ``anna`` are peers under test, and so are ``rita`` and
    ``rosa``, which are read-only. Each other parameter is a scripted peer; ``rolf`` and ``ruth`` are read-only. If the
    implementation lacks one of the capabilities ``needs``, the schedule ends before any peer is opened. At the end,
    time passes until no peer has anything more to send.
    """

    def write(function: Callable[..., None]) -> Schedule:
        script = Script()
        script.need(*needs)

        def open_participant(name: str) -> Part | Peer:
            if name in (*UNDER_TEST, *READERS_UNDER_TEST):
                return script.open(name, read_only=name in READERS_UNDER_TEST, store=store, resolution=resolution)
            return script.peer(name, read_only=name in READERS)

        function(script, *map(open_participant, list(signature(function).parameters)[1:]))
        if not isinstance(script.operations[-1], Settle | Tick | Leave | Unlink):
            script.settle()
        return script.schedule(function.__name__.replace("_", "-"))

    return REGISTER.schedule(write, perform, *exercises, violated=violated, long=long)


def subscribe(part: Part, peer: Peer, since: Numbers | None = None) -> ScriptLink:
    """Link a scripted peer to a peer under test, and let it request updates."""
    link = part.link(peer)
    link.ask(since)
    return link


def settle_and_observe(part: Part) -> None:
    """Let time pass until all peers under test are quiet, and observe the records of one of them."""
    part.script.settle()
    part.observe()


def request_all(part: Part, *, read_only: bool = False, observe: bool = False) -> None:
    """Let a new scripted peer request everything, and close its link when no peer has anything more to send.

    With ``observe``, the records of the peer under test are then observed.
    """
    script = part.script
    link = subscribe(part, script.peer(script.unique_label("reader"), read_only=read_only))
    script.settle()
    link.cut()
    if observe:
        part.observe()
