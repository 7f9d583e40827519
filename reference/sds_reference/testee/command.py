"""The command line of ``python -m sds_reference``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_testee.framing import ENVIRONMENT_VARIABLE, Framing
from sds_testee.stdio import serve
from sds_testee.version import suite_version

from ..bloom_profiles import PROFILES
from ..config import Config, bloom_profile
from ..errors import ConfigurationError
from ..hash_profiles import HASH_PROFILES, hash_profile
from ..mutants import MUTANTS
from ..participant import Participant
from ..variants import VARIANTS
from .dialect import load_dialect
from .server import Testee, TesteeOptions

_EPILOG = """examples:
  sds-conformance run -- python -m sds_reference
  sds-conformance run -- python -m sds_reference --variant sweep-only
  sds-conformance run --dialect nim-sds -- python -m sds_reference --dialect nim-sds
  sds-conformance run --select SDS-SEND-01 -- python -m sds_reference --mutant lamport-without-clock
"""


def parser() -> argparse.ArgumentParser:
    """The options, each of which changes one thing."""
    out = argparse.ArgumentParser(
        prog="python -m sds_reference",
        description="The SDS reference model as an implementation under test: the testee protocol on stdin and stdout.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    out.add_argument(
        "--framing",
        choices=[framing.value for framing in Framing],
        default=os.environ.get(ENVIRONMENT_VARIABLE, Framing.JSON.value),
        help=f"framing of stdin and stdout (default: {ENVIRONMENT_VARIABLE}, else json)",
    )
    out.add_argument("--bloom-profile", metavar="NAME", help=f"one of {', '.join(PROFILES)}")
    out.add_argument("--hash-profile", metavar="NAME", help=f"hash of SDS-R, one of {', '.join(HASH_PROFILES)}")
    out.add_argument("--dialect", metavar="NAME", help="speak a private wire layout, for example nim-sds")
    out.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="CAPABILITY",
        help="do not declare a capability, for example observe; may be repeated",
    )
    which = out.add_mutually_exclusive_group()
    which.add_argument("--mutant", metavar="NAME", help="run with exactly one fault")
    which.add_argument("--variant", metavar="NAME", help="run with another legal choice")
    which.add_argument("--list", action="store_true", help="list mutants and variants, and exit")
    return out


def options(arguments: argparse.Namespace) -> TesteeOptions:
    """What the command line asks for. Raises ConfigurationError."""
    config = Config()
    participant_class: type[Participant] = Participant
    name = "sds_reference"
    without = {_capability(text) for text in arguments.without}
    if arguments.mutant:
        chosen = _look_up(MUTANTS, arguments.mutant, "mutant")
        config, participant_class = chosen.configure(config), chosen.participant_class
        without |= {pb.CAPABILITY_OBSERVE} if chosen.unseen else set()
        name = f"sds_reference mutant {chosen.name}"
    if arguments.variant:
        variant = _look_up(VARIANTS, arguments.variant, "variant")
        config, participant_class = variant.configure(config), variant.participant_class
        name = f"sds_reference variant {variant.name}"
    if arguments.bloom_profile:
        config = replace(config, bloom_profile=bloom_profile(arguments.bloom_profile))
    if arguments.hash_profile:
        config = replace(config, repair=replace(config.repair, hash_profile=hash_profile(arguments.hash_profile)))
    return TesteeOptions(
        version=suite_version(),
        config=config,
        participant_class=participant_class,
        name=name,
        dialect=load_dialect(arguments.dialect) if arguments.dialect else None,
        without=frozenset(without),
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until stdin ends. 0, or 2 for a command line that makes no sense."""
    parsing = parser()
    arguments = parsing.parse_args(argv)
    if arguments.list:
        for mutant in MUTANTS.values():
            print(f"mutant   {mutant.name}: {mutant.requirement}, {mutant.summary}")
        for variant in VARIANTS.values():
            print(f"variant  {variant.name}: {variant.summary}")
        return 0
    try:
        testee = Testee(options(arguments))
    except ConfigurationError as error:
        parsing.error(str(error))
    try:
        serve(testee.handle, pb.Request, pb.Reply, Framing(arguments.framing))
    except (BrokenPipeError, KeyboardInterrupt):
        return 0
    return 0


T = TypeVar("T")


def _look_up(known: Mapping[str, T], name: str, what: str) -> T:
    if name not in known:
        raise ConfigurationError(f"no {what} {name!r}: `python -m sds_reference --list` names them")
    return known[name]


def _capability(text: str) -> int:
    try:
        return pb.Capability.Value(f"CAPABILITY_{text.upper().replace('-', '_')}")
    except ValueError:
        raise ConfigurationError(f"no capability {text!r}: testee.proto lists them") from None
