"""Options and helpers that commands share."""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce, wraps
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem
from rich.console import Console

from sds_harness.clock import OPTION, Faketime
from sds_harness.endpoint import AUTO, Endpoint
from sds_harness.link import Limits, Link, StdioLink
from sds_harness.resources import MOST_JOBS, usable_jobs, why_alone
from sds_harness.suggestions import did_you_mean
from sds_testee.framing import Framing

from ..exploration.campaign import CampaignTally
from ..exploration.cast_under_test import CastKind
from ..judging.rules import UnknownDialectError
from ..presentation.invocation import non_default_options
from ..protocols import Protocol, default, protocol_of, protocols, repertoire_of, revisions
from ..protocols.properties import GROUP
from .clock_option import CLOCK, DECLARED, FAKETIME, faketime
from .configuration import is_overridden_by
from .grpc_options import ACCESS, ADDRESS, SCHEME, Access, reject_server_options, with_server
from .name_types import Name, NameChoice, complete_name
from .output_filter import DoorConsole
from .paths import OUTPUT_FOLDER
from .resource_options import LIMITS, as_typed

CURRENT = default().rules.current
"""The default revision."""
PROFILES = list(dict.fromkeys(name for protocol in protocols() for name in protocol.rules.profiles))
_USUAL = repertoire_of(CURRENT)
SEED_HELP = "Seed of the schedules; `random` draws a seed and prints it."
PREFIXES = tuple({revision.prefix: None for revision in revisions().values()})
"""Prefixes of requirement IDs, one per specification."""
POSITIONS = tuple(dict.fromkeys(protocol.rules.positions for protocol in protocols()))
"""Prefixes of position IDs, without the dash."""


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

    def begin(self) -> None:
        """Print that the bundled reference is driven, after the command line was validated."""
        if self.bundled:
            console(stderr=True).print(f"No COMMAND given: driving the bundled reference, {shlex.join(self.command)}")

    def connect(self, variables: Mapping[str, str]) -> Link:
        """Connect to a new process, with these environment variables in addition to the inherited ones, or to the
        server.
        """
        return self.clock.connect(self._start, variables) if self.clock is not None else self._start(variables)

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


Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def refuse_unknown_dialect(protocol: Protocol, dialect: str | None) -> None:
    """Raise UsageError for an unknown name or file of a dialect. None and "" name no dialect and are accepted."""
    if dialect:
        try:
            protocol.rules.dialect(protocol.rules.current, dialect)
        except UnknownDialectError as error:
            raise click.UsageError(f"{error}.{did_you_mean(dialect, protocol.rules.dialects)}") from None


def jobs_here(context: click.Context, parameter: click.Parameter, value: int) -> int:
    """Return the number of jobs; 1 if worker processes cannot be started."""
    if value > 1 and not context.resilient_parsing and (why := why_alone()):
        click.echo(f"Using --jobs 1 instead of {value}: {why}", err=True)
        return 1
    return value


JOBS = click.option(
    "--jobs",
    type=click.IntRange(1, MOST_JOBS),
    default=usable_jobs,
    callback=jobs_here,
    metavar="N",
    help="Play in N processes, each with its own implementation. Default: as many as the machine or container has "
    "processors and memory for.",
)


def combine(*options: Decorator) -> Decorator:
    """Combine options into one decorator. The help shows the last option first."""
    return lambda function: reduce(lambda decorated, option: option(decorated), options, function)


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


def protocol_or_default(revision: str | None) -> Protocol:
    """Return the protocol of a revision, or the default protocol if ``revision`` is None."""
    return protocol_of(revision or CURRENT)


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
        protocol = protocol_or_default(rest.get("revision"))
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


REVISION = click.option(
    "--revision",
    type=NameChoice(list(revisions())),
    default=CURRENT,
    show_default=True,
    help="Revision to judge; `sds-conformance list revisions` describes them.",
)
about = combine(
    REVISION,
    click.option(
        "--profile",
        type=NameChoice(PROFILES),
        default=default().rules.full,
        show_default=True,
        help=default().about_profiles,
    ),
)
"""The options ``profile`` and ``revision``."""
STRICT_HELP = "Report violations as failures even where a position of the suite turns them into warnings."
STRICT = click.option("--strict", is_flag=True, help=STRICT_HELP)
judging = combine(STRICT, about)
"""The options ``profile``, ``revision`` and ``strict``."""
SAVE = click.option(
    "--out",
    "folder",
    type=OUTPUT_FOLDER,
    default=Path("counterexamples"),
    show_default=True,
    metavar="DIR",
    help="Folder for counterexamples; created when the first is found.",
)


