"""Templates of HTML and SVG. Every value is escaped, and each page has a policy that forbids it to load anything."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from sds_harness.declaration import printable, without_orders

from ..judging.formats import format_count
from .links import documentation_link, text_link


@cache
def template(package: str, name: str, longest: int = 0) -> Template:
    """Return a template of the folder ``templates`` of a package. If ``longest`` is not 0, every text is shortened to
    this number of characters and made printable, before it is escaped.

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
    style = read_markup(__package__ or "", "page.css")
    known.globals |= {"policy": policy, "page_style": style}
    known.globals |= {"text_link": text_link, "documentation_link": documentation_link}
    known.filters |= {"counted": format_count, "thousands": lambda number: f"{number:,}", "weblink": web_link}
    known.filters["clean"] = known.globals["clean"] = lambda text, limit=600: printable(str(text), limit)

    def finalize(value: Any) -> Any:
        if type(value) is not str:
            return value
        return without_orders(printable(value, longest) if longest else value)

    known.finalize = finalize
    return known.get_template(name)


@cache
def read_markup(package: str, name: str) -> Markup:
    """Return a style sheet or a script of the folder ``templates`` of a package."""
    return Markup(files(package).joinpath("templates", name).read_text("utf-8"))


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


LONGEST_LINK = 2_000


def web_link(text: str) -> str:
    """Return ``text`` if it is a web address; otherwise ""."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    return text if parts.scheme in ("http", "https") and parts.netloc and len(text) <= LONGEST_LINK else ""
