"""The rules for ClearSkies, and its reference model in this process."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from types import MappingProxyType
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import Config, Peer
from clearskies_reference.mutants import MUTANTS, join_mutants
from clearskies_reference.testee.server import Testee, TesteeOptions
from clearskies_reference.variants import VARIANTS
from sds_harness.clearskies.environments import ENVIRONMENTS
from sds_harness.clearskies.language import CLEARSKIES
from sds_harness.clearskies.stage import Stage
from sds_harness.clearskies.trace import CLEARSKIES_DATABASE, Trace
from sds_harness.environment import Environment
from sds_harness.link import LocalLink
from sds_harness.session import Session
from sds_testee.command import look_up_all
from sds_testee.version import suite_version

from ...judging.catalogue import Catalogue
from ...judging.exercise import Model
from ...judging.rules import Rules
from . import checks as _checks
from . import positions as _positions
from . import scenarios as _scenarios
from .catalogue import load_catalogue
from .declaration_notes import PROFILES
from .register import REGISTER
from .view.peer_view import PeerView, peer_views

REGISTERED = (_checks, _scenarios, _positions)
"""The packages whose import fills the register."""


class ClearSkiesRules(Rules):
    """The rules for the ClearSkies database extension."""

    register = REGISTER
    revisions = MappingProxyType({CLEARSKIES_DATABASE.name: CLEARSKIES_DATABASE})
    language = CLEARSKIES
    environments = ENVIRONMENTS
    profiles = PROFILES
    positions = "CA"

    @property
    def catalogue(self) -> Catalogue:
        return load_catalogue()

    def stage(self, session: Session, schedule: str, dialect: None, environment: Environment) -> Stage:
        return Stage(session, schedule, dialect, environment)

    def views(self, trace: Trace) -> list[PeerView]:
        return peer_views(trace)

    def accepted_any(self, view: PeerView) -> bool | None:
        return view.accepted_any


RULES = ClearSkiesRules()


class _RepeatingLink(LocalLink):
    """A link to the model that gives it the same random numbers in each run."""

    def __init__(self, handle: Callable[[pb.Request], pb.Reply], draws: Random) -> None:
        super().__init__(handle)
        self._draws = draws

    def note(self, kind: str, /, **fields: Any) -> int:
        if kind == "part":
            self._draws.seed(0)
        return super().note(kind, **fields)


def start(
    config: Config | None = None,
    peer_class: type[Peer] = Peer,
    name: str = "clearskies_reference",
    without: frozenset[int] = frozenset(),
) -> LocalLink:
    """Start the reference model, or a modified one, in this process. It draws the same UUIDs in each run.

    The model does not declare the capabilities ``without``.
    """
    draws = Random(0)
    options = TesteeOptions(suite_version(), config or Config(), peer_class, name, without, draws.randbytes)
    return _RepeatingLink(Testee(options).handle, draws)


def _mutant(name: str, without: frozenset[int]) -> LocalLink:
    mutant = look_up_all(MUTANTS, name, join_mutants, MODEL.module)
    return start(mutant.configure(Config()), mutant.peer_class, f"mutant {name}", without)


def _variant(name: str, without: frozenset[int]) -> LocalLink:
    variant = VARIANTS[name]
    return start(variant.configure(Config()), variant.peer_class, f"variant {name}", without)


MODEL = Model(
    "clearskies_reference",
    lambda without: start(without=without),
    lambda: MUTANTS,
    _mutant,
    lambda: VARIANTS,
    _variant,
    lambda name: [(CLEARSKIES_DATABASE.name, "full")],
    start_in_dialect=lambda dialect, without: start(without=without),
)