class StoryCount(click.ParamType[int]):
    """Parameter type: a number of stories, or "all"."""

    name = "number of stories"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if value == "all":
            return sys.maxsize
        number: int = click.IntRange(0).convert(value, param, ctx)
        return number


STORY_OPTIONS = combine(
    click.option("--quiet", is_flag=True, help="Print only the last screen: verdict, root causes, next command."),
    click.option(
        "--stories",
        type=StoryCount(),
        metavar="N|all",
        help="Print the stories of the N most severe root causes, or of all, in full.",
    ),
)
"""The options ``quiet`` and ``stories`` of a command that prints stories."""


def span(context: click.Context, parameter: click.Parameter, value: str, usual: str) -> tuple[int, int]:
    """Parse a range such as "3-8", or one number such as "4". ``usual`` is an example for the message of
    BadParameter."""
    first, _, last = value.partition("-")
    try:
        return int(first), int(last or first)
    except ValueError:
        raise click.BadParameter(f"{value!r}: write for example {usual}", context, parameter) from None


def _participants(context: click.Context, parameter: click.Parameter, value: str) -> tuple[int, int]:
    """Parse the minimum and maximum number of participants, such as "3-8" or "4"."""
    bounds = span(context, parameter, value, "3-8, or 4")
    if not 1 <= bounds[0] <= bounds[1] <= len(_USUAL.names):
        raise click.BadParameter(f"{value!r}: a schedule has 1 to {len(_USUAL.names)} participants", context, parameter)
    return bounds


def _seed(context: click.Context, parameter: click.Parameter, value: str) -> int:
    """Parse a seed: a number, or "random". Raises BadParameter."""
    if value == "random":
        return secrets.randbelow(1 << 32)
    try:
        seed = int(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither a number nor random", context, parameter) from None
    if not 0 <= seed < 1 << 63:
        raise click.BadParameter(f"{value} is not between 0 and 2^63", context, parameter)
    return seed


def which_seed(what: str, metavar: str = "N", default: str = "0") -> Decorator:
    """Return the option ``seed``; ``what`` describes what the seed determines."""
    return click.option("--seed", callback=_seed, default=default, show_default=True, metavar=metavar, help=what)


CAST_HELP = (
    "Play all participants in one process of the implementation (together), each in its own process (apart), or one of "
    "them among reference models (among)."
)
which_schedules = combine(
    click.option(
        "--passage",
        "passages",
        type=Name("passages"),
        multiple=True,
        metavar="NAME",
        help="Generate only this passage; repeatable. `sds-conformance list passages` shows the names.",
    ),
    click.option(
        "--participants",
        callback=_participants,
        default="3-8",
        show_default=True,
        metavar="N-M",
        help="Number of participants in a schedule.",
    ),
    click.option(
        "--cast",
        "casting",
        type=NameChoice([casting.value for casting in CastKind]),
        default=CastKind.TOGETHER.value,
        show_default=True,
        help=CAST_HELP,
    ),
    which_seed(SEED_HELP),
)
"""The options for generated schedules, and the option that selects which processes play the participants."""


def exit_code(tally: CampaignTally) -> int:
    """Return the exit code of a campaign."""
    return tally.exit_code


def full_id(glob: str) -> str:
    """Complete a glob of IDs of requirements, positions or properties, which may be typed in any case and
    without SDS-.
    """
    glob = glob.upper()
    return glob if glob.startswith((*PREFIXES, "*", *POSITIONS, GROUP)) else f"{PREFIXES[0]}-{glob}"


def program() -> str:
    """Return ``sds-conformance``, or the path of this program if the shell does not find that name."""
    name = Path(sys.argv[0])
    if name.name != "sds-conformance" or shutil.which(name.name):
        return "sds-conformance"
    return str(name)


def python() -> str:
    """Return the name of the running Python if the shell finds this Python by it, else the path.

    Another Python with the same name may lack the packages of the suite.
    """
    found = shutil.which("python")
    return "python" if found and Path(found).parent == Path(sys.executable).parent else sys.executable


def console(*, stderr: bool = False) -> Console:
    """Return a console on stdout, for results, or on stderr, for progress and errors. Without a terminal, its width is
    COLUMNS or 80.
    """
    return DoorConsole(
        stderr=stderr,
        highlight=False,
        emoji=False,
        markup=False,
        # rich only disables colours for NO_COLOR; users who set it want no escape codes at all.
        color_system=None if os.environ.get("NO_COLOR") else "auto",
    )
