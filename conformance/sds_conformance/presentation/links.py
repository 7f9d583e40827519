"""Web addresses about a requirement: its place in the published specification, and its page of the documentation."""

from __future__ import annotations

from ..protocols import stating
from .project import reference_page


def text_link(requirement: str) -> str:
    """Return the address of the section that states a requirement; "" if there is none, or if no catalogue has the
    requirement.
    """
    protocol = stating(requirement)
    return protocol.rules.catalogue.requirements[requirement].link if protocol is not None else ""


def documentation_link(requirement: str) -> str:
    """Return the address of the page of a requirement on the documentation site; "" if the site or the requirement is
    unknown.
    """
    return reference_page(f"requirements/{requirement}") if stating(requirement) is not None else ""
