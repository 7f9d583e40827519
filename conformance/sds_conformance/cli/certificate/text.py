"""The text form of a certificate, for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sds_harness.declaration import printable

from ...exploration.limits.text import show_rows
from ...judging.formats import format_count
from ...judging.verdict import Verdict
from ...presentation.last_screen import STYLES
from ...presentation.story import headline, plain_table, print_labelled
from ...protocols import protocol_of
from ...reports.certificate import Certificate
from ...reports.certificate_words import (
    command_of,
    describe_exhaustion,
    describe_fuzz,
    describe_limits,
    describe_vectors,
    format_declaration,
    join_items,
)
from ...reports.levels import NONE, unjudged_note
from ...reports.limits import certified_rows

_VERDICT_ORDER = (Verdict.FAIL, Verdict.ERROR, Verdict.WARN, Verdict.INCONCLUSIVE, Verdict.SKIPPED)
"""The order in which verdicts are listed. PASS is missing, because passed requirements are only counted."""


def show(out: Console, certificate: Certificate) -> None:
    """Print a certificate: all contents, but only the number of requirements that pass."""
    data = certificate.data
    _show_head(out, certificate)
    _show_level(out, certificate.current_level)
    rows = {
        verdict: [row for row in data["requirements"] if row["verdict"] == verdict.value] for verdict in _VERDICT_ORDER
    }
    known = {row["requirement"] for row in data.get("baseline", {}).get("known", [])}
    for verdict in _VERDICT_ORDER:
        for row in rows[verdict]:
            out.print(headline(verdict, printable(row["id"], 40), f"{row['level']}{_asides(row, known)}", 12))
            print_labelled(out, "Rule", printable(row["statement"], 600))
            if row["reason"]:
                print_labelled(out, "Reason", printable(row["reason"], 300))
            if row.get("shown"):
                print_labelled(out, "Shown by", join_items(row["shown"]))
        if rows[verdict]:
            out.print()
    if data["untestable"]:
        print_labelled(
            out, "Untested", f"{join_items(data['untestable'])}: these requirements cannot be observed from outside"
        )
    _show_baseline(out, data)
    if rows_of_limits := certified_rows(data):
        show_rows(out, rows_of_limits)
    out.print(_counts(data))
    out.print()


def _show_head(out: Console, certificate: Certificate) -> None:
    data = certificate.data
    about, run = data["implementation"], data["run"]
    protocol = protocol_of(data["revision"])
    language = f" ({printable(about['language'], 40)})" if about["language"] else ""
    print_labelled(out, "Certified", Text(f"{certificate.name}{language}", "bold"))
    print_labelled(
        out, "Against", f"{data['revision']}: {protocol.describe_profile(data['revision'], data['profile'])}"
    )
    print_labelled(
        out, "By", f"{data['suite']['name']} {printable(data['suite']['version'], 40)}, {printable(data['date'], 40)}"
    )
    print_labelled(out, "Command", command_of(data) or "none: the server was running already")
    print_labelled(out, "Carrier", data["carrier"])
    print_labelled(out, "Declares", Text(format_declaration(data), "dim"))
    counts = ((run["scenarios"], "scenario"), (run["runs"], "run"), (run["steps"], "step"))
    print_labelled(
        out, "Played", f"{', '.join(format_count(*count) for count in counts)} in {join_items(run['environments'])}"
    )
    for environment, why in run["left_out"].items():
        print_labelled(out, "Left out", Text(f"{printable(environment, 40)}: {printable(why, 300)}", "yellow"))
    print_labelled(out, "Vectors", describe_vectors(data))
    print_labelled(out, "Schedules", describe_fuzz(data))
    print_labelled(out, "Exhaust", describe_exhaustion(data))
    print_labelled(out, "Limits", describe_limits(data))
    for doubt in data["doubts"]:
        print_labelled(out, "Warning", Text(printable(doubt, 600), "yellow"))
    out.print()


def _show_level(out: Console, level: dict[str, Any]) -> None:
    style = STYLES[Verdict.FAIL] if level["name"] == NONE else "bold green"
    aside = f", {unjudged_note(level)}" if unjudged_note(level) else ""
    print_labelled(out, "Level", Text.assemble((printable(level["name"], 80), style), printable(aside, 400)))
    for why in level["against"]:
        print_labelled(out, "", printable(why, 300))
    for part in level["parts"]:
        if not part["held"] and part["because"]:
            why = printable("; ".join(part["because"]), 6000)
            print_labelled(out, "", f"not {printable(part['title'], 40)}: {why}")
    out.print()


def _show_baseline(out: Console, data: dict[str, Any]) -> None:
    if (baseline := data.get("baseline")) is None:
        return
    where = printable(baseline["file"], 200)
    print_labelled(
        out,
        "Baseline",
        f"{where} lists {format_count(len(baseline['known']), 'failure')} as known; "
        "the certificate counts them as failures",
    )
    for row in baseline["known"]:
        flaky = "flaky" if row.get("flaky") else ""
        text = ": ".join(filter(None, (row["requirement"], row["scenario"], flaky, row["reason"])))
        print_labelled(out, "", printable(text, 400))
    for row in baseline["complaints"]:
        text = f"line {row['line']}: {row['what']}; {row['change']}"
        print_labelled(out, "", Text(printable(text, 400), "yellow"))


def _asides(row: dict[str, Any], known: Iterable[str]) -> str:
    positions = row.get("positions")
    out = f", reduced to warnings by {join_items(positions)}" if positions else ""
    return out + (", known before" if row["id"] in known else "")


def _counts(data: dict[str, Any]) -> Table:
    """Return a table with the number of requirements with each verdict, by section of the specification."""
    verdicts = {verdict: verdict.value for verdict in Verdict}
    table = plain_table("Section", right=(verdicts | {Verdict.INCONCLUSIVE: "inconcl."}).values())
    titles = {section.id: section.title for section in protocol_of(data["revision"]).rules.catalogue.sections}
    for section in dict.fromkeys(row["section"] for row in data["requirements"]):
        rows = [row["verdict"] for row in data["requirements"] if row["section"] == section]
        table.add_row(titles.get(section, printable(section, 32)), *_cells(map(rows.count, verdicts.values())))
    table.add_section()
    table.add_row("All", *_cells(data["verdicts"][value] for value in verdicts.values()), style="bold")
    return table


def _cells(counts: Iterable[int]) -> list[Text]:
    return [
        Text(str(count) if count else "·", STYLES[verdict] if count else "dim")
        for verdict, count in zip(Verdict, counts, strict=True)
    ]
