"""A page for each position, and a list of all positions."""

from __future__ import annotations

from collections.abc import Iterator

from sds_conformance.judging.catalogue import POSITION_VERDICTS, Position
from sds_conformance.protocols import Protocol, protocols

from .implementations import Known
from .markdown import code, page, prose, table

FOLDER = "reference/positions"


def pages(known: Known) -> Iterator[tuple[str, str]]:
    """The list of positions, and a page for each position."""
    yield f"{FOLDER}/index", _list()
    for protocol in protocols():
        for position in protocol.rules.catalogue.positions.values():
            yield f"{FOLDER}/{position.id}", _page(protocol, position, known)


def _list() -> str:
    lines = [
        "A position is the decision of the suite on a point that a specification leaves open. A finding names the",
        "positions that it rests on, and a legal choice is never a failure. [Verdicts](../verdicts.md#positions) says",
        "how positions act on verdicts. [Contest a position](../../how-to/contest-a-position.md) says how to object.",
        "",
    ]
    for protocol in protocols():
        rows = [
            (f"[{one.id}]({one.id}.md)", prose(one.question), prose(one.position))
            for one in protocol.rules.catalogue.positions.values()
        ]
        lines += [f"## {protocol.name}", "", *table(("ID", "question", "decision"), rows)]
    return page("Positions", lines)


def _page(protocol: Protocol, position: Position, known: Known) -> str:
    catalogue = protocol.rules.catalogue
    lines = ["## Question", "", prose(position.question), "", "## Decision", "", prose(position.position), ""]
    lines += [
        f"The suite treats the position as *{position.verdict}*: {prose(POSITION_VERDICTS[position.verdict])}.",
        "",
    ]
    lines += ["## Options", ""]
    if position.options:
        rows = [(code(name), prose(one.words), _taker(one.taken_by)) for name, one in position.options.items()]
        lines += ["A run can show these behaviours. `report.json` lists them under `ways`.", ""]
        lines += table(("option", "behaviour", "model that takes it"), rows)
    elif position.not_shown:
        lines += [f"No run shows which option an implementation takes: {prose(position.not_shown)}.", ""]
    if position.variants:
        text = ", ".join(code(name) for name in position.variants)
        lines += [f"These legal variants of the model make another choice and must pass: {text}.", ""]
    choices = known.choices.get(position.id)
    if choices:
        lines += ["## Implementations", ""]
        lines += table(("implementation", "option"), [(prose(name), prose(way)) for name, way in choices.items()])
        lines += ["[All implementations](../implementations.md) has the scenarios and steps that show the options.", ""]
    concerned = [one for one in catalogue.requirements.values() if position.id in one.positions]
    if concerned:
        rows_of = [(f"[{r.id}](../requirements/{r.id}.md)", prose(r.statement)) for r in concerned]
        lines += ["## Requirements", "", *table(("requirement", "statement"), rows_of)]
    lines += ["[Contest a position](../../how-to/contest-a-position.md) says how to object."]
    return page(position.id, lines, orphan=True)


def _taker(taken_by: str) -> str:
    return code(taken_by) if taken_by else "none"
