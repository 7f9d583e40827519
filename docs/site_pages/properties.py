"""One page for the properties of the whole group."""

from __future__ import annotations

from collections.abc import Iterator

from sds_conformance.judging.verdict import full_code
from sds_conformance.protocols import repertoires

from .markdown import code, index_entries, page, prose, table


def pages() -> Iterator[tuple[str, str]]:
    """The page of all properties."""
    lines = [
        "A property is a requirement on all participants together. `fuzz`, `exhaust` and `interop` judge properties in",
        "generated schedules. `sds-conformance requirements G-01` explains property G-01.",
        "",
    ]
    found = {one.id: (one, known.revisions) for known in repertoires() for one in known.properties.values()}
    for name in sorted(found):
        one, revisions = found[name]
        lines += [f"## {one.id}: {prose(one.title)}", "", prose(one.summary), ""]
        lines += [f"The specification says: “{prose(one.says)}”", ""] if one.says else []
        lines += [f"Revisions: {', '.join(code(revision) for revision in revisions)}.", ""]
        linked = ", ".join(f"[{each}](requirements/{each}.md)" for each in one.requirements)
        lines += [f"It rests on {linked}.", ""] if linked else []
        lines += index_entries(full_code(one.id, c) for c in one.codes)
        lines += table(("code", "meaning"), [(code(full_code(one.id, c)), prose(w)) for c, w in one.codes.items()])
    yield "reference/properties", page("Properties of the group", lines)
