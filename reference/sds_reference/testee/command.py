"""The command line of ``python -m sds_reference``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_testee.framing import ENVIRONMENT_VARIABLE, Framing
from sds_testee.rpc import ADDRESS_VARIABLE, TOKEN_VARIABLE, read_token
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
  sds-conformance run --grpc auto -- python -m sds_reference
  python -m sds_reference --grpc 127.0.0.1:50051
"""


def parser() -> argparse.ArgumentParser:
    """The options, each of which changes one thing."""
    out = argparse.ArgumentParser(
        prog="python -m sds_reference",
        description="The SDS reference model as an implementation under test: the testee protocol on stdin and stdout, "
        "or over gRPC.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    out.add_argument(
        "--framing",
        choices=[framing.value for framing in Framing],
        default=os.environ.get(ENVIRONMENT_VARIABLE, Framing.JSON.value),
        help=f"framing of stdin and stdout (default: {ENVIRONMENT_VARIABLE}, else json)",
    )
    out.add_argument(
        "--grpc",
        metavar="ADDRESS",
        default=os.environ.get(ADDRESS_VARIABLE),
        help=f"serve over gRPC at HOST:PORT or unix:PATH instead (default: {ADDRESS_VARIABLE}, if that is set)",
    )
    out.add_argument(
        "--grpc-tls", nargs=2, type=Path, metavar=("CERTIFICATE", "KEY"), help="speak TLS with these two PEM files"
    )
    out.add_argument(
        "--grpc-token-file",
        type=Path,
        metavar="FILE",
        help=f"let in only who brings the token in FILE (default: {TOKEN_VARIABLE}, if that is set)",
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
        dialect=load_dialect(arguments.dialect, Path.read_text) if arguments.dialect else None,
        without=frozenset(without),
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until stdin ends, or over gRPC until SIGTERM. 0, or 2 for a command line that makes no sense."""
    parsing = parser()
    arguments = parsing.parse_args(argv)
    if arguments.list:
        for mutant in MUTANTS.values():
            print(f"mutant   {mutant.name}: {mutant.requirement}, {mutant.summary}")
        for variant in VARIANTS.values():
            print(f"variant  {variant.name}: {variant.summary}")
        return 0
    try:
        chosen = options(arguments)
        testee = Testee(chosen)
    except ConfigurationError as error:
        parsing.error(str(error))
    if arguments.grpc:
        try:
            _serve_over_grpc(arguments, chosen)
        except (OSError, ValueError) as error:
            parsing.error(str(error))
        except ImportError as missing:
            parsing.error(f"gRPC needs grpcio, and there is no {missing.name}: pip install 'sds-conformance[grpc]'")
        return 0
    try:
        serve(testee.handle, pb.Request, pb.Reply, Framing(arguments.framing))
    except (BrokenPipeError, KeyboardInterrupt):
        return 0
    return 0


def _serve_over_grpc(arguments: argparse.Namespace, chosen: TesteeOptions) -> None:
    """Serve until SIGTERM and, where the harness has said at which address, until stdin ends.

    Raises OSError or ValueError for what cannot be read or be listened at, and ImportError without the extra.
    """
    import grpc

    from sds_testee.grpc_server import Server, serve

    credentials = None
    if arguments.grpc_tls:
        certificate, key = (path.read_bytes() for path in arguments.grpc_tls)
        credentials = grpc.ssl_server_credentials([(key, certificate)])
    server = Server(
        # Each conversation has participants of its own.
        lambda: Testee(chosen).handle,
        pb.Request,
        pb.Reply,
        pb.DESCRIPTOR.services_by_name["Testee"].full_name,
        arguments.grpc,
        token=read_token(arguments.grpc_token_file),
        credentials=credentials,
    )
    serve(server, with_stdin=ADDRESS_VARIABLE in os.environ)


T = TypeVar("T")


def _look_up(known: Mapping[str, T], name: str, what: str) -> T:
    if name not in known:
        raise ConfigurationError(f"no {what} {name!r}: `python -m sds_reference --list` names them")
    return known[name]


def _capability(text: str) -> int:
    try:
        return pb.Capability.Value(f"CAPABILITY_{text.upper().replace('-', '_')}")
    except ValueError:
        raise ConfigurationError(f"no capability {text!r}: `sds-conformance docs proto` lists them") from None
