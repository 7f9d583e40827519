"""Golden vectors of the ClearSkies database extension: the computed ones, and the functions that play all of them.

The rest of the suite imports ``material``. ``shapes`` names the function that plays each shape; these
functions are in ``running``. The import of this package registers the groups with computed vectors.
"""

from __future__ import annotations

from . import signing as _signing

COMPUTED = (_signing,)
