"""Command lines that make no sense: exit code 2, nothing on stdout, and what to type instead on stderr."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from run_helpers import REPOSITORY
from sds_conformance.cli.options import python
from short_reports import kept, made
from suite_terminal import controls, typed, words

ONE_SERVER = "use --cast together, or `--grpc auto -- COMMAND`"
ANOTHER = "This name belongs to clearskies-database: add --revision clearskies-database."
WRONG = [
    # Names
    ("run --select SDS-TYPO-*", "`sds-conformance requirements` lists the IDs"),
    ("run --select SDS-INSWEEP-03", "has no check: `sds-conformance requirements SDS-INSWEEP-03` gives the reason"),
    ("run --select G-01", "G-01 is a property of the group, which needs generated schedules: `sds-conformance fuzz`"),
    ("run --select G-05", "G-05 was withdrawn: the same faults are judged by SDS-STATE-11"),
    ("run --select SDS-RECV-06/delivered-early", "and `run` selects whole requirements: type SDS-RECV-06"),
    ("run --profile core --select SDS-R-*", "'SDS-R-*' matches no requirement of the profile core: leave --profile "),
    ("run --scenario no-such-scenario", "`sds-conformance list scenarios` shows the names"),
    ("run --environment turkis", "Did you mean turkish? `sds-conformance list environments` shows"),
    ("fuzz --passage no-such", "there is no passage 'no-such'. `sds-conformance list passages` shows the names"),
    ("fuzz --passage one-key-twice", "sds-2026-01 has no passage 'one-key-twice'"),
    (
        "fuzz --revision forum-2024 --passage asked",
        "forum-2024 has no passage 'asked'. This name belongs to sds-2026-01: add",
    ),
    ("limits --only patience", "there is no dimension 'patience'"),
    ("exhaust --alphabet sned,arrive", "Did you mean send? `sds-conformance list events` shows"),
    ("selftest --only no-such-mutant", "`sds-conformance list mutants` and `list variants` show the names"),
    ("selftest --without telepathy", "observe"),
    ("selftest --generated --only nowhere", "no place has such a name"),
    ("run --dialect klingon", "no dialect 'klingon': known are nim-sds"),
    ("vectors run --group wire-* --group nothing", "nothing"),
    ("vectors run --vectors /nowhere", "/nowhere"),
    ("requirements SDS-TYPO-*", "Without GLOB, all requirements are listed"),
    ("requirements xyzzy", "no requirement or position or property or scenario contains the word 'xyzzy'."),
    ("requirements xyzzy SDS-RECV-06", "among SDS-RECV-06 contains the word 'xyzzy'."),
    ("requirements SDS-RECV-06 SDS-RECV-99", "nothing matches SDS-RECV-99"),
    ("requirements G-05/unsorted", "G-05 was withdrawn: the same faults are judged by SDS-STATE-11."),
    # Values
    ("run --framing xml", "'json', 'binary'"),
    ("run --profile everything", "'core'"),
    ("run --memory lots", "write for example 512m or 4g"),
    ("run --memory 1k", "no process can run in less than 1m (1 MiB) of memory"),
    ("run --timeout nan", "Invalid value for '--timeout'"),
    ("run --total-timeout inf", "Invalid value for '--total-timeout'"),
    ("interop --timeout -inf", "Invalid value for '--timeout'"),
    ("fuzz --participants 2-9", "a schedule has 1 to 8 participants"),
    ("fuzz --participants many", "write for example 3-8, or 4"),
    ("fuzz --seed sesame", "neither a number nor random"),
    ("fuzz --seed -1", "not between 0 and 2^63"),
    ("fuzz --schedules 0", "--schedules"),
    ("fuzz --cast nobody", "'together'"),
    ("exhaust --budget soon", "'soon' is not a time: write for example 90s, 10m or 2h"),
    ("exhaust --alphabet arrive", "no event of this alphabet sends a message"),
    ("exhaust --alphabet send:many", "write for example send,arrive"),
    ("exhaust --participants 4", "4 is not in the range"),
    ("exhaust --resume nowhere/covered.json", "there is no folder nowhere"),
    ("limits --budget inf", "'inf' is not a time"),
    ("limits --at 300000 --only log", "--at 300000: the maximum size of log is 262144"),
    ("limits --profile core --only answers", "no selected dimension belongs to the profile core of sds-2026-01"),
    # Options
    ("run --frobnicate", "--frobnicate"),
    ("frobnicate", "frobnicate"),
    ("selftest --generated --without observe", "leave out these options"),
    ("selftest --sample 3", "--sample needs --generated"),
    ("selftest --markdown table.md --only ties-*", "leave out --only and --without"),
    ("run --grpc 10.0.0.1:50051", "add --grpc-ca FILE for TLS, or --grpc-insecure to send everything"),
    ("run --grpc here", "'here' is not an address: write for example 127.0.0.1:50051 or unix:/tmp/sds.sock"),
    ("run --grpc localhost:0", "localhost:0 is for a server that the suite starts: add `-- COMMAND`"),
    ("run --grpc localhost:1 --framing json", "--framing is for stdin and stdout, which --grpc"),
    ("smoke --grpc-insecure", "--grpc-insecure is about a server: add --grpc ADDRESS"),
    ("smoke --grpc localhost:1 --grpc-ca none.pem", "--grpc-ca none.pem cannot be read: No such file"),
    ("fuzz --grpc localhost:1 --jobs 2", "--jobs 2 needs 2 processes, but there is one"),
    ("fuzz --grpc localhost:1 --cast apart", ONE_SERVER),
    ("replay x.json --grpc localhost:1 --cast apart", "use --cast together"),
    ("fuzz --grpc localhost:1 --cast apart -- ./mine", "there is only one server, at localhost:1"),
    (
        "exhaust --grpc localhost:1 --master local[2]",
        "--master local[2] plays several schedules at a time, but there is one",
    ),
    pytest.param(
        "corpus record --out c --grpc localhost:1 --master local[4]",
        "--master local[4] plays several schedules at a time, but there is one server at localhost:1",
        marks=pytest.mark.spark,
    ),
    # Implementations of `interop`
    ("interop", f"sds-conformance interop mine=./my-adapter 'ref={python()} -m sds_reference'"),
    ("interop ref=./it", f"interop ref=./it 'model={python()} -m sds_reference'"),
    ("interop 'mine=./it --fast'", f"interop 'mine=./it --fast' 'ref={python()} -m sds_reference'"),
    ("interop a=./x a=./y", "the name 'a' is given to two implementations"),
    ("interop a=./x ./y", "'./y' is neither an option nor NAME=COMMAND"),
    ("interop a=python -m sds_reference", "'-m' is neither an option nor NAME=COMMAND"),
    ("interop --timout=3 a=./x b=./y", "'--timout=3' is neither an option nor NAME=COMMAND"),
    ("interop seventeen-letters=./x b=./y", "needs a NAME of 1 to 16"),
    ("interop 'a\x1b[31m=./x' b=./y", "needs a NAME"),
    ("interop a= b=./y", "'a' has no COMMAND"),
    ('interop "a=\'./x" b=./y', "cannot be split into words: No closing quotation"),
    ("interop --dialect nim-sds a=./x b=./y", "write NAME=DIALECT, with the NAME of an implementation: a, b"),
    ("interop --dialect a=nim-sds --dialect a=nim-sds a=./x b=./y", "a has a dialect already"),
    ("interop --grpc-insecure a=./a b=./b", "--grpc-insecure is about a server: add NAME=grpc://ADDRESS"),
    ("interop a=grpc://here b=./b", "'here' is not an address"),
    ("interop a=grpc://auto b=./b", "auto is for a server that the suite starts"),
    # Names of another revision
    ("run --scenario changes-spread", ANOTHER),
    ("run --select CSDB-01", ANOTHER),
    ("run --environment chatter", ANOTHER),
    ("fuzz --passage one-key-twice", ANOTHER),
    ("exhaust --alphabet write", ANOTHER),
    (
        "limits --revision clearskies-database --only in-filter",
        "This name belongs to sds-2026-01: add --revision sds-2",
    ),
]


@pytest.mark.parametrize(("line", "said"), WRONG)
def test_wrong_use_is_reported_with_what_to_type_next(
    line: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = typed(*shlex.split(line))
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in words(result.stderr)
    assert "No COMMAND given" not in result.stderr, "nothing is driven"
    assert controls(result.stderr) == set()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("run --select recx-06", "SDS-RECV-06"),
        ("run --select SDS-RECV-6", "SDS-RECV-06"),
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
        ("exhaust --alphabet send,arrivx:3", "arrive"),
        ("exhaust --revision clearskies-database --alphabet arrive,writx", "write"),
        ("limits --only in-filtex", "in-filter"),
        ("requirements recx-06", "SDS-RECV-06"),
        ("requirements AMB-4O", "AMB-40"),
        ("requirements SDS-RECV-06/delivered-earlx", "delivered-early"),
        ("requirements a-diamonx", "a-diamond"),
        ("requirements --kind positiom", "position"),
        ("docs tutoriax", "tutorial"),
        ("docs SDS-RECX-06", "SDS-RECV-06"),
        ("list passagex", "passages"),
        ("scenarios show tiex", "ties"),
        ("vectors run --group lamporx", "lamport"),
        ("vectors list --group lamporx", "lamport"),
        ("vectors replace --out VECTORS lamport/send-clock-far-aheax NONE", "lamport/send-clock-far-ahead"),
        ("vectors add --out VECTORS lamporx NONE", "lamport"),
        ("new-adapter pythom folder", "python"),
        ("selftest --only buffered-is-mex", "buffered-is-met"),
        ("selftest --without obserwe", "observe"),
        ("selftest --generated --only 'channel.Channel.ticx:*'", "channel.Channel.tick"),
        ("selftest --hunt --only buffered-is-mex", "buffered-is-met"),
        ("compare --only recx-06 ONE OTHER", "SDS-RECV-06"),
    ],
)
def test_a_name_with_a_wrong_letter_is_answered_with_the_nearest(line: str, meant: str, tmp_path: Path) -> None:
    places = {"VECTORS": REPOSITORY / "vectors"}
    places |= {name: kept(tmp_path / name, made(RECV_06="fail")) for name in ("ONE", "OTHER")}
    result = typed(*(places.get(word, word) for word in shlex.split(line)))
    assert result.exit_code == 2
    assert f"Did you mean {meant}" in words(result.stderr)
