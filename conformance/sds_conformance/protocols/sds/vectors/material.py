"""The golden vectors of SDS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from sds_harness.link import Link, LocalLink
from sds_harness.sds.language import SDS as SPOKEN
from sds_reference import HASH_PROFILES, PROFILES, REVISIONS, BloomProfile, Config, HashProfile
from sds_reference.testee.server import Testee, TesteeOptions

from ....vectors.model import Material
from ..catalogue import load_catalogue
from .register import REGISTER, SDS
from .running.refusals import fail_illegal_refusals
from .running.subject import open_subject
from .shapes import SHAPES


def _start_model(bloom: BloomProfile, hashes: HashProfile, _: Mapping[str, str]) -> Link:
    """Start the reference model with these filter and hash profiles in this process."""
    config = Config(bloom_profile=bloom)
    config = replace(config, repair=replace(config.repair, hash_profile=hashes))
    return LocalLink(Testee(TesteeOptions("vectors", config)).handle)


MATERIAL = Material(
    folder="sds",
    revisions=REVISIONS,
    together={SDS: "sds"},
    computed=REGISTER.groups,
    shapes=SHAPES,
    load=load_catalogue,
    open=open_subject,
    language=SPOKEN,
    held=fail_illegal_refusals,
    models=[
        partial(_start_model, *profiles) for profiles in zip(PROFILES.values(), HASH_PROFILES.values(), strict=True)
    ],
)
