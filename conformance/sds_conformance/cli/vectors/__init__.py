"""``sds-conformance vectors``: add, compute, check, release, list and export golden vectors. ``run`` plays them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sds_harness.declaration import printable
from sds_harness.files import write_whole
from sds_harness.suggestions import did_you_mean

from ...judging.exits import Exit
from ...judging.formats import format_count
from ...presentation.story import plain_table, print_hanging, unwrapped_column
from ...vectors.agreement import disagreements, excused_vectors
from ...vectors.documents import Document, documents
from ...vectors.edits import add_vector, hold_to_reference, replace_vector, save
from ...vectors.folder import (
    LEDGER,
    MANIFEST,
    PROSE,
    VectorsError,
    default_folder,
    files_to_replace,
    generated_folders,
    load_all,
    read_bytes,
    refuse_links,
    refuse_overlap,
    writable_folder,
)
from ...vectors.generation import begin, changelog_gap, differences, has_other_release, wanted_files, write
from ...vectors.ledger import add_release
from ...vectors.lint import lint as lint_folder
from ...vectors.model import Material
from ..command_groups import HelpGroup
from ..options import Decorator, console, program
from ..output_filter import print_json
from ..paths import INPUT_FILE, INPUT_FOLDER, OUTPUT_FOLDER, OutputFolder
from ..progress import progress_bar
from .run import LONGEST, VECTOR_SET, run_command

_EPILOG = """
\b
Examples:
  sds-conformance vectors list
  sds-conformance vectors list --files
  sds-conformance vectors run -- ./my-adapter
  sds-conformance vectors run --group wire-decoding -- ./my-adapter
  sds-conformance vectors add lamport new.json
  sds-conformance vectors generate --check
  sds-conformance vectors lint
  sds-conformance vectors release 1.1.0
  sds-conformance vectors export vectors-1.0.0
"""
_MANY = 20
"""Maximum number of complaints that are printed."""
_LEAST_COMMENT = 24
"""Minimum width of a column for comments."""


@click.group("vectors", cls=HelpGroup, epilog=_EPILOG)
def vectors_command() -> None:
    """Test an implementation with the golden vectors.

    The vectors are JSON files of inputs and legal results, for any language. `sds-conformance docs vectors` explains
    each group.
    """


def _examples(*lines: str) -> str:
    """Return the examples for the end of a command's help."""
    return "\n".join(["\b", "Examples:", *(f"  sds-conformance vectors {line}" for line in lines)])


@contextmanager
def _report_file_errors() -> Iterator[None]:
    """Convert an error in a file of vectors to a usage error, which ends the command."""
    try:
        yield
    except (VectorsError, OSError) as error:
        raise click.UsageError(printable(str(error), LONGEST)) from None


def _out_option(kind: OutputFolder, what: str) -> Decorator:
    return click.option("--out", "folder", type=kind, metavar="DIR", help=what)


def _complain(sentences: list[str]) -> None:
    err = console(stderr=True)
    for sentence in sentences[:_MANY]:
        err.print(printable(sentence, LONGEST), style="red", soft_wrap=True)
    if len(sentences) > _MANY:
        err.print(f"and {format_count(len(sentences) - _MANY, 'more error')}")


def _refuse(sentences: list[str]) -> None:
    """If there are complaints, print them and end the command."""
    _complain(sentences)
    if sentences:
        sys.exit(Exit.NON_CONFORMANT)


_WRITABLE = _out_option(OutputFolder(exists=True), "Folder of vectors. Default: vectors/ of the checkout.")
_FRAGMENT = click.argument("fragment", type=INPUT_FILE, metavar="FRAGMENT")
_AGAINST = click.option(
    "--against-reference",
    "against",
    default="",
    metavar="WHY",
    help="Why the reference model is wrong, for the changelog.",
)


