"""Immutable values that are created often: messages, entries of logs and histories.

The generated ``__init__`` of a frozen dataclass calls ``object.__setattr__`` for each field, which takes twice as long
as setting the slots directly. These classes have their own ``__init__`` that sets the slots.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any


def setters(kind: type[Any]) -> list[Callable[[Any, Any], None]]:
    """Return the setters of a frozen dataclass with slots, in the order of its fields.

    Only its ``__init__`` may use them.
    """
    return [getattr(kind, field.name).__set__ for field in fields(kind)]
