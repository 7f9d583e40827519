"""A page for each file format that has a JSON Schema, with its fields and the schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .markdown import code, code_block, page, prose, table

FOLDER = "reference/formats"
_FILES = {
    "Reports": (
        ("report", "conformance/sds_conformance/reports/report.schema.json"),
        ("baseline", "conformance/sds_conformance/reports/baseline.schema.json"),
        ("certificate", "conformance/sds_conformance/reports/certificate.schema.json"),
        ("compare", "conformance/sds_conformance/reports/comparing/compare.schema.json"),
        ("limits", "conformance/sds_conformance/exploration/limits/limits.schema.json"),
    ),
    "Schedules and scenario files": (
        ("schedule-sds", "harness/sds_harness/sds/schedule.schema.json"),
        ("schedule-clearskies", "harness/sds_harness/clearskies/schedule.schema.json"),
    ),
    "Testee protocol": (
        ("request", "reference/sds_proto/testee/v1/request.schema.json"),
        ("reply", "reference/sds_proto/testee/v1/reply.schema.json"),
    ),
}
_VECTORS = "vectors/schema"


def pages(repository: Path) -> Iterator[tuple[str, str]]:
    """The list of formats, and a page for each schema."""
    vectors = sorted((repository / _VECTORS).glob("*.schema.json"))
    groups = dict(_FILES) | {
        "Golden vectors": tuple(
            (f"vector-{file.name.removesuffix('.schema.json')}", f"{_VECTORS}/{file.name}") for file in vectors
        )
    }
    lines = [
        "Each of these formats has a JSON Schema (draft 2020-12). Corpora are Parquet files, which the",
        "[format of a corpus](../corpus-format.md) describes.",
        "",
    ]
    names: list[str] = []
    for title, files in groups.items():
        rows = []
        for name, path in files:
            schema = json.loads((repository / path).read_text("utf-8"))
            rows.append((f"[{name}]({name}.md)", prose(schema.get("title", ""))))
            names.append(name)
            yield f"{FOLDER}/{name}", _page(name, path, schema, (repository / path).read_text("utf-8"))
        lines += [f"## {title}", "", *table(("format", "content"), rows)]
    yield f"{FOLDER}/index", page("Formats and schemas", lines)


def _page(name: str, path: str, schema: dict[str, Any], text: str) -> str:
    title = prose(schema.get("title", "")).rstrip(".")
    lines = [f"{title}.", ""] if title else []
    lines += [prose(schema["description"]), ""] if "description" in schema else []
    lines += ["## Fields", "", *_fields(schema)]
    for each, one in schema.get("$defs", {}).items():
        if rows := _fields(one):
            lines += [f"## {each}", ""]
            lines += [prose(one["description"]), ""] if "description" in one else []
            lines += rows
    lines += ["## Schema", "", f"The file is `{path}`.", "", *code_block(text, "json")]
    return page(name, lines, orphan=True)


def _fields(schema: dict[str, Any]) -> list[str]:
    needed = schema.get("required", ())
    rows = [
        (code(name), prose(_type(one)), "yes" if name in needed else "", prose(one.get("description", "")))
        for name, one in schema.get("properties", {}).items()
        if isinstance(one, dict)
    ]
    return table(("field", "type", "required", "description"), rows)


def _type(schema: dict[str, Any]) -> str:
    """The type of a field in a few words. Backticks mark a constant, or the heading of a section of the page."""
    if "$ref" in schema:
        return f"`{schema['$ref'].rpartition('/')[2]}`"
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(one)}`" for one in schema["enum"])
    for several in ("oneOf", "anyOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(filter(None, map(_type, schema[several]))))
    kind = schema.get("type", "")
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind == "array" and isinstance(schema.get("items"), dict):
        inner = _type(schema["items"])
        return f"array of {inner}" if inner else "array"
    return str(kind)
