"""The golden vectors of ClearSkies."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from clearskies_reference import PROFILES, Config, SignatureProfile
from clearskies_reference.testee.server import Testee, TesteeOptions
from sds_harness.clearskies.language import CLEARSKIES
from sds_harness.clearskies.trace import CLEARSKIES_DATABASE
from sds_harness.link import Link, LocalLink

from ....vectors.model import Material
from ..catalogue import load_catalogue
from .running.refusals import fail_illegal_refusals
from .running.subject import open_subject
from .shapes import SHAPES
from .signing import REGISTER


def _model(profile: SignatureProfile, _: Mapping[str, str]) -> Link:
    """Start the reference model with a signature profile in this process."""
    return LocalLink(Testee(TesteeOptions("vectors", Config(signature_profile=profile))).handle)


MATERIAL = Material(
    folder="clearskies",
    revisions={CLEARSKIES_DATABASE.name: CLEARSKIES_DATABASE},
    together={},
    computed=REGISTER.groups,
    shapes=SHAPES,
    load=load_catalogue,
    open=open_subject,
    language=CLEARSKIES,
    held=fail_illegal_refusals,
    models=[partial(_model, profile) for profile in PROFILES.values()],
)
