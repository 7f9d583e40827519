"""Templates of HTML and SVG: whatever is put into them is escaped."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment(package: str) -> Environment:
    """For the folder ``templates`` of a package."""
    return Environment(
        loader=PackageLoader(package, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