@vectors_command.command(epilog=_examples("add lamport new.json", "add sds/wire-decoding-forum-2024.json new.json"))
@click.argument("name", metavar="NAME")
@_FRAGMENT
@_AGAINST
@_WRITABLE
@_report_file_errors()
def add(name: str, fragment: Path, against: str, folder: Path | None) -> None:
    """Add the vector in FRAGMENT to the file of vectors NAME.

    FRAGMENT is a JSON object with comment, flags, requirements, the inputs, and the outcomes or steps. A vector without
    an id gets the next number; result and warned are computed. The vector is refused, and nothing is written, if it
    violates its schema or a rule of `lint`, or if the reference model fails it and --against-reference is not given.
    Manifest and changelog are updated.
    """
    folder = folder or writable_folder()
    edit = hold_to_reference(VECTOR_SET, add_vector(VECTOR_SET, folder, name, fragment), against)
    version = save(VECTOR_SET, folder, edit)
    test_id, path = edit.test["id"], edit.document.path
    console().print(f"{test_id} is in {path}, in version {version} of the changelog.", soft_wrap=True)


@vectors_command.command(epilog=_examples("replace lamport/1 new.json", "replace --corrected WHY lamport/1 new.json"))
@click.argument("test_id", metavar="ID")
@_FRAGMENT
@click.option("--corrected", default="", metavar="WHY", help="Why a released vector was wrong, for the changelog.")
@_AGAINST
@_WRITABLE
@_report_file_errors()
def replace(test_id: str, fragment: Path, corrected: str, against: str, folder: Path | None) -> None:
    """Replace the vector ID by the vector in FRAGMENT.

    The rules of `add` apply. Inputs and outcomes of a released vector cannot change, unless --corrected describes
    their error. A computed vector cannot be replaced.
    """
    folder = folder or writable_folder()
    edit = replace_vector(VECTOR_SET, folder, test_id, fragment, corrected)
    version = save(VECTOR_SET, folder, hold_to_reference(VECTOR_SET, edit, against))
    console().print(f"{test_id} is replaced, in version {version} of the changelog.", soft_wrap=True)


@vectors_command.command("format", epilog=_examples("format"))
@_WRITABLE
@_report_file_errors()
def format_command(folder: Path | None) -> None:
    """Bring files that were edited by hand into canonical form.

    Results, counts, digests, manifest and changelog are derived from the vectors. `generate` also computes vectors by
    their formulas; `format` does not.
    """
    folder = folder or writable_folder()
    _write(folder, documents(VECTOR_SET, folder, compute=False))


def _computed(folder: Path) -> list[Document]:
    """Compute the expected content of every file of vectors, with a progress bar.

    Raises VectorsError.
    """
    total = sum(len(material.computed) * len(material.revisions) for material in VECTOR_SET.materials)
    with progress_bar(console(stderr=True), "vectors", total) as bar:
        numbers = count(start=1)
        return documents(VECTOR_SET, folder, computed=lambda: bar("vectors", next(numbers), total))


def _write(folder: Path, every: list[Document]) -> None:
    """Write all files that have changed, and print their names."""
    out = console()
    expected = wanted_files(VECTOR_SET, folder, every)
    if has_other_release(folder, expected[MANIFEST]):
        _refuse([changelog_gap(folder, expected[MANIFEST])])
    refuse_links(VECTOR_SET, folder, expected)
    changed = write(folder, expected)
    for path in changed:
        out.print(f"  {path}", soft_wrap=True)
    out.print(f"{len(changed)} of {format_count(len(expected), 'file')} changed.")


def _faults(folder: Path, every: list[Document], expected: dict[str, bytes]) -> list[str]:
    """Return a sentence for each file that differs from the generated content, and for each written vector that the
    reference model fails without an excuse.
    """
    known = excused_vectors(folder)
    wrong = [sentence for test_id, sentence in disagreements(VECTOR_SET, every) if test_id not in known]
    return [*differences(VECTOR_SET, folder, expected), *wrong]


