"""The register of the groups of ClearSkies."""

from __future__ import annotations

from collections.abc import Callable

from sds_harness.clearskies.trace import CLEARSKIES_DATABASE

from ....vectors.model import Builder, Note, VectorRegister

REGISTER = VectorRegister()


def group(name: str, shape: str, title: str, notes: dict[str, Note]) -> Callable[[Builder], Builder]:
    """Register the builder of a group, with notes on its flags. The specification has one revision."""
    return REGISTER.group(name, shape, title, notes, (CLEARSKIES_DATABASE.name,))
