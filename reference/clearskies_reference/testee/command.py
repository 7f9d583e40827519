"""The command line of ``python -m clearskies_reference``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from clearskies_proto.testee.v1 import testee_pb2 as pb
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

from ..config import Config
from ..peer import Peer
from ..signing import PROFILES, signature_profile
from .server import Testee, TesteeOptions

MODULE = "clearskies_reference"

_EPILOG = """examples:
  sds-conformance run -- python -m clearskies_reference
  sds-conformance run -- python -m clearskies_reference --variant clock-per-peer
  sds-conformance run --select CSDB-56 -- python -m clearskies_reference --mutant forgets-the-deleted
"""


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    out = argparse.ArgumentParser(
        prog=f"python -m {MODULE}",
        description="The model of the ClearSkies database extension as an implementation under test: the testee "
        "protocol on stdin and stdout, or over gRPC.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_transport_options(out)
    out.add_argument("--signature-profile", metavar="NAME", help=f"one of {', '.join(PROFILES)}")
    add_choices(out)
    return out


def options(arguments: argparse.Namespace) -> TesteeOptions:
    """The options of the command line. Raises ValueError."""
    config = Config()
    peer_class: type[Peer] = Peer
    name = MODULE
    without = {capability(text, pb.Capability) for text in arguments.without}
    # These imports are slow, and most starts do not need them.
    if arguments.mutant:
        from ..mutants import MUTANTS, join_mutants

        chosen = look_up_all(MUTANTS, arguments.mutant, join_mutants, MODULE)
        config, peer_class = chosen.configure(config), chosen.peer_class
        without |= {pb.CAPABILITY_OBSERVE} if chosen.unseen else set()
        name = f"{MODULE} mutant {chosen.name}"
    if arguments.variant:
        from ..variants import VARIANTS

        variant = look_up(VARIANTS, arguments.variant, "variant", MODULE)
        config, peer_class = variant.configure(config), variant.peer_class
        name = f"{MODULE} variant {variant.name}"
    if arguments.signature_profile:
        config = replace(config, signature_profile=signature_profile(arguments.signature_profile))
    return TesteeOptions(
        version=suite_version(), config=config, peer_class=peer_class, name=name, without=frozenset(without)
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until stdin ends, or over gRPC until SIGTERM. Returns 0. For an invalid command line, the process
    exits with status 2."""
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
