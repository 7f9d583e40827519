"""The stage on which a schedule of ClearSkies is played, with its peers under test and scripted peers."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import PROFILES, SignatureProfile

from .. import stage
from ..environment import PLAIN, Environment
from ..identifiers import in_body
from ..session import Session
from ..stage import NOT_OPENED, ScheduleStoppedError, start_of
from .actor import Actor
from .clubs import LEVEL_TO_PB, READ_ONLY, READ_WRITE, keys_of, profile_called
from .environments import NOTHING_UNUSUAL, ClearSkiesEnvironment
from .frames import PING_TYPE
from .language import CAPABILITY_OF_RESOLUTION, UPDATE_IDENTIFIERS
from .network import Network
from .peer import ScriptedPeer
from .trace import CLEARSKIES_DATABASE, Party, Step, Trace, store_name

QUIET_ROUNDS = 2
MAX_ROUNDS = 50
ROUND_MS = 5_000
"""Length of a round: some implementations collect messages for seconds, and links must not be idle for too long."""


class Stage(stage.Stage[Step]):
    """Plays one schedule on one session with an implementation, and records the trace."""

    trace: Trace
    streams = True

    def __init__(
        self, session: Session, schedule: str, dialect: object = None, environment: Environment = PLAIN
    ) -> None:
        """``dialect`` is ignored, because ClearSkies has no dialects; every stage has the parameter."""
        trace = Trace(
            schedule,
            session.declaration,
            CLEARSKIES_DATABASE,
            environment=environment.name,
            start_ms=start_of(session),
        )
        super().__init__(session, trace, partial(Step, reply=None, known={}), environment)
        self.last_signature: bytes | None = None
        """The last signature with the key of the writers, by any scripted peer."""
        self.clearskies_environment = environment if isinstance(environment, ClearSkiesEnvironment) else NOTHING_UNUSUAL
        self.actors: list[Actor] = []
        self.network = Network(self)
        self._stores: Path | None = None
        self._removal: Callable[[], object] | None = None
        self._count = 0

    @property
    def profile(self) -> SignatureProfile:
        """The signature profile of scripted peers: the declared one, if it is known."""
        declared = profile_called(self.trace.declaration.profile("signature"))
        return declared or next(iter(PROFILES.values()))

    def open(
        self,
        name: str = "alice",
        *,
        read_only: bool = False,
        resolution: pb.Resolution | None = None,
        store: bool = False,
    ) -> Actor:
        """Open a peer under test; with a ``store``, the peer keeps its records while it is closed.

        Raises ScheduleStoppedError if a needed capability is not declared, or if the peer is refused.
        """
        if read_only:
            self.need(pb.CAPABILITY_READ_ONLY)
        if resolution in CAPABILITY_OF_RESOLUTION:
            self.need(CAPABILITY_OF_RESOLUTION[resolution])
        if store:
            self.need(pb.CAPABILITY_STORE)
        level = READ_ONLY if read_only else READ_WRITE
        pb_configuration = pb.Configuration(resolution=resolution)
        command = pb.Open(
            peer_id=self.trace.club.join(name),
            access_level=LEVEL_TO_PB[level],
            keys=keys_of(level),
            configuration=pb_configuration,
            store=self.store_path(name) if store else "",
        )
        party = Party(name, 0, (), 0, pb_configuration, pb.Configuration(), participant_id=command.peer_id, level=level)
        self.trace.parties[name] = party
        self.enter(party, command)
        actor = Actor(self, party, command)
        self.actors.append(actor)
        self.add_bystanders(actor)
        return actor

    def sent_identifiers(self, step: Step) -> Iterator[tuple[str, str]]:
        limit = self.session.longest_identifier
        for message in self.trace.out(step):
            if len(message.body.raw) > limit:
                yield from in_body(message.body.members, UPDATE_IDENTIFIERS)

    def peer(self, name: str, *, read_only: bool = False) -> ScriptedPeer:
        """Make a scripted peer and add it to the club."""
        return ScriptedPeer(self, name, READ_ONLY if read_only else READ_WRITE)

    def enter(self, party: Party, command: pb.Open) -> None:
        """Open a peer under test, for the first time or again. Raises ScheduleStoppedError if it is refused."""
        command.now_ms = self.now_ms
        request = pb.Request(open=command)
        step = self.step(party.name, request)
        if step.reply is None or step.answer != "opened":
            raise ScheduleStoppedError(f"{NOT_OPENED}peer {party.name!r} was refused: {step.refusal}")
        party.handle, party.opened_ms = step.reply.opened.handle, step.now_ms
        party.in_force.CopyFrom(step.reply.opened.configuration)
        self.add_handle(party.name, party.handle)

    def add_bystanders(self, actor: Actor) -> None:
        """In an environment with bystanders, link a scripted peer that stays idle to a peer that was just opened."""
        if self.clearskies_environment.bystanders:
            actor.link(self.peer(f"bystander of {actor.name}"))

    def forget_handle(self, party: Party) -> None:
        """Forget the handle of a peer under test that was already freed."""
        self._handles.remove((party.name, party.handle))

    def close(self) -> None:
        try:
            super().close()
        finally:
            if self._removal is not None:
                self._removal()

    def settle(self) -> None:
        """Let time pass, five seconds at a time, until all peers under test are quiet: some send when they are ticked.

        Raises ScheduleStoppedError if they do not become quiet, which is recorded in the trace.
        """

        def play_round() -> None:
            self.advance(ROUND_MS)
            for actor in self.actors:
                if actor.is_open:
                    actor.tick()

        play_until_quiet([self.trace], play_round, len(self.environment.clock_offsets_ms))

    def value(self, value: Any) -> Any:
        """A JSON value as this environment changes it, for example with prefixes of other scripts in its strings."""
        match value:
            case str():
                return self.label(value)
            case list():
                return [self.value(each) for each in value]
            case dict():
                return {self.label(name): self.value(each) for name, each in value.items()}
            case _:
                return value

    def store_path(self, name: str) -> str:
        """A new path for a store. The files there are removed when the stage is closed."""
        if self._stores is None:
            self._stores = Path(tempfile.mkdtemp(prefix="clearskies-"))
            # This removes the folder even if the stage is never closed because the conversation broke.
            self._removal = weakref.finalize(self, shutil.rmtree, self._stores, ignore_errors=True)
        self._count += 1
        return str(self._stores / f"{self._count}-{self.trace.club.join(name)[:8]}.store")

    def copy_store(self, path: str) -> str:
        """Copy a store: all files whose names begin with its name. Returns the path of the copy."""
        self._count += 1
        name = Path(path).name
        copy = Path(path).with_name(f"{store_name(path)}.copy-{self._count}.store")
        for file in _files_of(path):
            target = copy.with_name(copy.name + file.name.removeprefix(name))
            if file.is_dir():
                shutil.copytree(file, target)
            else:
                shutil.copy2(file, target)
        return str(copy)

    def need_store_at(self, path: str) -> None:
        """Raises ScheduleStoppedError if no file of the store exists, for example because the implementation runs on
        another machine."""
        if not _files_of(path):
            raise ScheduleStoppedError(f"no file on this machine has a path that begins with {path}")


def play_until_quiet(traces: Sequence[Trace], play_round: Callable[[], None], clock_offsets: int) -> None:
    """Play rounds of ``ROUND_MS`` until peers send no more than pings, repeated requests and repeated answers.

    ``clock_offsets`` is the number of offsets of an unsteady clock. Raises ScheduleStoppedError if peers do not become
    quiet, which is recorded in the traces.
    """
    # An unsteady clock can step back before a time that an implementation waits for. So each offset of the clock must
    # have been in use in ``QUIET_ROUNDS`` quiet rounds.
    quiet, enough = 0, QUIET_ROUNDS * max(1, clock_offsets)
    for _ in range(MAX_ROUNDS):
        known = [len(trace.steps) for trace in traces]
        play_round()
        spoke = any(_says_something(t, s) for t, n in zip(traces, known, strict=True) for s in t.steps[n:])
        quiet = 0 if spoke else quiet + 1
        if quiet >= enough:
            return
    for trace in traces:
        trace.unsettled.append(len(trace.steps))
    raise ScheduleStoppedError(f"after {MAX_ROUNDS * ROUND_MS // 1000} s peers still send messages to each other")


def _says_something(trace: Trace, step: Step) -> bool:
    """Return whether a peer sent more than pings, repeated requests and repeated answers."""
    messages = trace.out(step)
    return bool(step.sent) and not (messages and all(m.type == PING_TYPE or m.repeated for m in messages))


def _files_of(path: str) -> list[Path]:
    """The files of a store: all files whose names begin with the name of the store."""
    return [file for file in Path(path).parent.iterdir() if file.name.startswith(Path(path).name)]