@vectors_command.command(epilog=_examples("generate", "generate --check", "generate --out new"))
@click.option("--check", is_flag=True, help="Write nothing; compare the files byte for byte with the expected content.")
@_out_option(OUTPUT_FOLDER, "Folder to write to, which may be new or empty. Default: vectors/ of the checkout.")
@_report_file_errors()
def generate(check: bool, folder: Path | None) -> None:
    """Compute vectors by their formulas, or check all files.

    Vectors that were written by hand are only brought into canonical form; --check also plays them on the reference
    model. A released version never changes: a change needs a new version. The exit code is 1 if a file of a
    released version would change, or if --check finds a fault. An empty folder also receives the written vectors, the
    changelog, the README and the ledger of this suite.
    """
    folder = folder or writable_folder()
    if not check:
        begin(VECTOR_SET, folder, default_folder())
        refuse_links(VECTOR_SET, folder, ())
    every = _computed(folder)
    if not check:
        _write(folder, every)
        return
    expected = wanted_files(VECTOR_SET, folder, every)
    gap = changelog_gap(folder, expected[MANIFEST])
    if found := [*_faults(folder, every, expected), *([gap] if gap else [])]:
        _complain(found)
        console(stderr=True).print(
            f"Files that are not current are written by `{program()} vectors generate`; a vector that the reference "
            f"model fails is corrected by `{program()} vectors replace ID FRAGMENT`.",
            soft_wrap=True,
        )
        sys.exit(Exit.NON_CONFORMANT)
    console().print(f"{format_count(len(expected), 'file is', 'files are')} current.")


@vectors_command.command(epilog=_examples("lint"))
@click.argument("folder", required=False, type=INPUT_FOLDER, metavar="[DIR]")
@_report_file_errors()
def lint(folder: Path | None) -> None:
    """Check the schemas, digests, canonical form and changelog of all files.

    The exit code is 1 if a file is wrong.
    """
    folder = folder or default_folder()
    _refuse(lint_folder(VECTOR_SET, folder))
    count = sum(1 for material in VECTOR_SET.materials for _ in (folder / material.folder).glob("*.json"))
    console().print(f"{format_count(count, 'file of vectors is', 'files of vectors are')} in order.")


@vectors_command.command(epilog=_examples("release 1.1.0"))
@click.argument("version")
@_WRITABLE
@_report_file_errors()
def release(version: str, folder: Path | None) -> None:
    """Enter VERSION in the ledger of releases.

    The tests of a released version are frozen: `lint` finds each test that changes, disappears or has its ID reused.
    Files that are out of date or wrong are refused. A release cannot be undone.
    """
    folder = folder or writable_folder()
    every = _computed(folder)
    found = _faults(folder, every, wanted_files(VECTOR_SET, folder, every))
    _refuse([*found, *lint_folder(VECTOR_SET, folder)])
    refuse_links(VECTOR_SET, folder, [LEDGER])
    ledger = add_release(folder, version, load_all(VECTOR_SET, folder))
    write_whole(folder / LEDGER, ledger)
    console().print(f"Version {version} is released: commit {LEDGER} with the files.", soft_wrap=True)


@vectors_command.command("list", epilog=_examples("list", "list --files", "list --group wire-decoding"))
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.option("--group", "groups", multiple=True, metavar="GROUP", help="List the vectors of this group; repeatable.")
@click.option("--files", "by_file", is_flag=True, help="List the files, with their shape and revisions.")
@_report_file_errors()
def list_vectors(as_json: bool, groups: tuple[str, ...], by_file: bool) -> None:
    """List the groups, the files, or the vectors of a group."""
    if groups and by_file:
        raise click.UsageError("--group selects vectors, and --files selects files: omit one of the two options")
    folder = default_folder()
    files = load_all(VECTOR_SET, folder)
    unknown = set(groups) - {file["group"] for file in files}
    if unknown:
        unknown_names, meant = ", ".join(sorted(unknown)), did_you_mean(min(unknown), [file["group"] for file in files])
        raise click.UsageError(f"no group {unknown_names}: `{program()} vectors list` shows the groups.{meant}")
    if groups:
        rows = [
            {"id": test["id"], "result": test["result"], "comment": test["comment"]}
            for file in files
            if file["group"] in groups
            for test in file["tests"]
        ]
    else:
        names = ("group", "shape", "numberOfTests", "revisions", "title")
        paths = [
            path.relative_to(folder).as_posix()
            for material in VECTOR_SET.materials
            for path in sorted((folder / material.folder).glob("*.json"))
        ]
        rows = [{"file": path, **{name: file[name] for name in names}} for path, file in zip(paths, files, strict=True)]
    if as_json:
        print_json(rows)
        return
    out = console()
    if groups:
        _show_tests(out, rows)
        return
    for number, material in enumerate(VECTOR_SET.materials):
        if number:
            out.print()
        out.print(_files(material, rows) if by_file else _groups(material, files))


