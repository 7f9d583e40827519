"""What SDS brings to golden vectors."""

from __future__ import annotations

from sds_harness.sds.language import SDS as SPOKEN
from sds_reference import REVISIONS

from ....vectors.model import Material
from ..catalogue import load_catalogue
from .register import REGISTER, SDS
from .running.refusals import held_to_the_protocol
from .running.subject import opened
from .shapes import SHAPES

MATERIAL = Material(
    folder="sds",
    revisions=REVISIONS,
    together={SDS: "sds"},
    groups=REGISTER.groups,
    shapes=SHAPES,
    load=load_catalogue,
    open=opened,
    language=SPOKEN,
    held=held_to_the_protocol,
)
