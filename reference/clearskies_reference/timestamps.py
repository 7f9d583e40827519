"""Section "Database Layout": ``update_time``, "transmitted in ISO 8601 format".

Times are compared at the precision in which they are written, across zones, and in any year that can be written. The
received text is stored unchanged, because a peer that relays a record must not change it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .errors import MalformedMessageError, RefusedWriteError

LONGEST = 80
"""Maximum number of characters of a received time."""

_FORM = re.compile(
    r"(?P<year>[0-9]{4}|[+-][0-9]{4,10})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
    r"[Tt ](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]+))?)?"
    r"(?P<zone>[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?",
)
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A point in time. Ordered by ``seconds`` since 1970 in UTC and by ``fraction``, not by how it is written."""

    seconds: int
    fraction: str
    """Decimal digits after the point, without trailing zeros: two fractions are in the same order as their strings."""
    text: str = field(compare=False)
    """The text of the time, as it was written."""


def timestamp(text: object) -> Timestamp:
    """The time in ISO 8601. A time without a zone is read as UTC. Raises MalformedMessageError."""
    if not isinstance(text, str) or len(text) > LONGEST or not (found := _FORM.fullmatch(text)):
        raise MalformedMessageError(f"update_time {str(text)[:LONGEST]!r} is not ISO 8601")
    year, month, day = int(found["year"]), int(found["month"]), int(found["day"])
    hour, minute, second = int(found["hour"]), int(found["minute"]), int(found["second"] or 0)
    # A leap second is the 61st of its minute.
    if not (1 <= month <= 12 and 1 <= day <= _days_in(year, month) and hour < 24 and minute < 60 and second <= 60):
        raise MalformedMessageError(f"update_time {text!r} is not a point in time")
    seconds = (
        _days_before(year, month, day) * _DAY_SECONDS + hour * 3600 + minute * 60 + second - _offset(found["zone"])
    )
    return Timestamp(seconds, (found["fraction"] or "").rstrip("0"), text)


def from_nanoseconds(nanoseconds: int, digits: int) -> Timestamp:
    """The time ``nanoseconds`` after the start of 1970 in UTC, written with ``digits`` digits after the point, 0 to 9.

    Raises RefusedWriteError for years that the format cannot express.
    """
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    if seconds > _LAST_SECOND:
        raise RefusedWriteError("the update_time would be later than the last time that the format can express")
    fraction = f"{rest:09}"[:digits]
    days, of_day = divmod(seconds, _DAY_SECONDS)
    year, month, day = _date(days)
    written = f"{year:04}" if 0 <= year <= 9999 else f"{year:+05}"
    point = f".{fraction}" if fraction else ""
    clock = f"{of_day // 3600:02}:{of_day // 60 % 60:02}:{of_day % 60:02}"
    return Timestamp(seconds, fraction.rstrip("0"), f"{written}-{month:02}-{day:02}T{clock}{point}Z")


def nanoseconds_up(time: Timestamp) -> int:
    """The first whole number of nanoseconds since 1970 that is later than ``time``."""
    return time.seconds * 1_000_000_000 + int(time.fraction[:9].ljust(9, "0")) + 1


def _offset(zone: str | None) -> int:
    """Seconds that a zone is ahead of UTC."""
    if zone is None or zone in "Zz":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[-2:]) if len(zone) > 3 else 0
    if hours > 23 or minutes > 59:
        raise MalformedMessageError(f"{zone!r} is not a time zone")
    return (hours * 3600 + minutes * 60) * (-1 if zone[0] == "-" else 1)


def _days_in(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else _DAYS[month - 1]


def _days_before(year: int, month: int, day: int) -> int:
    """Days from 1970-01-01 to a date of the Gregorian calendar. The calculation lets years begin in March."""
    year -= month <= 2
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return year * 365 + year // 4 - year // 100 + year // 400 + of_year - 719_468


def _date(days: int) -> tuple[int, int, int]:
    """Year, month and day of the date ``days`` days after 1970-01-01."""
    days += 719_468
    era, of_era = divmod(days, 146_097)
    years = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * years + years // 4 - years // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    year = era * 400 + years + (month >= 10)
    return year, month + (3 if month < 10 else -9), day


_LAST_SECOND = _days_before(10**10, 1, 1) * _DAY_SECONDS - 1
"""The latest time that ``timestamp`` reads."""
