"""``sds-conformance new-adapter``: the templates of adapters, which are in ``harness/adapters`` of a checkout."""

from __future__ import annotations

import json
import shlex
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from sds_harness.files import write_new
from sds_harness.suggestions import did_you_mean

from .docs import PAGES
from .name_types import complete_name
from .options import console, program
from .paths import OUTPUT_FOLDER

DESCRIPTION = "template.json"
"""The file that describes a template: its language, the programs that it needs, its files, and the commands to build
and to run it. Its object ``grpc`` has the values that differ over gRPC.
"""
_PROTO = {"testee.proto": PAGES["proto"].file}


@dataclass(frozen=True)
class Template:
    """An adapter that runs without changes, with a toy implementation."""

    folder: Path
    language: str
    needs: str
    """The programs that must be installed."""
    files: tuple[str, ...]
    """Paths of the files to copy, relative to the folder of the template. Files that a build makes are not listed.
    testee.proto is not in the folder: all templates copy the same one.
    """
    build: tuple[str, ...]
    """Commands that build the adapter, to type in the folder of the adapter."""
    command: tuple[str, ...]
    """The command that runs the adapter, to type in the folder of the adapter."""
    grpc: bool
    """True if the adapter is a gRPC server."""

    def next_lines(self, folder: Path) -> list[str]:
        """Return the commands to type after the template was written to ``folder``."""
        go = [] if folder.resolve() == Path.cwd() else [f"cd {shlex.quote(str(folder))}"]
        options = ["--grpc", "auto"] if self.grpc else []
        return [*go, *self.build, shlex.join([program(), "smoke", *options, "--", *self.command])]


def templates(*, grpc: bool = False) -> dict[str, Template]:
    """Return the templates by LANG, the argument of the command. With ``grpc``, only those that have a gRPC server."""
    read = (_read(path, grpc=grpc) for path in sorted(PAGES["adapter"].file.parent.glob(f"*/{DESCRIPTION}")))
    return {template.folder.name: template for template in read if template.grpc == grpc}


def _read(path: Path, *, grpc: bool) -> Template:
    data = json.loads(path.read_text("utf-8"))
    grpc &= "grpc" in data
    data.update(data["grpc"] if grpc else {})
    files, build, command = (tuple(data[name]) for name in ("files", "build", "command"))
    return Template(path.parent, data["language"], data["needs"], files, build, command, grpc)


def write(template: Template, folder: Path) -> None:
    """Copy the files of a template into an empty folder, which is created if necessary. Existing files are never
    replaced. After an error, the copied files are removed. Raises OSError.
    """
    sources = {name: template.folder / name for name in template.files} | _PROTO
    contents = {folder / name: sources[name].read_bytes() for name in template.files}
    with ExitStack() as undo:
        for path, content in contents.items():
            for parent in reversed([parent for parent in path.parents if not parent.exists()]):
                parent.mkdir()
                undo.callback(parent.rmdir)
            write_new(path, content)
            undo.callback(path.unlink)
        undo.pop_all()


_TEMPLATES = templates()
_OVER_GRPC = templates(grpc=True)
_LANGUAGES = "\n".join(f"  {lang:<11} {template.needs}" for lang, template in _TEMPLATES.items())
_EPILOG = f"""
\b
LANG is one of:
{_LANGUAGES}

\b
Examples:
  sds-conformance new-adapter python my-adapter
  sds-conformance new-adapter javascript path/to/my-sds/conformance
  sds-conformance new-adapter python my-server --grpc
"""


def _language(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """Parse the name of a template, ignoring case. Raises BadParameter. Its message says how to write an adapter
    without a template.
    """
    if value.lower() in _TEMPLATES:
        return value.lower()
    raise click.BadParameter(
        f"there is no template for {value!r}, but for {', '.join(_TEMPLATES)}.{did_you_mean(value, _TEMPLATES)} You "
        f"can write an adapter in any language: `{program()} docs adapter` describes how, "
        f"and `{program()} docs protocol` describes the testee protocol",
        context,
        parameter,
    )


def _complete_language(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return complete_name(_TEMPLATES, incomplete)


@click.command("new-adapter", epilog=_EPILOG)
@click.argument("lang", metavar="LANG", callback=_language, shell_complete=_complete_language)
@click.argument("folder", type=OUTPUT_FOLDER, metavar="DIR")
@click.option("--grpc", is_flag=True, help=f"Write a gRPC server; LANG is {' or '.join(_OVER_GRPC)}.")
def new_adapter_command(lang: str, folder: Path, grpc: bool) -> None:
    """Write an adapter that runs, for you to complete.

    DIR receives a kit, which speaks the testee protocol, an adapter with one function for each command, and a toy
    implementation of SDS, which you replace with your own. The README in DIR lists the steps.
    """
    if grpc and lang not in _OVER_GRPC:
        raise click.UsageError(
            f"the template for {lang} has no gRPC server, but the template for {', '.join(_OVER_GRPC)} has one. "
            f"`{program()} docs transports` describes how to generate code from testee.proto in other languages"
        )
    template, out = (_OVER_GRPC if grpc else _TEMPLATES)[lang], console()
    try:
        if folder.exists() and any(folder.iterdir()):
            raise click.UsageError(f"{folder} is not empty: name a new or an empty folder")
        write(template, folder)
    except OSError as error:
        raise click.UsageError(f"nothing was written to {folder}: {error.strerror}; name another folder") from None
    out.print(f"{len(template.files)} files in {folder}, for {template.needs}. Next:", soft_wrap=True)
    for line in template.next_lines(folder):
        out.print(f"  {line}", soft_wrap=True)
    out.print(f"Then {folder / 'README.md'} lists the steps, and the tutorial shows the output of", soft_wrap=True)
    out.print(f"each step: {PAGES['tutorial'].file}", soft_wrap=True)
