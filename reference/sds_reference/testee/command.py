"""The command line of ``python -m sds_reference``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_testee.command import (
    add_choices,
    add_transport_options,
    capability,
    look_up,
    look_up_all,
    print_choices,
    serve_as_asked,
)
from sds_testee.version import suite_version

from ..bloom_profiles import PROFILES
from ..config import Config, bloom_profile
from ..hash_profiles import HASH_PROFILES, hash_profile
from ..participant import Participant
from .dialect import load_dialect
from .server import Testee, TesteeOptions

_EPILOG = """examples:
  sds-conformance run -- python -m sds_reference
  sds-conformance run -- python -m sds_reference --variant sweep-only
  sds-conformance run --dialect nim-sds -- python -m sds_reference --dialect nim-sds
  sds-conformance run --select SDS-SEND-01 -- python -m sds_reference --mutant lamport-without-clock
  sds-conformance run --grpc auto -- python -m sds_reference
  python -m sds_reference --grpc 127.0.0.1:50051
"""


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    out = argparse.ArgumentParser(
        prog="python -m sds_reference",
        description="The SDS reference model as an implementation under test: the testee protocol on stdin and stdout, "
        "or over gRPC.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_transport_options(out)
    out.add_argument("--bloom-profile", metavar="NAME", help=f"one of {', '.join(PROFILES)}")
    out.add_argument("--hash-profile", metavar="NAME", help=f"hash of SDS-R, one of {', '.join(HASH_PROFILES)}")
    out.add_argument("--dialect", metavar="NAME", help="speak a private wire layout, for example nim-sds")
    add_choices(out)
    return out


def options(arguments: argparse.Namespace) -> TesteeOptions:
    """Parse the options of the command line. Raises ValueError."""
    config = Config()
    participant_class: type[Participant] = Participant
    name, dialect = "sds_reference", arguments.dialect
    without = {capability(text, pb.Capability) for text in arguments.without}
    # Importing the mutants takes more than half of the start-up time, and most starts use none.
    if arguments.mutant:
        from ..mutants import MUTANTS, join_mutants

        chosen = look_up_all(MUTANTS, arguments.mutant, join_mutants, "sds_reference")
        config, participant_class = chosen.configure(config), chosen.participant_class
        without |= {pb.CAPABILITY_OBSERVE} if chosen.unseen else set()
        name, dialect = f"sds_reference mutant {chosen.name}", dialect or chosen.dialect
    if arguments.variant:
        from ..variants import VARIANTS

        variant = look_up(VARIANTS, arguments.variant, "variant", "sds_reference")
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
        dialect=load_dialect(dialect, Path.read_text) if dialect else None,
        without=frozenset(without),
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until stdin ends, or over gRPC until SIGTERM, and return 0. Exit with status 2 if an option is invalid."""
    parsing = parser()
    arguments = parsing.parse_args(argv)
    if arguments.list:
        from ..mutants import MUTANTS
        from ..variants import VARIANTS

        print_choices(MUTANTS, VARIANTS)
        return 0
    try:
        chosen = options(arguments)
    except ValueError as error:
        parsing.error(str(error))
    return serve_as_asked(parsing, arguments, lambda: Testee(chosen).handle, pb)
