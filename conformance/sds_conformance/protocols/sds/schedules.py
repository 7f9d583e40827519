"""The generated schedules of SDS, and the reference model that plays participants in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from sds_harness.declaration import Declaration
from sds_harness.link import LocalLink
from sds_harness.schedules.choices import NAMES
from sds_harness.sds import alphabet
from sds_harness.sds.generator import Grammar, generate_schedule, passages_of
from sds_harness.sds.notation import NOTATION
from sds_harness.sds.operations import Operation, Say, Schedule, Send
from sds_harness.sds.passages import PASSAGES
from sds_harness.sds.player import Player, play
from sds_harness.sds.writer import PEERS, SDS, Text
from sds_reference import FORUM_2024, HASH_PROFILES, PROFILES, REVISIONS, V2026_01, Config

from ..schedules import Repertoire
from .group_trace_reader import READING
from .properties import PROPERTIES, PROPOSED
from .rules import start
from .situations import SITUATIONS, situations

SCHEDULED = tuple(name for name, revision in REVISIONS.items() if revision.wire is V2026_01)
"""The revisions for which schedules of SDS are generated: all but the proposal of 2024."""


def grammar_of(profile: str, fewest: int, most: int, passages: tuple[str, ...]) -> Grammar:
    """Return the grammar of schedules for a profile. "core" leaves SDS-R out, and "sds-r" includes it in every
    schedule.
    """
    return Grammar(fewest, most, passages=passages, sds_r={"core": False, "sds-r": True}.get(profile))


def make_substitute(declared: Declaration) -> LocalLink:
    """Create a reference model with the declared bloom and hash profiles of an implementation, if they are known."""
    config = Config()
    if bloom := PROFILES.get(declared.profile("bloom")):
        config = replace(config, bloom_profile=bloom)
    if known := HASH_PROFILES.get(declared.profile("hash")):
        config = replace(config, repair=replace(config.repair, hash_profile=known))
    return start(config)


def simpler(operation: Operation, schedule: Schedule) -> Iterator[Operation]:
    """Yield simpler versions of ``operation``: with fewer messages, or with the first scripted peer as the sender."""
    match operation:
        case Send(times=times):
            for fewer in (1, times // 2, times - 1):
                if 0 < fewer < times:
                    yield replace(operation, times=fewer)
        case Say(peer=peer) if peer != PEERS[0] and PEERS[0] not in schedule.names:
            yield replace(operation, peer=PEERS[0])
        case _:
            pass


def proposed_grammar_of(profile: str, fewest: int, most: int, passages: tuple[str, ...]) -> Grammar:
    """Return the grammar of schedules for the proposal of 2024, which has no SDS-R."""
    return replace(grammar_of(profile, fewest, most, passages), sds_r=False)


_SDS = Repertoire(
    SCHEDULED,
    NAMES,
    {name: PASSAGES[name].summary for name in passages_of(SDS)},
    Grammar,
    grammar_of,
    generate_schedule,
    NOTATION,
    play,
    lambda schedule, stages, length_factor: Player(schedule, stages, length_factor).perform(),
    READING,
    simpler,
    make_substitute,
    PROPERTIES,
    SITUATIONS,
    situations,
    alphabet=alphabet.SDS,
)
_PROPOSAL = Text.of(FORUM_2024)
_NOT_IN_IT = ("repair-requested", "repair-answered", "repair-rounds", "ahead-of-clock")
"""The situations that the proposal cannot reach: they need SDS-R, or Lamport timestamps that follow a clock."""
REPERTOIRE = replace(
    _SDS,
    others=(
        replace(
            _SDS,
            revisions=(FORUM_2024.name,),
            passages={name: PASSAGES[name].summary for name in passages_of(_PROPOSAL)},
            grammar=partial(Grammar, sds_r=False),
            grammar_of=proposed_grammar_of,
            generated=partial(generate_schedule, text=_PROPOSAL),
            properties=PROPOSED,
            situations={what: words for what, words in SITUATIONS.items() if what not in _NOT_IN_IT},
            alphabet=alphabet.PROPOSAL,
        ),
    ),
)
"""The generated schedules of SDS. ``others`` has the schedules of the proposal of 2024."""
