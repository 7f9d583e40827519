"""The rules of SDS, and the reference model of SDS, which runs in the process of the suite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sds_harness.clock import ClockProbe
from sds_harness.declaration import Declaration
from sds_harness.environment import Environment
from sds_harness.link import LocalLink
from sds_harness.sds.clock import probe_clock
from sds_harness.sds.dialects import load_named_dialect
from sds_harness.sds.environments import ENVIRONMENTS
from sds_harness.sds.language import SDS
from sds_harness.sds.stage import Stage
from sds_harness.sds.trace import Trace
from sds_harness.session import Session
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import REVISIONS, V2026_01, Config, ConfigurationError, Participant
from sds_reference.testee.dialect import Dialect, dialect_names
from sds_reference.testee.server import Testee, TesteeOptions
from sds_testee.command import look_up_all
from sds_testee.version import suite_version

from ...judging.catalogue import Catalogue, Requirement
from ...judging.deafness import Hearing
from ...judging.exercise import Model
from ...judging.rules import Rules, UnknownDialectError
from . import checks as _checks
from . import positions as _positions
from . import scenarios as _scenarios
from .catalogue import load_catalogue
from .declaration_notes import PROFILES
from .doubts import Heard, extract_doubt_data
from .register import REGISTER
from .source import DIFFERS_IN, SOURCE, list_choices
from .view.channel_view import ChannelView, channel_views
from .view.deafness import count_shown_messages
from .view.refusals import accepted_any

if TYPE_CHECKING:
    from sds_reference.mutants import Mutant
    from sds_reference.variants import Variant


class SdsRules(Rules):
    """Defines the requirements of SDS to judge, and how SDS implementations are driven, in all revisions."""

    register = REGISTER
    revisions = REVISIONS
    language = SDS
    environments = ENVIRONMENTS
    profiles = PROFILES
    differs_in = DIFFERS_IN
    dialects = dialect_names()
    shows_time = True

    @property
    def catalogue(self) -> Catalogue:
        return load_catalogue()

    def stage(self, session: Session, schedule: str, dialect: Dialect | None, environment: Environment) -> Stage:
        return Stage(session, schedule, dialect, environment)

    def views(self, trace: Trace) -> list[ChannelView]:
        return channel_views(trace)

    def is_in_profile(self, requirement: Requirement, profile: str) -> bool:
        """Does a requirement belong to a profile: "core" for SDS without SDS-R, "sds-r" for SDS-R, "full" for both?"""
        core = not requirement.section.startswith("R-")
        return profile == "full" or core == (profile == "core")

    def dialect(self, revision: str, name: str) -> Dialect | None:
        """Load the wire dialect that the user selected. Raises UnknownDialectError if SDS has no such dialect.

        Returns None if the wire layout of the revision is not that of SDS: dialects translate only that layout.
        """
        if REVISIONS[revision].wire is not V2026_01:
            return None
        try:
            return load_named_dialect(name)
        except ConfigurationError as error:
            raise UnknownDialectError(str(error)) from None

    def find_misfit(self, revision: str, profile: str, dialect: str) -> str:
        if profile == "sds-r" and not REVISIONS[revision].repairs:
            return f"{revision} has no SDS-R: leave --profile out"
        if dialect and REVISIONS[revision].wire is not V2026_01:
            return f"dialects are variants of the layout of SDS, which {revision} does not have: leave --dialect out"
        return ""

    def accepted_any(self, view: ChannelView) -> bool | None:
        return accepted_any(view)

    def extract_doubt_data(self, trace: Trace) -> Heard:
        return extract_doubt_data(trace)

    def clock(self, session: Session, dialect: Dialect | None) -> ClockProbe:
        return probe_clock(session, dialect)

    def excuse(self, requirement: str, declared: Declaration) -> str:
        """The reason why a requirement does not apply to an implementation; "" if it applies.

        Requirements on the creation of message IDs do not apply to an implementation that gets them from the
        application.
        """
        from_caller = requirement == "SDS-MSG-14" and declared.can(pb.CAPABILITY_MESSAGE_ID_REQUIRED)
        return (
            "the implementation declares message-id-required, so the application makes the message IDs"
            if from_caller
            else ""
        )

    def count_shown_messages(self, view: ChannelView) -> Hearing:
        return count_shown_messages(view)


RULES = SdsRules()

REGISTERED = (_checks, _scenarios, _positions)
"""The packages whose import fills the register."""


def start(
    config: Config | None = None,
    participant: type[Participant] = Participant,
    name: str = "sds_reference",
    without: frozenset[int] = frozenset(),
    dialect: Dialect | None = None,
) -> LocalLink:
    """Start the reference model, or a modified model, in the process of the suite.

    ``without`` contains the capabilities that the model does not declare.
    """
    options = TesteeOptions(suite_version(), config or Config(), participant, name, dialect, without)
    return LocalLink(Testee(options).handle)


def _start_in_dialect(dialect: str, without: frozenset[int]) -> LocalLink:
    return start(without=without, dialect=load_named_dialect(dialect) if dialect else None)


def _mutants() -> Mapping[str, Mutant]:
    from sds_reference.mutants import MUTANTS

    return MUTANTS


def _variants() -> Mapping[str, Variant]:
    from sds_reference.variants import VARIANTS

    return VARIANTS


def _mutant(name: str, without: frozenset[int]) -> LocalLink:
    from sds_reference.mutants import join_mutants

    mutant = look_up_all(_mutants(), name, join_mutants, MODEL.module)
    dialect = load_named_dialect(mutant.dialect) if mutant.dialect else None
    return start(mutant.configure(Config()), mutant.participant_class, f"mutant {name}", without, dialect)


def _variant(name: str, without: frozenset[int]) -> LocalLink:
    variant = _variants()[name]
    return start(variant.configure(Config()), variant.participant_class, f"variant {name}", without)


MODEL = Model(
    "sds_reference",
    lambda without: start(without=without),
    _mutants,
    _mutant,
    _variants,
    _variant,
    list_choices,
    SOURCE,
    _start_in_dialect,
)
