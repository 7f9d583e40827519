"""The options that say how an implementation is driven: its command or server, transport, dialect, clock, timeouts and
memory.
"""

from __future__ import annotations

import math
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem
from rich.console import Console

from sds_harness.clock import OPTION, ClockProbe, Faketime, MissingClockLibraryError, find_library
from sds_harness.declaration import VIRTUAL_CLOCK
from sds_harness.endpoint import AUTO, Endpoint
from sds_harness.faults import TesteeError
from sds_harness.link import Limits, Link, StdioLink
from sds_harness.session import Session
from sds_harness.suggestions import did_you_mean
from sds_harness.transcript.recording import RecordedLink
from sds_harness.transcript.writer import Transcript
from sds_testee.framing import Framing
from sds_testee.installation import install_extra
from sds_testee.rpc import ADDRESS_VARIABLE, TOKEN_VARIABLE

from ..exploration.cast_under_test import CastKind
from ..exploration.casts import RevisionMismatchError
from ..judging.exits import Exit
from ..judging.rules import UnknownDialectError
from ..judging.runner import BrokenRun
from ..presentation.invocation import non_default_options
from ..presentation.story import show_breakdown
from ..protocols import Protocol, protocol_of, protocols
from .configuration import is_overridden_by
from .files import usage_errors
from .name_types import NameChoice, complete_name
from .options import CURRENT, Decorator, combine, console, program
from .paths import INPUT_FILE

# ---- Timeouts and memory ---------------------------------------------------------------------------------------------

USUAL = Limits()


class Seconds(click.FloatRange):
    """Parameter type: a finite number of seconds, at least ``min``."""

    name = "seconds"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> float:
        """Convert the value to seconds. Raises BadParameter."""
        seconds: float = super().convert(value, parameter, context)
        if not math.isfinite(seconds):
            self.fail(f"{value!r} is not a number of seconds: write for example 60", parameter, context)
        return seconds


def memory_size(context: click.Context, parameter: click.Parameter, value: str) -> int:
    """Parse a number of bytes with an optional suffix k, m or g."""
    text = value.strip().lower().removesuffix("b").removesuffix("i")
    factor = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}.get(text[-1:], 1)
    try:
        size = int(float(text.rstrip("kmg")) * factor)
    except (ValueError, OverflowError):
        raise click.BadParameter(f"{value!r} is not a size: write for example 512m or 4g", context, parameter) from None
    if size < 1 << 20:
        raise click.BadParameter("no process can run in less than 1m (1 MiB) of memory", context, parameter)
    return size


