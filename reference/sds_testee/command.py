"""Options that the command lines of models share: the transport, and the mutant or variant."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from .composition import JOINT
from .framing import ENVIRONMENT_VARIABLE, Framing
from .installation import install_extra
from .rpc import ADDRESS_VARIABLE, TOKEN_VARIABLE, read_token
from .stdio import serve

T = TypeVar("T")


def add_transport_options(out: argparse.ArgumentParser) -> None:
    """Add the options that select the transport of the testee protocol."""
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
        "--grpc-tls",
        nargs=2,
        type=Path,
        metavar=("CERTIFICATE", "KEY"),
        help="use TLS with a certificate and its private key, two PEM files",
    )
    out.add_argument(
        "--grpc-token-file",
        type=Path,
        metavar="FILE",
        help=f"accept only calls with the token in FILE (default: {TOKEN_VARIABLE}, if that is set)",
    )


def add_choices(out: argparse.ArgumentParser) -> None:
    """Add the options that select a mutant or a variant, list them, or leave capabilities undeclared."""
    out.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="CAPABILITY",
        help="do not declare a capability, for example observe; may be repeated",
    )
    which = out.add_mutually_exclusive_group()
    which.add_argument("--mutant", metavar="NAME", help="run with the fault of a mutant; NAME+NAME joins mutants")
    which.add_argument("--variant", metavar="NAME", help="run a legal variant of the model")
    which.add_argument("--list", action="store_true", help="list mutants and variants, and exit")


def print_choices(mutants: Mapping[str, Any], variants: Mapping[str, Any]) -> None:
    """Print the mutants (name, requirement, summary) and the variants (name, summary) for ``--list``."""
    for mutant in mutants.values():
        print(f"mutant   {mutant.name}: {mutant.requirement}, {mutant.summary}")
    for variant in variants.values():
        print(f"variant  {variant.name}: {variant.summary}")


def look_up(known: Mapping[str, T], name: str, what: str, module: str) -> T:
    """Return the entry of ``known`` called ``name``. Raises ValueError, whose message has ``what`` ("mutant")."""
    if name not in known:
        raise ValueError(f"no {what} {name!r}: `python -m {module} --list` names them")
    return known[name]


def look_up_all(known: Mapping[str, T], names: str, joined: Callable[[Sequence[T]], T], module: str) -> T:
    """Return the mutant ``names``; if it has a +, the mutants of several names, joined. Raises ValueError."""
    those = [look_up(known, name, "mutant", module) for name in names.split(JOINT)]
    return joined(those) if len(those) > 1 else those[0]


def capability(text: str, enum: Any) -> int:
    """The number of a capability by its short name, such as ``filter-codec``. Raises ValueError."""
    try:
        return int(enum.Value(f"CAPABILITY_{text.upper().replace('-', '_')}"))
    except ValueError:
        raise ValueError(f"no capability {text!r}: `sds-conformance docs proto` lists them") from None


def serve_as_asked(
    parsing: argparse.ArgumentParser,
    arguments: argparse.Namespace,
    conversation: Callable[[], Callable[[Any], Any]],
    protocol: Any,
) -> int:
    """Serve until stdin ends, or over gRPC until SIGTERM, and return 0.

    Return 0. For an invalid command line, the process exits with status 2. ``conversation`` makes the handler of one
    conversation; ``protocol`` is the module of the testee protocol that protoc generated.
    """
    if arguments.grpc:
        try:
            _serve_over_grpc(arguments, conversation, protocol)
        except (OSError, ValueError) as error:
            parsing.error(str(error))
        except ImportError as missing:
            parsing.error(f"--grpc needs gRPC, but {missing.name} is not installed: type `{install_extra('grpc')}`")
        return 0
    try:
        serve(conversation(), protocol.Request, protocol.Reply, Framing(arguments.framing))
    except (BrokenPipeError, KeyboardInterrupt):
        return 0
    return 0


def _serve_over_grpc(
    arguments: argparse.Namespace, conversation: Callable[[], Callable[[Any], Any]], protocol: Any
) -> None:
    """Serve until SIGTERM. If the harness gave the address, the end of stdin ends serving, too.

    Raises OSError or ValueError if a file cannot be read or the address cannot be used, and ImportError if the extra is
    not installed.
    """
    import grpc

    from .grpc_server import Server
    from .grpc_server import serve as serve_grpc

    credentials = None
    if arguments.grpc_tls:
        certificate, key = (path.read_bytes() for path in arguments.grpc_tls)
        credentials = grpc.ssl_server_credentials([(key, certificate)])
    server = Server(
        conversation,
        protocol.Request,
        protocol.Reply,
        protocol.DESCRIPTOR.services_by_name["Testee"].full_name,
        arguments.grpc,
        token=read_token(arguments.grpc_token_file),
        credentials=credentials,
    )
    serve_grpc(server, with_stdin=ADDRESS_VARIABLE in os.environ)
