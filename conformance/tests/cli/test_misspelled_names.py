"""Names with a wrong letter on the command line are answered with the nearest name."""

from __future__ import annotations

import shlex
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from run_helpers import REPOSITORY
from sds_conformance.cli.name_types import KINDS, names_of
from sds_conformance.protocols import revisions
from sds_harness.suggestions import did_you_mean
from short_reports import kept, made
from suite_terminal import typed, words


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("run --select SDS-RECX-06", "SDS-RECV-06"),
        ("run --deselect SDS-RECX-06", "SDS-RECV-06"),
        ("run --scenario tiex", "ties"),
        ("run --scenario changes-spreax", "changes-spread"),
        ("run --environment turkixh", "turkish"),
        ("run --revision forum-2025", "forum-2024"),
        ("run --profile cord", "core"),
        ("run --dialect nim-sdx", "nim-sds"),
        ("run --framing jsom", "json"),
        ("run --clock faketine", "faketime"),
        ("interop --dialect a=nim-sdx a=x b=y", "nim-sds"),
        ("fuzz --passage gax", "gap"),
        ("fuzz --cast amomg", "among"),
        ("exhaust --alphabet sand", "send"),
        ("exhaust --alphabet send,arrivx:3", "arrive"),
        ("exhaust --revision clearskies-database --alphabet arrive,writx", "write"),
        ("limits --only in-filtex", "in-filter"),
        ("requirements SDS-RECX-06", "SDS-RECV-06"),
        ("requirements recx-06", "SDS-RECV-06"),
        ("requirements AMB-4O", "AMB-40"),
        ("requirements SDS-RECV-06/delivered-earlx", "delivered-early"),
        ("requirements a-diamonx", "a-diamond"),
        ("requirements --kind positiom", "position"),
        ("docs tutoriax", "tutorial"),
        ("docs SDS-RECX-06", "SDS-RECV-06"),
        ("list passagex", "passages"),
        ("scenarios show tiex", "ties"),
        ("scenarios list tiex", "ties"),
        ("vectors run --group lamporx", "lamport"),
        ("vectors list --group lamporx", "lamport"),
        ("vectors replace --out VECTORS lamport/send-clock-far-aheax NONE", "lamport/send-clock-far-ahead"),
        ("vectors add --out VECTORS lamporx NONE", "lamport"),
        ("new-adapter pythom folder", "python"),
        ("selftest --only buffered-is-mex", "buffered-is-met"),
        ("selftest --without obserwe", "observe"),
        ("selftest --generated --only 'channel.Channel.ticx:*'", "channel.Channel.tick"),
        ("selftest --hunt --only buffered-is-mex", "buffered-is-met"),
    ],
)
def test_a_name_with_a_wrong_letter_is_answered_with_the_nearest(line: str, meant: str) -> None:
    result = typed(*(str(REPOSITORY / "vectors") if word == "VECTORS" else word for word in shlex.split(line)))
    assert result.exit_code == 2
    assert f"Did you mean {meant}" in words(result.stderr)


def test_compare_answers_an_unknown_requirement_with_the_nearest(tmp_path: Path) -> None:
    reports = [kept(tmp_path / f"{day}.json", made(day=day, RECV_06="fail")) for day in (1, 2)]
    result = typed("compare", "--only", "recx-06", *reports)
    assert result.exit_code == 2
    assert "Did you mean SDS-RECV-06?" in words(result.stderr)


@pytest.mark.parametrize("kind", KINDS)
def test_each_name_with_a_wrong_letter_is_answered_with_one_that_is_as_near(kind: str) -> None:
    known = names_of(kind)
    for name in list(known)[::20]:
        middle = len(name) // 2
        word = f"{name[:middle]}~{name[middle + 1 :]}"
        meant = did_you_mean(word, known).removeprefix(" Did you mean ").removesuffix("?")
        assert meant in known, word
        assert fnmatchcase(meant, word.replace("~", "?")) or meant == word.replace("~", "")


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("run --scenario changes-spread", "It belongs to clearskies-database: add --revision clearskies-database."),
        ("run --select CSDB-01", "It belongs to clearskies-database: add --revision clearskies-database."),
        ("run --environment chatter", "It belongs to clearskies-database: add --revision clearskies-database."),
        ("fuzz --passage one-key-twice", "It belongs to clearskies-database: add --revision clearskies-database."),
        ("exhaust --alphabet write", "It belongs to clearskies-database: add --revision clearskies-database."),
        ("limits --revision clearskies-database --only in-filter", "It belongs to sds-2026-01: add --revision sds-2"),
    ],
)
def test_a_name_of_another_revision_is_answered_with_that_revision(line: str, advice: str) -> None:
    result = typed(*shlex.split(line))
    assert result.exit_code == 2
    assert advice in words(result.stderr)


def test_every_kind_of_names_has_some_in_the_current_revision() -> None:
    for kind in KINDS:
        assert names_of(kind, next(iter(revisions()))), kind
