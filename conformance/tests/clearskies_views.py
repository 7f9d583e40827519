"""What tests of the checks of ClearSkies share: stages on the model, in this process, and views of what was played."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import Config, Peer
from clearskies_reference.testee.server import Testee, TesteeOptions
from clearskies_reference.variants import VARIANTS
from sds_conformance.judging.certification import Certification, certify
from sds_conformance.judging.judgement import Outcome
from sds_conformance.judging.plan import plan
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.clearskies.register import REGISTER
from sds_conformance.protocols.clearskies.rules import RULES
from sds_conformance.protocols.clearskies.view.peer_view import PeerView, peer_views
from sds_harness.clearskies.actor import Actor
from sds_harness.clearskies.clubs import record_id
from sds_harness.clearskies.frames import Frame
from sds_harness.clearskies.language import open_session
from sds_harness.clearskies.links import ScriptedLink
from sds_harness.clearskies.peer import ScriptedPeer
from sds_harness.clearskies.stage import Stage
from sds_harness.link import Limits, LocalLink

REVISION = "clearskies-database"
Handle = Callable[[pb.Request], pb.Reply]


def model(peer_class: type[Peer] = Peer, **config: Any) -> Handle:
    """The model, or a peer made of it, behind the testee protocol."""
    return Testee(TesteeOptions("1", Config(**config), peer_class)).handle


def variant(name: str) -> Handle:
    """A legal variant of the model behind the testee protocol."""
    chosen = VARIANTS[name]
    return model(chosen.peer_class, **dict(chosen.config))


def stage_of(handle: Handle | None = None) -> Stage:
    """A stage on which it plays."""
    session = open_session(lambda: LocalLink(handle or model()), Limits(), REVISION)
    return Stage(session, "a test")


def view_of(stage: Stage, name: str = "alice") -> PeerView:
    """The view of one peer on a trace."""
    return next(view for view in peer_views(stage.trace) if view.party.name == name)


def outcomes(view: PeerView, requirement: str) -> list[Outcome]:
    """The observations of a requirement in a view."""
    return [seen.outcome for check in REGISTER.checks[requirement] for seen in check.function(view)]


def certified(handle: Handle, *scenarios: str) -> Certification:
    """The verdicts on an implementation, in some scenarios or in all."""
    return certify(lambda _: LocalLink(handle), plan(RULES, scenarios=scenarios, revision=REVISION), Limits())


def by_verdict(outcome: Certification, *verdicts: Verdict) -> set[str]:
    """The requirements with these verdicts."""
    return {verdict.requirement.id for verdict in outcome.verdicts if verdict.verdict in verdicts}


def subscribe(actor: Actor, peer: ScriptedPeer, since: Any = None) -> ScriptedLink:
    """A link to a peer under test whose other end has asked for updates."""
    link = actor.link(peer)
    link.ask(since)
    return link


def request_all(actor: Actor) -> ScriptedLink:
    """Let a new scripted peer ask for everything, and hang up when all are quiet."""
    stage = actor.stage
    link = subscribe(actor, stage.peer(f"reader {len(stage.trace.steps)}"))
    stage.settle()
    if not link.broken:
        link.cut()
    return link


def version(peer: ScriptedPeer, key: str, value: Any, clock: Mapping[str, int], **more: Any) -> Frame:
    """A version of the record that all scripted peers mean by the key, with this clock."""
    return peer.update(key, value, **{"uuid": record_id(key), "vector_clock": clock, **more})
