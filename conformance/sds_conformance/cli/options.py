"""Options and helpers that commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click
from rich.console import Console
from sds_harness.link import Limits, StdioLink
from sds_reference.testee.dialect import dialect_names
from sds_reference.testee.framing import Framing

F = TypeVar("F", bound=Callable[..., Any])


def memory_size(context: click.Context, parameter: click.Parameter, value: str) -> int:
    """Bytes, from a number with an optional suffix k, m or g."""
    text = value.strip().lower().removesuffix("b").removesuffix("i")
    factor = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}.get(text[-1:], 1)
    try:
        size = int(float(text.rstrip("kmg")) * factor)
    except (ValueError, OverflowError):
        raise click.BadParameter(f"{value!r} is no size: write for example 512m or 4g", context, parameter) from None
    if size < 1 << 20:
        raise click.BadParameter("less than 1m is not enough for any process", context, parameter)
    return size


def driving(function: F) -> F:
    """Options of every command that drives an implementation, and the COMMAND itself."""
    for decorate in (
        click.argument("command", nargs=-1, type=click.UNPROCESSED),
        click.option(
            "--memory",
            callback=memory_size,
            metavar="SIZE",
            default="4g",
            show_default=True,
            help="Resident memory the implementation may use.",
        ),
        click.option(
            "--timeout",
            type=click.FloatRange(min=0.05),
            default=10.0,
            show_default=True,
            metavar="SECONDS",
            help="How long one command may take.",
        ),
        click.option(
            "--start-timeout",
            type=click.FloatRange(min=0.05),
            default=30.0,
            show_default=True,
            metavar="SECONDS",
            help="How long the first answer of a fresh process may take.",
        ),
        click.option(
            "--dialect",
            default="",
            metavar="NAME",
            help=f"Translate a private wire layout: {', '.join(dialect_names())}, or a .json file.",
        ),
        click.option(
            "--framing",
            type=click.Choice([framing.value for framing in Framing]),
            default="json",
            show_default=True,
            help="How requests and replies stand on stdin and stdout.",
        ),
    ):
        function = decorate(function)
    return function


def implementation(command: tuple[str, ...]) -> list[str]:
    """The command to drive; the bundled reference if none is given."""
    return list(command) or [sys.executable, "-m", "sds_reference"]


def connector(command: list[str], framing: str, limits: Limits) -> Callable[[], StdioLink]:
    """Starts a fresh process each time it is called."""
    return lambda: StdioLink(command, Framing(framing), limits)


def limits_of(timeout: float, start_timeout: float, memory: int) -> Limits:
    return Limits(start_s=start_timeout, command_s=timeout, memory_bytes=memory)


def consoles() -> tuple[Console, Console]:
    """stdout for results, stderr for progress. Without a terminal the width is 80, or COLUMNS."""
    return _console(stderr=False), _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    return Console(stderr=stderr, highlight=False, emoji=False, markup=False)
