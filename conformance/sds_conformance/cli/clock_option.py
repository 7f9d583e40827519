"""The option ``--clock``: the clock of the implementation."""

from __future__ import annotations

import os
from functools import partial

import click

from sds_harness.clock import OPTION, ClockProbe, Faketime, MissingClockLibraryError, find_library
from sds_harness.declaration import VIRTUAL_CLOCK
from sds_harness.link import Limits
from sds_harness.session import Session

from ..judging.rules import UnknownDialectError
from ..protocols import Protocol, protocol_of
from .name_types import NameChoice

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
    try:
        library = find_library()
    except MissingClockLibraryError as error:
        raise click.UsageError(str(error)) from None
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
