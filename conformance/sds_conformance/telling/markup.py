"""Templates of HTML and SVG: every value is escaped, and a policy in each page lets it load nothing."""

from __future__ import annotations

import base64
import hashlib

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sds_harness.declaration import without_orders


def environment(package: str) -> Environment:
    """For the folder ``templates`` of a package. Each page has ``policy`` in its head, before anything else."""
    known = Environment(
        loader=PackageLoader(package, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    known.globals["policy"] = policy
    known.finalize = lambda value: without_orders(value) if type(value) is str else value
    return known


def policy(script: str = "") -> Markup:
    """The Content-Security-Policy of a page as its element: it loads nothing, and runs ``script`` alone.

    Styles may stand anywhere: charts have widths and colours of their own, and no style can load anything here.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    runs = f"script-src 'sha256-{digest}'; " if script else ""
    return Markup(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        f"{runs}img-src data:; base-uri 'none'; form-action 'none'\">"
    )
