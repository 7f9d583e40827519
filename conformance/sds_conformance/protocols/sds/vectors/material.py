"""What SDS brings to golden vectors. Importing this module registers all groups."""

from __future__ import annotations

from sds_harness.sds.stage import ScheduleStopped
from sds_reference import REVISIONS

from ....vectors.model import Material
from ..catalogue import load_catalogue
from ..catalogue.positions import load_positions
from . import (
    ack_reviews,
    bloom,
    forum_decoding,
    forum_lamport,
    hashes,
    lamport,
    message_kinds,
    ordering,
    repair_buffers,
    repair_times,
    transcripts,
    wire_decoding,
    wire_encoding,
)
from .register import REGISTER, SDS
from .running.refusals import held_to_the_protocol
from .running.subject import opened
from .shapes import SHAPES

REGISTERED = (
    ack_reviews,
    bloom,
    forum_decoding,
    forum_lamport,
    hashes,
    lamport,
    message_kinds,
    ordering,
    repair_buffers,
    repair_times,
    transcripts,
    wire_decoding,
    wire_encoding,
)
"""The modules whose import fills the register."""

MATERIAL = Material(
    folder="sds",
    revisions=REVISIONS,
    together={SDS: "sds"},
    groups=REGISTER.groups,
    shapes=SHAPES,
    requirements=load_catalogue().requirements,
    positions=load_positions(),
    open=opened,
    stopped=ScheduleStopped,
    held=held_to_the_protocol,
)
