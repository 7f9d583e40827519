"""Golden vectors of SDS: the computed ones, and the functions that play all of them.

``material`` is the entry for the rest of the suite. ``shapes`` names the function that plays each shape; these
functions are in ``running``, and ``conversations`` records and plays transcripts. The import of this package registers
the groups with computed vectors.
"""

from __future__ import annotations

from importlib import import_module

COMPUTED = [import_module(f"{__name__}.{name}") for name in ("bloom", "hashes", "repair_times", "transcripts")]
"""The modules that compute vectors, in the order of their groups."""
