"""Describes the source code of the reference model of SDS, in which faults are generated."""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from importlib.resources import files

from sds_harness.link import LocalLink
from sds_harness.sds.environments import ENVIRONMENTS
from sds_reference import REVISIONS, Config
from sds_reference.config import OwnIds, RepairConfig
from sds_reference.variants import VARIANTS
from sds_testee.version import suite_version

from ...judging.alterations.source import Configuration, ModelSource
from .catalogue import CURRENT

MODULES = (
    "lamport_clock",
    "local_log",
    "incoming_buffer",
    "outgoing_buffer",
    "bloom_filter",
    "bloom_profiles",
    "bloom_hashes",
    "message",
    "message_id",
    "wire_formats",
    "sender",
    "channel",
    "participant",
    "hash_profiles",
    "repair_times",
    "repair_buffer",
    "repair",
)
"""The modules of the model in which faults are generated.

Left out are modules of names (effects, errors, revisions), of choices (configuration, variants and their steps), and of
interfaces to the suite.
"""


def list_choices(name: str) -> list[tuple[str, str]]:
    """Return each (revision, profile) in which the legal variant ``name`` differs from the model.

    A variant of SDS-R differs from the model in every revision that has SDS-R.
    """
    variant = VARIANTS[name]
    others = [r for r, revision in REVISIONS.items() if revision.repairs and r != CURRENT]
    everywhere = [(other, "sds-r") for other in others] if "repair" in dict(variant.config) else []
    return [(variant.revision or CURRENT, "full"), *everywhere]


def _configurations() -> tuple[Configuration, ...]:
    """The default model in every environment, and each variant in the plain environment.

    Environments that only set variables of a process are left out, because the model runs in the process of the suite.
    """
    defaults = [
        Configuration(name, DIFFERS_IN.get(name, ""), environment=environment.name)
        for environment in ENVIRONMENTS.values()
        for name, revision in REVISIONS.items()
        if not environment.why_unfit(revision) and not environment.variables
    ]
    chosen = [Configuration(revision, profile, name) for name in VARIANTS for revision, profile in list_choices(name)]
    return (*defaults, *chosen)


def _start(package: str, configuration: Configuration) -> LocalLink:
    """Start a copy of the model, or of a variant, in the process of the suite. ``package`` is the name of the package
    that contains the copy.
    """
    server = import_module(f"{package}.testee.server")
    config = import_module(f"{package}.config").Config()
    participant, name = import_module(f"{package}.participant").Participant, "sds_reference"
    if configuration.variant:
        variant = import_module(f"{package}.variants").VARIANTS[configuration.variant]
        config, participant, name = variant.configure(config), variant.participant_class, f"variant {variant.name}"
    return LocalLink(server.Testee(server.TesteeOptions(suite_version(), config, participant, name)).handle)


_REPAIR = ("self.config", "self.config.repair")
"""The expressions in the source that read the configuration of SDS-R."""
_CHOICES = {
    *(f"self.config.{field.name}" for field in fields(Config) if field.type == "bool"),
    *(f"{at}.{field.name}" for at in _REPAIR for field in fields(RepairConfig) if field.type == "bool"),
    *(f"self.config.own_ids_in_filter is OwnIds.{when.name}" for when in OwnIds),
}
"""The expressions in the source that read a choice which the specification leaves open."""


def _excuses() -> str:
    return (files(__package__) / "excuses.tsv").read_text("utf-8")


DIFFERS_IN = {
    name: "sds-r"
    for name, revision in REVISIONS.items()
    if name != CURRENT and revision.prefix == REVISIONS[CURRENT].prefix
}
"""For each revision of SDS but the current one: the profile of the requirements in which the two revisions differ."""

_MISUSE = frozenset({"ConfigurationError", "UnknownChannelError"})
SOURCE = ModelSource("sds_reference", MODULES, _configurations(), _start, _CHOICES.__contains__, _MISUSE, _excuses)
