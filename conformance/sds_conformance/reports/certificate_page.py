"""The page of a certificate: one self-contained HTML file without scripts, for screen and paper.

All texts of implementations and files are untrusted: they are shortened, made printable and escaped.
"""

from __future__ import annotations

from typing import Any

from sds_harness.declaration import printable

from ..judging.verdict import Verdict
from ..presentation.markup import template, web_link
from ..protocols import protocol_of
from . import certificate_words as words
from .certificate import Certificate
from .levels import NONE, unjudged_note
from .limits import WORDS as LIMIT_WORDS
from .limits import certified_rows


def page(certificate: Certificate) -> str:
    data = certificate.data
    protocol = protocol_of(data["revision"])
    sections = {section.id: section.title for section in protocol.rules.catalogue.sections}
    return template(__package__ or "", "certificate.html.j2").render(
        **LIMIT_WORDS,
        **(data | {"level": certificate.current_level}),
        title=certificate.name,
        against=protocol.describe_profile(data["revision"], data["profile"]),
        homepage=web_link(printable(data["implementation"]["homepage"], 200)),
        command=words.command_of(data),
        declared=words.format_declaration(data),
        vectors_described=words.describe_vectors(data),
        fuzz_described=words.describe_fuzz(data),
        exhausted_described=words.describe_exhaustion(data),
        limits_described=words.describe_limits(data),
        limit_rows=certified_rows(data),
        held=certificate.level != NONE,
        beside=unjudged_note(certificate.current_level),
        verdict_names=[verdict.value for verdict in Verdict],
        sections=[(sections.get(name, name), rows) for name, rows in _group_by_section(data).items()],
        of={name: [row for row in data["requirements"] if row["verdict"] == name] for name in data["verdicts"]},
        known={row["requirement"] for row in data.get("baseline", {}).get("known", [])},
    )


def _group_by_section(data: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    out: dict[str, list[dict[str, Any]]] = {}
    for row in data["requirements"]:
        out.setdefault(row["section"], []).append(row)
    return out
