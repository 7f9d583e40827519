"""Options for the time and memory of an implementation."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import click

from sds_harness.link import Limits

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


_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


class Duration(click.ParamType[float]):
    """Parameter type: a duration such as "90", "90s", "10m" or "2h", converted to seconds; at least 0.1 s."""

    name = "time"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> float:
        """Convert the value to seconds. Raises BadParameter."""
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)([smh]?)", str(value).strip().lower(), re.ASCII)
        seconds = float(found[1]) * _UNITS[found[2]] if found else math.nan
        if not seconds >= 0.1:
            self.fail(f"{value!r} is not a time: write for example 90s, 10m or 2h", parameter, context)
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
