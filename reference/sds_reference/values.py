"""Immutable values that are made often: entries of logs and histories, messages.

The ``__init__`` of a frozen dataclass goes round its own ``__setattr__`` for each field, which takes twice the time.
Theirs fills the slots itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any


def setters(kind: type[Any]) -> list[Callable[[Any, Any], None]]:
    """What sets each field of a frozen dataclass with slots, in their order: for its own ``__init__`` alone."""
    return [getattr(kind, field.name).__set__ for field in fields(kind)]
