"""What ClearSkies brings to golden vectors."""

from __future__ import annotations

from sds_harness.clearskies.language import CLEARSKIES
from sds_harness.clearskies.trace import CLEARSKIES_DATABASE

from ....vectors.model import Material
from ..catalogue import load_catalogue
from .register import REGISTER
from .running.refusals import held_to_the_protocol
from .running.subject import opened
from .shapes import SHAPES

MATERIAL = Material(
    folder="clearskies",
    revisions={CLEARSKIES_DATABASE.name: CLEARSKIES_DATABASE},
    together={},
    groups=REGISTER.groups,
    shapes=SHAPES,
    load=load_catalogue,
    open=opened,
    language=CLEARSKIES,
    held=held_to_the_protocol,
)
