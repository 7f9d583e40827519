"""The revision of generated and stored schedules, for the commands that play them."""

from __future__ import annotations

from typing import Any

import click

from ..protocols import repertoire_of, revisions, rules_of, scheduled
from .name_types import unknown_name_message
from .options import CURRENT, DrivenImplementation, program


def grammar_of(
    driven: DrivenImplementation, revision: str, profile: str, participants: tuple[int, int], passages: tuple[str, ...]
) -> Any:
    """Return the grammar for schedules of a revision with these options. Raises UsageError, with the command to type,
    if the revision does not support an option.
    """
    if revision not in scheduled():
        raise click.UsageError(
            f"generated schedules exist only for {' and '.join(scheduled())}. For {revision} use the scenarios of "
            f"`run`: {driven.format_command('run', '--revision', revision)}"
        )
    if wrong := rules_of(revision).find_misfit(revision, profile, driven.dialect or ""):
        raise click.UsageError(wrong)
    repertoire = repertoire_of(revision)
    if strange := [name for name in passages if name not in repertoire.passages]:
        raise click.UsageError(unknown_name_message("passages", strange[0], revision))
    return repertoire.grammar_of(profile, *participants, passages)


def revision_of(noted: str, asked: str | None, what: str) -> str:
    """Return the revision for playing or judging a stored file or corpus: the requested revision (``asked``), else the
    revision in the file or corpus (``noted``), else the current revision. Raises UsageError if ``asked`` and ``noted``
    belong to different specifications. ``what`` names the file or corpus in the message.
    """
    revision = asked or noted or CURRENT
    if noted and revisions()[revision].prefix != revisions()[noted].prefix:
        raise click.UsageError(
            f"{what} was made for {noted}, not for {revision}: omit --revision, or make schedules for {revision} with "
            f"`{program()} fuzz --revision {revision}` or `corpus record`"
        )
    return revision
