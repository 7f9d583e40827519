"""The options for gRPC, and checks of other options that cannot be combined with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from sds_harness.endpoint import AUTO, Endpoint
from sds_testee.installation import install_extra
from sds_testee.rpc import ADDRESS_VARIABLE, TOKEN_VARIABLE

from ..exploration.cast_under_test import CastKind
from ..judging.exits import Exit
from .paths import INPUT_FILE

SCHEME = "grpc://"
"""Prefix of a server address that is typed in place of a command."""

Decorator = Callable[[Callable[..., None]], Callable[..., None]]

ADDRESS = click.option(
    "--grpc",
    metavar="ADDRESS",
    help="Talk to a gRPC server at HOST:PORT or unix:PATH. With COMMAND, start the server first, with its "
    f"address in place of {{address}} in COMMAND and in the variable {ADDRESS_VARIABLE}. `{AUTO}` picks an address.",
)
ACCESS: tuple[Decorator, ...] = (
    click.option(
        "--grpc-ca", type=INPUT_FILE, metavar="FILE", help="Use TLS and trust the certificates (PEM) in FILE."
    ),
    click.option(
        "--grpc-token-file",
        type=INPUT_FILE,
        metavar="FILE",
        help=f"Send the token in FILE with each call. Default: the token in {TOKEN_VARIABLE}, if set.",
    ),
    click.option("--grpc-insecure", is_flag=True, help="Allow plain text to another machine."),
)


class MissingExtra(click.ClickException):
    """The package that an option needs is not installed."""

    exit_code = Exit.USAGE


@dataclass(frozen=True)
class Access:
    """Access to servers, as given on the command line."""

    ca: Path | None = None
    token_file: Path | None = None
    insecure: bool = False

    @property
    def options(self) -> list[str]:
        """Return the options as a user would type them."""
        files = {"--grpc-ca": self.ca, "--grpc-token-file": self.token_file}
        typed = [word for name, file in files.items() if file is not None for word in (name, str(file))]
        return [*typed, *(["--grpc-insecure"] if self.insecure else [])]

    def endpoint(self, address: str, service: str, *, started: bool) -> Endpoint:
        """Return the server at an address. Raises UsageError, and MissingExtra if gRPC is not installed."""
        try:
            found = Endpoint(address, service, started, self.ca, self.token_file, self.insecure)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        try:
            import_module("sds_harness.grpc_link")
        except ImportError as missing:
            raise MissingExtra(
                f"--grpc needs gRPC, but {missing.name} is not installed: type `{install_extra('grpc')}`."
            ) from None
        return found

    def server_in(self, words: tuple[str, ...], service: str) -> tuple[Endpoint | None, tuple[str, ...]]:
        """Return the server at the beginning of a command (None if there is none) and the rest of the command. Raises
        the same errors as ``endpoint``.
        """
        if not words[0].startswith(SCHEME):
            return None, words
        return self.endpoint(words[0].removeprefix(SCHEME), service, started=len(words) > 1), words[1:]


def reject_server_options(access: Access, instead: str = "--grpc ADDRESS") -> None:
    """Raise UsageError for server options without a server. ``instead`` shows how to name a server."""
    if access.options:
        raise click.UsageError(f"{access.options[0]} is about a server: add {instead}")


def with_server(context: click.Context, endpoint: Endpoint, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a command's other ``options``, limited to one job and one Spark task if there is only one server.

    Raises UsageError for a typed option that cannot be used with the server.
    """
    if _was_typed(context, "framing"):
        raise click.UsageError("--framing is for stdin and stdout, which --grpc does not use: omit --framing or --grpc")
    out = dict(options)
    if not endpoint.one_at_a_time:
        return out
    cannot = f"there is one server at {endpoint.address}"
    instead = f"`--grpc {AUTO} -- COMMAND` starts as many servers as are needed"
    refuse_apart(endpoint, out.get("casting") or "")
    if out.get("jobs", 1) > 1:
        if _was_typed(context, "jobs"):
            raise click.UsageError(f"--jobs {out['jobs']} needs {out['jobs']} processes, but {cannot}: {instead}")
        out["jobs"] = 1
    spark = out.get("spark_options")
    master = spark.master if spark is not None else out.get("master")
    if master not in (None, "local", "local[1]"):
        if _was_typed(context, "master"):
            raise click.UsageError(f"--master {master} plays several schedules at a time, but {cannot}: {instead}")
        if spark is not None:
            out["spark_options"] = replace(spark, master="local[1]")
    return out


def refuse_apart(endpoint: Endpoint | None, casting: str) -> None:
    """Raise UsageError if each participant needs its own process, but there is only one server."""
    if endpoint is not None and endpoint.one_at_a_time and casting == CastKind.APART.value:
        raise click.UsageError(
            f"--cast apart needs a process for each participant, but there is only one server, "
            f"at {endpoint.address}: use --cast together, or `--grpc {AUTO} -- COMMAND`"
        )


def _was_typed(context: click.Context, name: str) -> bool:

    return context.get_parameter_source(name) in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
