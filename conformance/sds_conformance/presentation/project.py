"""The addresses of this project on the web.

``OWNER`` is the account that publishes the project. This is the only place to set it: ``release_check.py`` lists the
files that name another owner, and with ``--write`` it puts the owner into them. As long as ``OWNER`` is the
placeholder, pages and reports have no links to the documentation site.
"""

from __future__ import annotations

PLACEHOLDER = "OWNER"
"""Placeholder for the account until the first release."""
OWNER = "OWNER"
NAME = "sds-conformance"


def repository(owner: str = "") -> str:
    return f"https://github.com/{owner or OWNER}/{NAME}"


def documentation(owner: str = "") -> str:
    """Return the address of the documentation site, with a slash at its end; "" if the owner is unknown."""
    owner = owner or OWNER
    return f"https://{owner.lower()}.github.io/{NAME}/" if owner != PLACEHOLDER else ""


def reference_page(place: str) -> str:
    """Return the address of a page in the reference part of the documentation site; "" if the owner is unknown."""
    site = documentation()
    return f"{site}reference/{place}.html" if site else ""
