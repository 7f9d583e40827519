"""Templates of HTML and SVG. Every value is escaped, and each page has a policy that forbids it to load anything."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from urllib.parse import urlsplit

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sds_harness.declaration import without_orders

from .links import documentation_link, text_link


def make_template_environment(package: str) -> Environment:
    """Return the template environment for the folder ``templates`` of a package.

    Pages extend ``page.html.j2`` of this package: the layout and the style sheet that all pages share. Its variables
    ``script`` and ``style``, which are Markup, and ``back``, a link to the page above, are optional.
    """
    known = Environment(
        loader=ChoiceLoader([PackageLoader(package, "templates"), PackageLoader(__package__ or "", "templates")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    known.globals["policy"] = policy
    known.globals |= {"page_style": page_style, "text_link": text_link, "documentation_link": documentation_link}
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


@cache
def page_style() -> Markup:
    """Return the style sheet of all pages."""
    return Markup(files(__package__).joinpath("templates", "page.css").read_text("utf-8"))


LONGEST_LINK = 2_000


def web_link(text: str) -> str:
    """Return ``text`` if it is a web address; otherwise ""."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    return text if parts.scheme in ("http", "https") and parts.netloc and len(text) <= LONGEST_LINK else ""
