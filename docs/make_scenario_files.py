"""Writes the tables of ``scenario-files.md`` beside this file, from the schemas and the classes of operations.

Each table stands between two comments that name it. A test compares the page with the output of ``filled``.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from sds_conformance.scenario_files.expectations import KINDS
from sds_harness.clearskies.notation import NOTATION as CLEARSKIES
from sds_harness.docstrings import docstring
from sds_harness.files import write_whole
from sds_harness.schedules import Notation, Operation
from sds_harness.sds.notation import NOTATION as SDS

OF_ALL = {f.name for f in fields(Operation)}
"""The fields of all operations, which have a section of the page."""
PAGE = Path(__file__).resolve().parent / "scenario-files.md"


def keys() -> Iterator[str]:
    """The keys at the top of a file."""
    yield "| key | default | meaning |"
    yield "| --- | --- | --- |"
    required = SDS.schema["required"]
    rules = SDS.schema["properties"]
    for key in sorted(rules, key=lambda key: key not in required):
        default = "required" if key in required else _markdown_value(rules[key].get("default"))
        yield f"| `{key}` | {default} | {_cell(_MEANING.get(key) or rules[key]['description'])} |"


_MEANING = {
    "members": "The participants under test: names, or objects with the fields of the last table.",
    "operations": "The steps, in order. Each has the key `op`.",
    "channels": "Names of channels. Operations refer to them by number, from 0.",
    "name": "A name for reports of `fuzz` and `replay`.",
    "notes": "Notes of the finder. Counterexamples have some.",
}
"""Descriptions of fields whose description in the schema is missing or written for programs."""


def operations(notation: Notation) -> Iterator[str]:
    """The operations of a protocol. Required fields are bold."""
    yield "| operation | effect | fields |"
    yield "| --- | --- | --- |"
    for name, kind in notation.operations.items():
        effect = docstring(kind).partition("\n\n")[0]
        own = [each for each in fields(kind) if each.name not in OF_ALL]
        yield f"| `{name}` | {_cell(effect)} | {', '.join(map(_field, own)) or 'none'} |"


def details(notation: Notation) -> Iterator[str]:
    """The fields that need an explanation, with those of members and of routes."""
    yield "| field | meaning |"
    yield "| --- | --- |"
    parts: list[tuple[str, type[Any]]] = [*notation.operations.items(), ("members", notation.member)]
    for name, kind in parts:
        docstrings = _field_docstrings(kind)
        for each in fields(kind):
            if each.name in docstrings and each.name not in OF_ALL:
                yield f"| `{name}`: `{each.name}` | {_cell(docstrings[each.name])} |"
    if notation is SDS:
        from sds_harness.schedules.operations import Route

        for name, meaning in _field_docstrings(Route).items():
            yield f"| `route`: `{name}` | {_cell(meaning)} |"


def expectations() -> Iterator[str]:
    """The kinds of expectations."""
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
    """The page with its tables as they must be."""
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


def _field(field: Any) -> str:
    required = field.default is MISSING and field.default_factory is MISSING
    return f"**`{field.name}`**" if required else f"`{field.name}`"


def _field_docstrings(kind: type[Operation] | type[Any]) -> dict[str, str]:
    """The string after each field of a class and of its bases."""
    out: dict[str, str] = {}
    for base in reversed(kind.__mro__[:-1]):
        body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        assert isinstance(body, ast.ClassDef)
        for before, after in zip(body.body, body.body[1:], strict=False):
            if not (isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name)):
                continue
            if isinstance(after, ast.Expr) and "ClassVar" not in ast.unparse(before.annotation):
                out[before.target.id] = str(ast.literal_eval(after.value))
    return out


def _markdown_value(value: Any) -> str:
    if value is None:
        return ""
    return f"`{value}`" if not isinstance(value, list) else f"`[{', '.join(value)}]`"


def _cell(text: str) -> str:
    """A text as the cell of a table."""
    text = text.replace("see ``expressions``", "see [expressions](#conditions-and-expressions)")
    text = re.sub(r"``([^`]+)``", r"`\1`", " ".join(text.split()))
    text = re.sub(r"\bNone\b", "`null`", text)
    return text.replace("|", "\\|")


if __name__ == "__main__":
    write_whole(PAGE, fill_tables(PAGE.read_text("utf-8")))
