"""``sds-conformance interop``."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click
from rich.cells import cell_len

from sds_harness.declaration import printable

from ...exploration.casts import Cast, CastImplementation, RevisionMismatchError
from ...interop.matrix import Interop, explore
from ...interop.story import InteropStory
from ...judging.exits import Exit
from ...judging.formats import format_count
from ...presentation.last_screen import LastScreen, show_last_screen
from ...presentation.story import print_labelled
from ...protocols import protocol_of
from ...scenario_files.reader import LoadedScenario
from ..implementation_options import (
    SCHEME,
    DrivenImplementation,
    add_link_options,
    refuse_unknown_dialect,
    reject_server_options,
)
from ..options import CURRENT, STORY_OPTIONS, console, optional_revision, program, python, which_seed
from ..output_filter import print_json
from ..paths import INPUT_FILE
from ..progress import Plays, progress_bar
from ..schedule_options import SAVE, SEED_HELP, revision_of, with_scenario_files
from ..transcript_option import add_transcript_option, record
from .mixed import BAR_WIDTH, IN_FULL, MixedGroups, show_undriven
from .replay import play_again, required_implementations, scenario_of

_LONGEST_NAME = 16
_EXAMPLE = """'ref=python -m sds_reference' 'mine=./my-adapter'"""

_EPILOG = f"""
\b
Examples:
  sds-conformance interop {_EXAMPLE}
  sds-conformance interop --json 'a=./adapter-a' 'b=./adapter-b'
  sds-conformance interop 'js=node adapter.mjs' 'b=./b' 'c=./c'
  sds-conformance interop --schedules 1000 --seed random 'a=./a' 'b=./b'
  sds-conformance interop --transcript talk.jsonl 'a=./a' 'b=./b'
  sds-conformance interop --replay counterexamples/G-01-b.json 'a=./a' 'b=./b'
  sds-conformance interop --revision forum-2024 'a=./a' 'b=./b'
  sds-conformance interop --scenario-file mine.yaml 'a=./a' 'b=./b'
  sds-conformance interop --dialect a=mine.json 'a=./a' 'b=./b'
  sds-conformance interop a=grpc://127.0.0.1:50051 'b=grpc://auto ./b'

\b
Exit codes:
  0  all messages understood     3    an implementation not tested
  1  a failure                   4    nothing exchanged
  2  usage error                 130  interrupted
