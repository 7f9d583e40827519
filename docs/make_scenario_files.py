"""Writes the tables of ``scenario-files.md`` in this folder, from the schemas of schedules.

Each table stands between two comments that name it. A test compares the page with the output of ``fill_tables``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sds_conformance.scenario_files.expectations import KINDS
from sds_harness.clearskies.notation import NOTATION as CLEARSKIES
from sds_harness.files import write_whole
from sds_harness.schedules import Notation
from sds_harness.sds.notation import NOTATION as SDS

OF_ALL = {"op", "when"}
"""The fields that every operation has. The tables omit them, because the page explains them in the text."""
PAGE = Path(__file__).resolve().parent / "scenario-files.md"


def keys() -> Iterator[str]:
    """The lines of the table of the top-level keys of a scenario file."""
    yield "| key | default | meaning |"
    yield "| --- | --- | --- |"
    required = SDS.schema["required"]
    rules = SDS.schema["properties"]
    for key in sorted(rules, key=lambda key: key not in required):
        default = "required" if key in required else _markdown_value(rules[key].get("default"))
        yield f"| `{key}` | {default} | {_cell(rules[key]['description'])} |"


def operations(notation: Notation) -> Iterator[str]:
    """The lines of the table of operations of a protocol. Required fields are bold."""
    yield "| operation | effect | fields |"
    yield "| --- | --- | --- |"
    for name in notation.operations:
        shape = notation.schema["$defs"][name]
        own = [f"**`{key}`**" if key in shape["required"] else f"`{key}`" for key in _own_fields(shape)]
        yield f"| `{name}` | {_cell(shape['description'])} | {', '.join(own) or 'none'} |"


def details(notation: Notation) -> Iterator[str]:
    """The lines of the table of fields: all fields of operations, members and routes that have a description."""
    yield "| field | meaning |"
    yield "| --- | --- |"
    for name in [*notation.operations, "member", *(["route"] if notation is SDS else [])]:
        for key, shape in _own_fields(notation.schema["$defs"][name]).items():
            if "description" in shape:
                yield f"| `{name}`: `{key}` | {_cell(shape['description'])} |"


def _own_fields(shape: dict[str, Any]) -> dict[str, Any]:
    """Map each field of an operation to its schema, without the fields that every operation has."""
    return {key: field for key, field in shape["properties"].items() if key not in OF_ALL}


def expectations() -> Iterator[str]:
    """The lines of the table of the kinds of expectations."""
    yield "| key | met if | protocols |"
    yield "| --- | --- | --- |"
    for key in KINDS:
        rows = [
            (name, _expectation_schema(notation).get(key))
            for name, notation in (("SDS", SDS), ("ClearSkies", CLEARSKIES))
        ]
        there = [(name, row) for name, row in rows if row is not None]
        yield f"| `{key}` | {_cell(there[0][1]['description'])} | {', '.join(name for name, _ in there)} |"


def fill_tables(page: str) -> str:
    """Return the page, in which each table is replaced by the table that follows from the schemas."""
    tables = {
        "keys": keys(),
        "expectations": expectations(),
        "operations of SDS": operations(SDS),
        "fields of SDS": details(SDS),
        "operations of ClearSkies": operations(CLEARSKIES),
        "fields of ClearSkies": details(CLEARSKIES),
    }
    for name, lines in tables.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(end)
        page = before + begin + "".join(f"{line}\n" for line in lines) + end + after
    return page


def _expectation_schema(notation: Notation) -> dict[str, Any]:
    rows: dict[str, Any] = notation.schema["properties"]["expect"]["items"]["properties"]
    return rows


def _markdown_value(value: Any) -> str:
    if value is None:
        return ""
    return f"`{value}`" if not isinstance(value, list) else f"`[{', '.join(value)}]`"


def _cell(text: str) -> str:
    """Convert a description from a schema to a Markdown cell, with a link to the section on expressions."""
    text = text.replace("see `expressions`", "see [expressions](#conditions-and-expressions)")
    return re.sub(r"\bnull\b", "`null`", text).replace("|", "\\|")


if __name__ == "__main__":
    write_whole(PAGE, fill_tables(PAGE.read_text("utf-8")))
