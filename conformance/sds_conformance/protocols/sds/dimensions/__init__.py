"""The sizes of SDS that `limits` measures, one function each."""

from __future__ import annotations

# The order of the imports is the order of reports.
# isort: off
from . import received  # noqa: F401
from . import own  # noqa: F401
from . import messages  # noqa: F401
from . import repairs  # noqa: F401
from . import numbers  # noqa: F401
from . import crowds  # noqa: F401
from . import pace  # noqa: F401

# isort: on
from .register import DIMENSIONS

__all__ = ["DIMENSIONS"]
