"""Templates of HTML and SVG. Every value is escaped, and each page has a policy that lets it load nothing."""

from __future__ import annotations

import base64
import hashlib

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sds_harness.declaration import without_orders


def environment(package: str) -> Environment:
    """Return the template environment for the folder ``templates`` of a package. ``policy`` must come first in the
    head.
    """
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
    """Return the Content-Security-Policy of a page as a meta element: it loads nothing and runs only ``script``.

    Inline styles are allowed: charts have individual widths and colours, and styles cannot load anything.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    runs = f"script-src 'sha256-{digest}'; " if script else ""
    return Markup(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        f"{runs}img-src data:; base-uri 'none'; form-action 'none'\">"
    )
