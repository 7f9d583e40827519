"""The checks, by the facts that they are about. Importing this package registers them."""

from __future__ import annotations

from . import arrivals as _arrivals
from . import changes as _changes
from . import conflicts as _conflicts
from . import messages as _messages
from . import spreading as _spreading

MODULES = (_arrivals, _changes, _conflicts, _messages, _spreading)