def _seconds(name: str, default: float, what: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    time = Seconds(min=0.05)
    return click.option(name, type=time, default=default, show_default=True, metavar="SECONDS", help=what)


LIMITS = (
    _seconds("--start-timeout", USUAL.start_s, "Timeout of the first answer of a fresh process."),
    _seconds("--timeout", USUAL.command_s, "Timeout of one command."),
    click.option(
        "--total-timeout",
        type=Seconds(min=0.05),
        callback=lambda context, parameter, value: math.inf if value is None else value,
        metavar="SECONDS",
        help="Timeout of all commands together; the report lists everything that was not played by then.",
    ),
    click.option(
        "--memory",
        callback=memory_size,
        metavar="SIZE",
        default="4g",
        show_default=True,
        help="Limit of the resident memory of the implementation.",
    ),
)


def as_typed(limits: Limits) -> dict[str, tuple[str, str]]:
    """Return each option with its value and its default, as a user would type them."""
    return {
        "--timeout": (f"{limits.command_s:g}", f"{USUAL.command_s:g}"),
        "--start-timeout": (f"{limits.start_s:g}", f"{USUAL.start_s:g}"),
        "--total-timeout": (f"{limits.total_s:g}", f"{USUAL.total_s:g}"),
        "--memory": (f"{limits.memory_bytes >> 20}m", f"{USUAL.memory_bytes >> 20}m"),
    }


# ---- The clock -------------------------------------------------------------------------------------------------------

DECLARED, FAKETIME = "declared", "faketime"
CLOCK = click.option(
    "--clock",
    type=NameChoice([DECLARED, FAKETIME]),
    default=DECLARED,
    show_default=True,
    help="Clock of the implementation: `declared` is the time in the commands or the system clock, as the handshake "
    "declares; `faketime` sets the system clock of the process with libfaketime before each command.",
)


def faketime(protocol: Protocol, revision: str, dialect: str | None, limits: Limits) -> Faketime:
    """Return the libfaketime library that sets the clock of a driven implementation. Raises UsageError."""
    language = protocol.rules.language
    if not protocol.rules.shows_time or language.number_of(VIRTUAL_CLOCK) is None:
        raise click.UsageError(f"messages of {protocol.name} do not contain the time: omit {OPTION}")
    # For libfaketime, the variable takes precedence over the file that sets the time.
    if "FAKETIME" in os.environ:
        raise click.UsageError(f"the variable FAKETIME is set, and {OPTION} sets it, too: type `unset FAKETIME`")
    with usage_errors(MissingClockLibraryError):
        library = find_library()
    return Faketime(library, revision, language, partial(_probe_times, revision, dialect), limits)


def _probe_times(revision: str, asked: str | None, session: Session) -> ClockProbe:
    """Find out whether an implementation uses the time of the requests or the system clock. ``asked`` is the dialect of
    `--dialect`, if any; otherwise its messages are read in the declared dialect.
    """
    rules = protocol_of(revision).rules
    try:
        return rules.clock(session, rules.dialect_in_use(revision, asked, session.declaration))
    except UnknownDialectError as error:
        return ClockProbe(clock=str(error))


# ---- gRPC ------------------------------------------------------------------------------------------------------------

SCHEME = "grpc://"
"""Prefix of a server address that is typed in place of a command."""

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
        with usage_errors(ValueError):
            found = Endpoint(address, service, started, self.ca, self.token_file, self.insecure)
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


# ---- The implementation ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DrivenImplementation:
    """The implementation to drive and how to communicate with it, as the command line says."""

    command: tuple[str, ...]
    framing: Framing
    dialect: str | None
    """The private wire layout; "" for the layout of the specification, None for the layout that the implementation
    declares."""
    limits: Limits
    access: Access = field(default_factory=Access)
    endpoint: Endpoint | None = None
    """The gRPC server to use instead of stdin and stdout. If there is no command, the server is already running."""
    clock: Faketime | None = None
    """Sets the clock of the implementation from outside, with ``--clock faketime``; otherwise None."""
    bundled: bool = False
    """True if no command was given, so that the bundled reference is driven."""
    transcript: Transcript | None = None
    """Stores the conversations, with ``--transcript``; otherwise None."""

    def begin(self) -> None:
        """Print that the bundled reference is driven, after the command line was validated."""
        if self.bundled:
            console(stderr=True).print(
                "No COMMAND given: driving the bundled reference. Add -- COMMAND to drive your implementation."
            )

    def connect(self, variables: Mapping[str, str]) -> Link:
        """Connect to a new process, with these environment variables in addition to the inherited ones, or to the
        server.
        """
        link = self.clock.connect(self._start, variables) if self.clock is not None else self._start(variables)
        if self.transcript is None:
            return link
        about = {"command": self.command_line, "framing": self.transport, "variables": dict(variables)}
        return RecordedLink(link, self.transcript, **about)

    def _start(self, variables: Mapping[str, str]) -> Link:
        if self.endpoint is not None:
            from sds_harness.grpc_link import GrpcLink  # not at the top, because the extra may not be installed

            return GrpcLink(self.endpoint, self.command, self.limits, variables)
        return StdioLink(self.command, self.framing, self.limits, variables)

    @property
    def options(self) -> list[str]:
        """The options that differ from their defaults, as a user would type them."""
        values = {
            "--framing": (self.framing.value, Framing.JSON.value),
            "--dialect": (self.dialect, None),
            "--clock": (FAKETIME if self.clock is not None else DECLARED, DECLARED),
            **as_typed(self.limits),
        }
        server = ["--grpc", self.endpoint.address] if self.endpoint is not None else []
        return [*server, *non_default_options(values), *self.access.options]

    def format_command(self, *words: str) -> str:
        """Return a command line of this program with these words, which drives the implementation in the same way."""
        return shlex.join([program(), *words, *self.options, *(["--", *self.command] if self.command else [])])

    @property
    def is_running_server(self) -> bool:
        """True if the implementation is a running server, so that no process can be started."""
        return self.endpoint is not None and not self.command

    @property
    def words(self) -> tuple[str, ...]:
        """The command, or the server if there is no command."""
        return (f"{SCHEME}{self.endpoint.address}",) if self.endpoint is not None and not self.command else self.command

    @property
    def transport(self) -> str:
        """Name of the transport, as in reports."""
        return self.framing.value if self.endpoint is None else "grpc"

    @property
    def command_line(self) -> str:
        return shlex.join(self.words)


@contextmanager
def driven_or_ended(err: Console, driven: DrivenImplementation) -> Iterator[None]:
    """If the implementation does not complete the handshake, or declares an unknown dialect, print why and end the
    command with exit code 3.

    Raises UsageError if the implementation declares another revision than the references that play the other
    participants.
    """
    driven.begin()
    try:
        yield
    except RevisionMismatchError as error:
        raise click.UsageError(
            f"the implementation {error}, which the references in its group speak: type --revision "
            f"{error.spoken[0]}, or declare the revisions in its handshake"
        ) from None
    except UnknownDialectError as error:
        err.print(str(error), style="bold red", soft_wrap=True)
        sys.exit(Exit.NOT_DRIVEN)
    except TesteeError as fault:
        show_breakdown(err, BrokenRun.at_last_step("handshake", fault.breakdown))
        text = f"{driven.command_line} could not be tested: it did not complete the handshake."
        err.print(text, style="bold red", soft_wrap=True)
        sys.exit(Exit.NOT_DRIVEN)


def refuse_unknown_dialect(protocol: Protocol, dialect: str | None) -> None:
    """Raise UsageError for an unknown name or file of a dialect. None and "" name no dialect and are accepted."""
    if dialect:
        try:
            protocol.rules.dialect(protocol.rules.current, dialect)
        except UnknownDialectError as error:
            raise click.UsageError(f"{error}.{did_you_mean(dialect, protocol.rules.dialects)}") from None


_FRAMING = click.option(
    "--framing",
    type=NameChoice([framing.value for framing in Framing]),
    default="json",
    show_default=True,
    help="Encoding of requests and replies on stdin and stdout.",
)


_DIALECTS = [name for protocol in protocols() for name in protocol.rules.dialects]


def _complete_dialect(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return complete_name(_DIALECTS, incomplete) or [CompletionItem(incomplete, type="file")]


def _complete_file(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="file")]


def add_link_options(function: Callable[..., None], *more: Decorator) -> Callable[..., None]:
    """Add the options for communication and the options ``more`` to a command, which receives ``driven``."""

    @wraps(function)
    def wrapper(
        framing: str,
        start_timeout: float,
        timeout: float,
        total_timeout: float,
        memory: int,
        grpc_ca: Path | None,
        grpc_token_file: Path | None,
        grpc_insecure: bool,
        **rest: Any,
    ) -> None:
        limits = Limits(start_s=start_timeout, command_s=timeout, memory_bytes=memory, total_s=total_timeout)
        access = Access(grpc_ca, grpc_token_file, grpc_insecure)
        function(driven=DrivenImplementation((), Framing(framing), None, limits, access), **rest)

    return combine(*reversed(LIMITS), *reversed(ACCESS), *more, _FRAMING)(wrapper)


def add_driving_options(function: Callable[..., None], *, alone: bool = True) -> Callable[..., None]:
    """Add the options that drive an implementation to a command, which receives ``driven``.

    Without a command and a server, the bundled reference is driven, unless ``alone`` is False: then ``driven`` has
    neither a command nor a server.
    """

    @wraps(function)
    def wrapper(
        driven: DrivenImplementation,
        clock: str,
        grpc: str | None,
        dialect: str | None,
        command: tuple[str, ...],
        **rest: Any,
    ) -> None:
        context = click.get_current_context()
        command = () if is_overridden_by(context, "command", "grpc") else command
        grpc = None if is_overridden_by(context, "grpc", "command") else grpc
        protocol = protocol_of(rest.get("revision") or CURRENT)
        refuse_unknown_dialect(protocol, dialect)
        endpoint = None
        if grpc is None:
            reject_server_options(driven.access)
        else:
            started = bool(command) or grpc == AUTO
            endpoint = driven.access.endpoint(grpc, protocol.rules.language.service, started=started)
            rest = with_server(click.get_current_context(), endpoint, rest)
        if not command and (endpoint is None or endpoint.started):
            if not alone:
                function(driven=driven, **rest)
                return
            command, driven = (sys.executable, "-P", "-m", protocol.model.module), replace(driven, bundled=True)
        driven = replace(driven, command=command, dialect=dialect, endpoint=endpoint)
        if clock == FAKETIME:
            if driven.is_running_server:
                raise click.UsageError(f"the clock of a running server cannot be set: add -- COMMAND to {OPTION}")
            driven = replace(driven, clock=faketime(protocol, rest.get("revision") or CURRENT, dialect, driven.limits))
        function(driven=driven, **rest)

    dialects = (
        f"Translate a private wire format: {', '.join(_DIALECTS)} or a .json file. Default: the dialect that the "
        "implementation declares; '' translates nothing."
    )
    return add_link_options(
        wrapper,
        CLOCK,
        ADDRESS,
        click.option("--dialect", metavar="NAME", shell_complete=_complete_dialect, help=dialects),
        click.argument("command", nargs=-1, type=click.UNPROCESSED, shell_complete=_complete_file),
    )