def _show_tests(out: Console, rows: list[dict[str, str]]) -> None:
    """Print a row for each vector. If the column of comments is too narrow, print each comment below its row."""
    if out.width - max(len(f"{row['id']}  {row['result']}  ") for row in rows) < _LEAST_COMMENT:
        for row in rows:
            out.print(Text.assemble((row["id"], "bold"), f"  {row['result']}"), soft_wrap=True)
            print_hanging(out, Text("  "), Text(row["comment"], "dim"))
        return
    table = plain_table(unwrapped_column("Id"), unwrapped_column("Result"), "Comment")
    for row in rows:
        table.add_row(*map(Text, row.values()))
    out.print(table)


def _files(material: Material, rows: list[dict[str, Any]]) -> Table:
    """Return a table with a row for each file of a protocol. Each revision of a file has its own line in the row."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in (f"File in {material.folder}/", "Shape", "Revisions"):
        table.add_column(name, no_wrap=True)
    table.add_column("Tests", justify="right")
    for row in rows:
        if not row["file"].startswith(f"{material.folder}/"):
            continue
        name = row["file"].removeprefix(f"{material.folder}/")
        table.add_row(Text(name), row["shape"], "\n".join(row["revisions"]), str(row["numberOfTests"]))
    return table


def _groups(material: Material, everything: list[dict[str, Any]]) -> Table:
    """Return a table with a row for each group of a protocol: the number of its tests for each revision, in all
    files."""
    files = [file for file in everything if file["revisions"][0] in material.revisions]
    shapes = {file["group"]: file["shape"] for file in files}
    counts = Counter({(file["group"], name): 0 for file in files for name in file["revisions"]})
    for file in files:
        for name in file["revisions"]:
            counts[file["group"], name] += file["numberOfTests"]
    revisions = [name for name in material.revisions if any(name == revision for _, revision in counts)]
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("Group", "Shape"):
        table.add_column(name, vertical="bottom", overflow="fold")
    for name in revisions:
        table.add_column(name.replace("-amended", "\n-amended"), justify="right", vertical="bottom", no_wrap=True)
    for group, shape in shapes.items():
        table.add_row(Text(group), shape, *(str(counts[group, name] or "·") for name in revisions))
    totals = [sum(counts[group, name] for group in shapes) for name in revisions]
    table.add_row("All", "", *map(str, totals), style="bold")
    return table


@vectors_command.command(epilog=_examples("export vectors-1.0.0", "export --overwrite vectors-1.0.0"))
@click.argument("folder", type=OUTPUT_FOLDER, metavar="DIR")
@click.option("--overwrite", is_flag=True, help="Replace an existing folder.")
@_report_file_errors()
def export(folder: Path, overwrite: bool) -> None:
    """Copy the vectors and their schemas to DIR.

    DIR is the content of a release archive, equal byte for byte in each export. It includes the manifest, the ledger,
    the README and the changelog. Wrong files are refused, see `vectors lint`.
    """
    source = default_folder()
    _refuse(lint_folder(VECTOR_SET, source))
    refuse_overlap(source, folder)
    # Read all files before existing files are deleted: one of them may be unreadable.
    files = {path.relative_to(source).as_posix(): read_bytes(path) for path in _files_to_export(source)}
    if folder.exists() and any(folder.iterdir()):
        if not overwrite:
            raise click.UsageError(f"{folder} is not empty: add --overwrite to replace its content")
        old = files_to_replace(VECTOR_SET, folder)
        refuse_links(VECTOR_SET, folder, files)
        for name in old:
            (folder / name).unlink(missing_ok=True)
    for name, content in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, content)
    console().print(f"{format_count(len(files), 'file')} in {folder}", soft_wrap=True)


def _files_to_export(source: Path) -> list[Path]:
    parts = [path for place in generated_folders(VECTOR_SET) for path in (source / place).glob("*.json")]
    return sorted([*parts, *(source / name for name in (MANIFEST, LEDGER, *PROSE))])


vectors_command.add_command(run_command)
vectors_command.sections = {
    "Use the vectors": ("run", "list", "export"),
    "Develop the vectors": ("add", "replace", "format", "generate", "lint", "release"),
}
