"""Golden vectors of SDS: the modules that compute vectors, and the functions that play vectors.

The rest of the suite imports ``material``. ``shapes`` names the function that plays the vectors of each shape. These
functions are in ``running``, and ``conversations`` records and plays transcripts. The import of this package registers
the groups with computed vectors.
"""

from __future__ import annotations

from importlib import import_module

COMPUTED = [import_module(f"{__name__}.{name}") for name in ("bloom", "hashes", "repair_times", "transcripts")]
"""The modules that compute vectors, in the order of their groups."""