"""


# An unknown option is probably part of an unquoted COMMAND. Do not reject it here: a better message follows below.
@click.command("interop", epilog=_EPILOG, context_settings={"ignore_unknown_options": True})
@click.argument("named", nargs=-1, type=click.UNPROCESSED, metavar="NAME=COMMAND NAME=COMMAND...")
@click.option(
    "--schedules",
    "examples",
    type=click.IntRange(0, 10_000_000),
    default=50,
    show_default=True,
    metavar="N",
    help="Number of generated schedules for the group of all implementations; 0 for none.",
)
@with_scenario_files(
    "Play this scenario file, or all scenario files of this folder, in mixed groups before the generated schedules, "
    "and check its expectations. Each implementation plays each participant once; repeatable."
)
@which_seed(SEED_HELP, "S")
@optional_revision(
    "Revision that all implementations speak. Default: the revision in the FILE of --replay, else the current revision."
)
@click.option(
    "--dialect",
    "dialects",
    multiple=True,
    metavar="NAME=DIALECT",
    help="Translate the wire format of the implementation NAME: the name of a dialect or a .json file, as for `run`; "
    "repeatable. Default: the dialect that the implementation declares.",
)
@SAVE
@click.option(
    "--replay",
    "file",
    type=INPUT_FILE,
    metavar="FILE",
    help="Play only the schedule in FILE again, with the implementations that FILE names.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@STORY_OPTIONS
@add_link_options
@add_transcript_option
def interop_command(
    named: tuple[str, ...],
    examples: int,
    files: tuple[LoadedScenario, ...],
    seed: int,
    revision: str | None,
    dialects: tuple[str, ...],
    folder: Path,
    file: Path | None,
    as_json: bool,
    quiet: bool,
    stories: int | None,
    driven: DrivenImplementation,
) -> None:
    """Test how implementations work together.

    Each COMMAND starts an implementation, and NAME names it in the result; quote NAME=COMMAND as one word. Write
    NAME=grpc://ADDRESS for a running gRPC server and 'NAME=grpc://auto COMMAND' to start one.

    Each pair exchanges messages in short schedules, also each implementation with itself. The matrix shows the results:
    rows send, columns receive. Then all implementations play generated schedules in one group; failures are shrunk to
    counterexamples.
    """
    translated = [*driven.options, *(word for one in dialects for word in ("--dialect", one))]
    options = [*translated, *(["--revision", revision] if revision not in (None, CURRENT) else [])]
    commands = _commands(
        named, options, protocol_of(revision or CURRENT).model.module, fewest=0 if file is not None else 2
    )
    spoken_by = _dialects(dialects, commands, revision)
    if not any(words[0].startswith(SCHEME) for words in commands.values()):
        reject_server_options(driven.access, f"NAME={SCHEME}ADDRESS")
    out, err = console(), console(stderr=True)
    if file is not None:
        loaded, roles = scenario_of(file)
        names = required_implementations(file, roles, commands)
        judged = revision_of(loaded.revision, revision, str(file))
        taking_part = (_implementation(name, commands[name], driven, judged, spoken_by) for name in names)
        with Cast(taking_part, judged) as cast:
            with _reject_mixed_revisions():
                code, findings = play_again(out, err, cast, loaded, roles, as_json=as_json)
            record(driven, findings)
        sys.exit(code)
    started, judged = time.monotonic(), revision or CURRENT
    shows, plays = not (as_json or quiet), Plays(out)

    def introduce(outcome: Interop) -> None:
        if not shows:
            return
        InteropStory(out, outcome).introduce()
        against = protocol_of(judged).describe_profile(judged, "full")
        print_labelled(out, "Against", f"{judged}: {against}")
        pairs, exchanges = len(outcome.sides) ** 2, len(outcome.exchanges.all)
        plays.begin(f"{format_count(pairs, 'pair')}, {format_count(exchanges, 'exchange')} each")

    all_of_them = (_implementation(name, words, driven, judged, spoken_by) for name, words in commands.items())
    with Cast(all_of_them, judged) as cast:
        with progress_bar(err, chars=40, width=BAR_WIDTH, plays=plays) as bar, _reject_mixed_revisions():
            outcome = explore(cast, bar, introduce)
        plays.end()
        # A copy, because the mixed groups add their breakdowns to the original list, and the matrix has only its own.
        outcome.breakdowns = list(outcome.breakdowns)
        show_undriven(err, outcome.undriven)
        shown, matrix_s = InteropStory(out, outcome), time.monotonic() - started
        if shows:
            shown.show()
        groups = MixedGroups(out, err, cast, commands, translated, IN_FULL if stories is None else stories)
        if (examples or files) and not outcome.interrupted:
            groups.play(seed, examples, folder, quiet=not shows, files=files)
            record(driven, ((one.example or one).finding for one in groups.found))
    code = _exit_code(outcome, groups)
    if as_json:
        data = outcome.to_json()
        for row in data["implementations"]:
            row["command"] = [printable(part, 1_000) for part in commands[row["name"]]]
        data |= {"mixed_groups": groups.to_json(), "exit_code": code}
        print_json(data)
    else:
        show_last_screen(out, _last_screen(shown, matrix_s, groups, commands, options))
    sys.exit(code)


@contextmanager
def _reject_mixed_revisions() -> Iterator[None]:
    """End the command if an implementation implements another revision than the group. Raises UsageError."""
    try:
        yield
    except RevisionMismatchError as error:
        raise click.UsageError(
            f"{error}: omit this implementation, or type a --revision that all implementations support"
        ) from None


def _last_screen(
    shown: InteropStory,
    matrix_s: float,
    groups: MixedGroups,
    commands: dict[str, tuple[str, ...]],
    options: list[str],
) -> LastScreen:
    facts = [*shown.facts(), *groups.facts()]
    command, why = groups.first_again(), "replays the first counterexample"
    if not command:
        pairs = [f"{name}={shlex.join(words)}" for name, words in commands.items()]
        command = shlex.join([program(), "interop", "--schedules", "1000", *options, *pairs])
        why = "plays more schedules in mixed groups"
    return LastScreen(shown.verdict(matrix_s), groups.cause_lines(), facts, command, why)


def _exit_code(outcome: Interop, groups: MixedGroups) -> int:
    mixed = groups.mixed
    if mixed is not None and mixed.interrupted:
        return Exit.INTERRUPTED
    if groups.unwritable:
        return Exit.USAGE
    if outcome.exit_code in (Exit.CONFORMANT, Exit.NOTHING_EXERCISED) and mixed is not None:
        return Exit.NON_CONFORMANT if mixed.has_failures else Exit.OURS if mixed.errors else outcome.exit_code
    return outcome.exit_code


def _implementation(
    name: str, command: tuple[str, ...], driven: DrivenImplementation, revision: str, dialects: Mapping[str, str]
) -> CastImplementation:
    endpoint, words = driven.access.server_in(command, protocol_of(revision).rules.language.service)
    connect = replace(driven, command=words, endpoint=endpoint).connect
    return CastImplementation(name, connect, driven.limits, dialects.get(name))


def _dialects(given: tuple[str, ...], commands: Collection[str], revision: str | None) -> dict[str, str]:
    """Return the dialects by the name of the implementation. Raises UsageError. Its message says what to type."""
    dialects: dict[str, str] = {}
    for one in given:
        name, equals, dialect = one.partition("=")
        printable_name = printable(one, 60)
        if not equals or name not in commands:
            names = ", ".join(commands) or "none"
            raise click.UsageError(
                f"--dialect {printable_name!r}: write NAME=DIALECT, with the NAME of an implementation: {names}"
            )
        if name in dialects:
            raise click.UsageError(f"--dialect {printable_name!r}: {name} has a dialect already")
        refuse_unknown_dialect(protocol_of(revision or CURRENT), dialect)
        dialects[name] = dialect
    return dialects


def _commands(named: tuple[str, ...], options: list[str], model: str, *, fewest: int) -> dict[str, tuple[str, ...]]:
    """Parse arguments of the form NAME=COMMAND. Return the words of each command, by name.

    Raises UsageError if an argument is invalid, or if there are fewer than ``fewest`` commands; the message then shows
    a correct command, with ``options`` and with the reference, the module ``model``.
    """
    reference = shlex.join([python(), "-m", model])
    commands: dict[str, tuple[str, ...]] = {}
    for one in named:
        name, equals, command = one.partition("=")
        name = name.strip()
        printable_name = printable(one, 60)
        if one.startswith("-") or not equals:
            raise click.UsageError(
                f"{printable_name!r} is neither an option nor NAME=COMMAND. "
                "A COMMAND of several words is quoted with its NAME: "
                f"{shlex.quote(f'ref={reference}')} 'mine=./my-adapter'"
            )
        if not name or not name.isprintable() or cell_len(name) > _LONGEST_NAME:
            raise click.UsageError(
                f"{printable_name!r} needs a NAME of 1 to {_LONGEST_NAME} printable characters before '='"
            )
        if name in commands:
            raise click.UsageError(f"the name {name!r} is given to two implementations: name each one differently")
        try:
            parts = tuple(shlex.split(command))
        except ValueError as error:
            raise click.UsageError(f"the COMMAND of {name!r} cannot be split into words: {error}") from None
        if not parts:
            raise click.UsageError(f"{name!r} has no COMMAND after '='")
        commands[name] = parts
    if len(commands) < fewest:
        given = next((printable(one, 4_000) for one in named), "mine=./my-adapter")
        name = "ref" if "ref" not in commands else "model"
        example = shlex.join([program(), "interop", *options, given, f"{name}={reference}"])
        raise click.UsageError(f"two implementations or more are needed. With the bundled reference: {example}")
    return commands
