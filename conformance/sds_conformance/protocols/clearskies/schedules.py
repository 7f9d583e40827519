"""The generated schedules of ClearSkies, and the model that replaces implementations in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from clearskies_reference import Config
from sds_harness.clearskies.alphabet import CLEARSKIES
from sds_harness.clearskies.clubs import profile_called
from sds_harness.clearskies.generator import Grammar, generate_schedule
from sds_harness.clearskies.notation import NOTATION
from sds_harness.clearskies.operations import Operation, Put, Schedule, Scripted, Write
from sds_harness.clearskies.passages import PASSAGES
from sds_harness.clearskies.player import Player, play
from sds_harness.clearskies.trace import CLEARSKIES_DATABASE
from sds_harness.clearskies.writer import LURKERS, PEERS
from sds_harness.declaration import Declaration
from sds_harness.link import LocalLink
from sds_harness.schedules.choices import NAMES

from ..schedules import Repertoire
from .group_trace_reader import READING
from .properties import PROPERTIES
from .rules import start
from .situations import SITUATIONS, situations


def grammar_of(profile: str, fewest: int, most: int, passages: tuple[str, ...]) -> Grammar:
    """Return the grammar of schedules. ``profile`` is unused, because ClearSkies has only one grammar."""
    return Grammar(fewest, most, passages=passages)


def make_substitute(declared: Declaration) -> LocalLink:
    """Create a reference model with the signature profile of an implementation."""
    config = Config()
    if profile := profile_called(declared.profile("signature")):
        config = replace(config, signature_profile=profile)
    return start(config)


def simpler(operation: Operation, schedule: Schedule) -> Iterator[Operation]:
    """Yield simpler operations: with fewer records, clocks of one member, or the first scripted peer."""
    match operation:
        case Put(times=times):
            for fewer in (1, times // 2, times - 1):
                if 0 < fewer < times:
                    yield replace(operation, times=fewer)
        case Write(clock_members=members) if members > 1:
            yield replace(operation, clock_members=1)
        case Scripted(peer=peer) | Write(peer=peer) if peer not in (PEERS[0], LURKERS[0]):
            usual = (LURKERS if operation.read_only else PEERS)[0]
            if usual not in schedule.names:
                yield replace(operation, peer=usual)
        case _:
            pass


REPERTOIRE = Repertoire(
    (CLEARSKIES_DATABASE.name,),
    NAMES,
    {name: passage.summary for name, passage in PASSAGES.items()},
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
    alphabet=CLEARSKIES,
)
