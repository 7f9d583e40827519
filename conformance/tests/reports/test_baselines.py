"""Baselines: a listed failure is known, and all others are reported with the line to change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from run_helpers import certified, reference
from sds_conformance.cli.baseline_option import match_baseline as compare
from sds_conformance.presentation.invocation import Invocation
from sds_conformance.reports.baseline import (
    Baseline,
    BaselineError,
    FailureKey,
    JudgedResult,
    Match,
    OldBaselineError,
    load,
    match,
    parse,
)
from sds_conformance.reports.baseline import read_result as read_document
from sds_conformance.reports.baseline_text import convert_old_baseline, fresh, to_block_style, update_baseline
from sds_conformance.reports.document import document
from sds_reference import Participant
from sds_reference.mutants import MUTANTS

ONE, OTHER = "SDS-RECV-06", "SDS-MSG-14"
CODES = {
    ONE: ("delivered-early", "never-delivered"),
    OTHER: ("not-unique",),
    "SDS-RECV-07": ("late",),
    "G-04": (),
    "breakdown": ("crash", "hang"),
}
SCENARIOS = {"ties", "joins", "late-copies"}
FAILURE = FailureKey(ONE, "delivered-early", ("ties", "joins"))
SECOND = FailureKey(OTHER, "not-unique", ("joins",))
HEAD = "schema: sds-conformance/baseline/2\nrevision: sds-2026-01\nenvironments: [plain]\n"


def run(
    *failures: FailureKey, whole: bool = True, environments: tuple[str, ...] = ("plain", "turkish")
) -> JudgedResult:
    verdicts = {ONE: "pass", OTHER: "pass", "SDS-RECV-07": "skipped: not declared: observe"}
    verdicts |= {failure.what: "fail" for failure in failures}
    played = frozenset(SCENARIOS if whole else {"ties"})
    return JudgedResult(
        "run", "mine 1.0", "sds-2026-01", failures, verdicts, whole, frozenset(environments), frozenset(played)
    )


def listing(text: str) -> Baseline:
    return parse(HEAD + text, Path("known.yaml"))


def held(text: str, judged: JudgedResult) -> Match:
    return match(listing(text), judged, CODES, SCENARIOS)


def said(found: Match) -> list[tuple[int, str, str]]:
    return [(complaint.line, complaint.says, complaint.change) for complaint in found.complaints]


LISTED = f"""\
known:
  # why that is so
  - requirement: {ONE}
    codes: [delivered-early]
    reason: to be mended  # soon
"""


def fuzzed(*failures: FailureKey, seed: int = 0, examples: int = 500, whole: bool = True) -> JudgedResult:
    verdicts = {ONE: "pass", "G-04": "pass"} | {failure.what: "fail" for failure in failures}
    return JudgedResult("fuzz", "mine 1.0", "sds-2026-01", failures, verdicts, whole, seed=seed, examples=examples)


G_04 = FailureKey("G-04", "")
BY_FUZZ = "fuzz: {seed: 0, examples: 500}\nknown:\n  - requirement: G-04\n    by: fuzz\n    reason: x\n"


OTHER_WAY = replace(FAILURE, code="never-delivered")
FLAKY = LISTED.replace("    reason:", "    flaky: true\n    reason:")
ONLY = f"known:\n  - requirement: {ONE}\n    scenario: [tie*]\n    reason: there\n"
BOTH = ONLY + f"  - requirement: {ONE}\n    scenario: [joins]\n    reason: here\n"
CRASH = "known:\n  - requirement: breakdown\n    codes: [crash]\n    reason: x\n"
TWO_CODES = LISTED.replace("[delivered-early]", "[delivered-early, never-delivered]")
UNJUDGED = "known:\n  - requirement: SDS-RECV-07\n    reason: old\n"
BY_RUN_AND_FUZZ = BY_FUZZ + LISTED.removeprefix("known:\n")
VECTORS = "known:\n  - vector: wire/a\n    reason: x\n  - vector: wire/gone\n    reason: x\n"
WIRE_A = JudgedResult("vectors", "mine", "sds-2026-01", [FailureKey("wire/a", "fail")], {"wire/a": "fail"}, whole=True)
EARLY = FailureKey(ONE, "delivered-early")

RUNS: dict[str, tuple[str, JudgedResult]] = {
    "a listed failure": (LISTED, run(FAILURE)),
    "a listed failure that passes": (LISTED, run()),
    "one that passes in a run of a part": (LISTED, run(whole=False)),
    "one that is not judged any more": (UNJUDGED, run()),
    "a failure in another way": (LISTED, run(OTHER_WAY)),
    "a code that is not seen any more": (TWO_CODES, run(FAILURE)),
    "a code that fuzz does not see": (TWO_CODES, fuzzed(EARLY)),
    "a breakdown of the listed kind": (CRASH, run(FailureKey("breakdown", "crash", ("ties",)))),
    "a breakdown of another kind": (CRASH, run(FailureKey("breakdown", "hang", ("ties",)))),
    "two codes under an entry without codes": (
        LISTED.replace("    codes: [delivered-early]\n", ""),
        run(FAILURE, OTHER_WAY),
    ),
    "a failure in a listed scenario": (ONLY, run(replace(FAILURE, scenarios=("ties",)))),
    "a failure in another scenario": (ONLY, run(FAILURE)),
    "each scenario under its own entry": (BOTH, run(FAILURE)),
    "a listed scenario that a part does not play": (ONLY.replace("tie*", "joins"), run(whole=False)),
    "fuzz with what run and fuzz list": (BY_RUN_AND_FUZZ, fuzzed(G_04, EARLY)),
    "fuzz with a failure that is not listed": (BY_FUZZ, fuzzed(G_04, EARLY)),
    "fuzz with a code that run does not list": (LISTED, fuzzed(FailureKey(ONE, "never-delivered"))),
    "the same schedules find nothing": (BY_FUZZ, fuzzed()),
    "other schedules find nothing": (BY_FUZZ, fuzzed(seed=1)),
    "a vector that is no more": (VECTORS, WIRE_A),
    "a flaky failure": (FLAKY, run(FAILURE)),
    "a flaky failure that passes": (FLAKY, run()),
    "a flaky failure in another way": (FLAKY, run(OTHER_WAY)),
    "a flaky entry that is not judged": (UNJUDGED.replace("    reason", "    flaky: true\n    reason"), run()),
    "an unknown code": (LISTED.replace("delivered-early", "deliverd-early"), run()),
    "an unknown code that is like none": (LISTED.replace("delivered-early", "buffered"), fuzzed()),
    "an unknown requirement": (UNJUDGED.replace("SDS-RECV-07", "SDS-RECV-6"), run()),
    "an unknown requirement that is like none": (UNJUDGED.replace("SDS-RECV-07", "nonsense"), run(whole=False)),
    "a withdrawn property": (UNJUDGED.replace("SDS-RECV-07", "G-05"), run(environments=())),
    "an unknown scenario": (ONLY.replace("tie*", "nowhere"), run()),
    "a flaky entry of an unknown requirement": (FLAKY.replace(ONE, "SDS-RECV-6"), run()),
    "a flaky entry with an unknown code": (FLAKY.replace("delivered-early", "deliverd-early"), run()),
}


def test_what_is_listed_is_known_and_all_else_is_reported_with_the_lines_to_change(snapshot: SnapshotAssertion) -> None:
    output = []
    for name, (text, judged) in RUNS.items():
        found = held(text, judged)
        output.append(f"{name}: {len(found.requirements)} known, {found.unseen} unseen")
        output += [f"  new: {one.what}/{one.code} in {', '.join(one.scenarios) or 'no scenario'}" for one in found.new]
        output += [f"  line {line}: {says}: {change}" for line, says, change in said(found)]
        output += [f"  {entry.what}: {outcome.phrase}" for entry, outcome in found.flaky]
    assert "\n".join(output) == snapshot


# ---- Root causes -------------------------------------------------------------------------------------------------

THREE = ("starts-at-zero", "ties-by-arrival", "buffers-syncs")


def played_with(*faults: str) -> JudgedResult:
    """The result of an implementation that has several faults at once."""
    channels = tuple(vars(MUTANTS[name].participant_class)["channel_class"] for name in faults)
    participant = type("WithFaults", (Participant,), {"channel_class": type("Channels", channels, {})})
    outcome = certified(lambda: reference(participant=participant))
    return replace(read_document(document(outcome, Invocation(("./adapter",)))), whole=True)


def test_mending_one_of_three_faults_leaves_the_entries_of_the_others() -> None:
    with_three = played_with(*THREE)
    baseline = parse(fresh([with_three], "known", "", per_scenario=False), Path("known.yaml"))
    others = played_with(*THREE[1:])
    found = compare(baseline, others)
    failing = {failure.what for failure in others.failures}
    own = {failure.what for failure in with_three.failures} - failing
    assert own
    assert found.new == []
    assert {(complaint.what, complaint.says) for complaint in found.complaints} == {(what, "passes") for what in own}
    update = update_baseline(baseline, others, found, "", "")
    assert (update.added, update.removed) == (0, len(own))
    before = {entry.what: entry for entry in baseline.entries}
    after = {entry.what: entry for entry in parse(update.text, Path("known.yaml")).entries}
    assert after.keys() == failing
    for what, entry in after.items():
        assert replace(entry, first=0, last=0) == replace(before[what], first=0, last=0)
    assert set(update.text.splitlines()) < set(baseline.text.splitlines())


# ---- The file ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("known: []\n", "line 1: 'schema' is a required property"),
        (
            HEAD + "known:\n  - requirement: A\n    reasn: b\n    reason: c\n",
            "line 5: there is no key 'reasn': did you mean `reason`",
        ),
        (
            HEAD + "known:\n  - requirement: A\n    reason: c\n    flaky: yes\n",
            "line 7: `flaky` must be true or false.*'yes'",
        ),
        (HEAD + "known:\n  - requirement: A\n    reason: c\n    flaky: a race\n", "explanation under `reason`"),
        (HEAD + "known:\n  - requirement: A\n    flaky: true\n", "line 5: 'reason' is a required property"),
        (HEAD + "known:\n  - requirement: A\n    reason: [b\n", "line 7: "),
        (HEAD + "known:\n  - requirement: A\n    requirement: B\n", "duplicate key"),
        (HEAD + "a: &a [x]\nknown: *a\n", r"line 5: aliases such as \*a are not allowed"),
        (HEAD + "known: " + "[" * 50 + "]" * 50, "nested more deeply"),
        (HEAD + "known: !!python/object/apply:os.system [ls]\n", "line 4"),
    ],
)
def test_what_is_no_baseline_is_refused_with_the_line(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "known.yaml"
    file.write_text(text, "utf-8")
    with pytest.raises(BaselineError, match=says) as refused:
        load(file)
    assert str(refused.value).isprintable()


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "not-there"):
        with pytest.raises(BaselineError, match="baseline write"):
            load(place)
    (tmp_path / "latin").write_bytes(b"\xe9")
    with pytest.raises(BaselineError, match="UTF-8"):
        load(tmp_path / "latin")


@pytest.mark.parametrize("per_scenario", [False, True])
def test_what_is_written_matches_what_it_was_written_of(per_scenario: bool) -> None:
    odd = FailureKey("SDS-RECV-07", "late", ("ties",))
    several = [run(FAILURE, SECOND, odd), fuzzed(G_04)]
    text = fresh(several, "why: not", "https://example.org/#1", per_scenario=per_scenario)
    for judged in several:
        found = match(parse(text, Path("known.yaml")), judged, CODES, SCENARIOS)
        assert (found.new, found.complaints) == ([], [])
    entries = parse(text, Path("known.yaml")).entries
    assert len(entries) == (5 if per_scenario else 4)
    assert {(entry.reason, entry.link) for entry in entries} == {("why: not", "https://example.org/#1")}


KEPT = f"""\
# a head of my own
known:

    # about the first
    - requirement: {ONE}
      reason: mended since
    # about the second
    - requirement: {OTHER}   # oddly
      reason: 'as it is'
      codes: [not-unique]

# the end
"""


FLOW = "schema: sds-conformance/baseline/2, revision: sds-2026-01, environments: [plain]"
ENTRIES = f"[{{requirement: {ONE}, reason: mended}}, {{requirement: {OTHER}, reason: stays, codes: [not-unique]}}]"
FLOWING = (
    f"{{{FLOW},\n known: {ENTRIES}\n}}\n",
    f"schema: sds-conformance/baseline/2\nknown: {ENTRIES}\nrevision: sds-2026-01\nenvironments: [plain]\n",
    f"{HEAD}? known\n: - requirement: {ONE}\n    reason: mended\n  - requirement: {OTHER}\n    reason: stays\n",
)


LATE = FailureKey("SDS-RECV-07", "late", ("ties",))
UPDATES: dict[str, tuple[str, JudgedResult]] = {
    "an entry passes, and another failure is new": (HEAD + KEPT, run(SECOND, LATE)),
    "an entry fails otherwise": (HEAD + LISTED, run(OTHER_WAY)),
    "a flaky entry passes, and another failure is new": (HEAD + FLAKY, run(SECOND)),
    "a flaky entry fails otherwise, too": (HEAD + FLAKY, run(FAILURE, OTHER_WAY)),
    **{f"flow style or another order, {number}": (text, run(SECOND, LATE)) for number, text in enumerate(FLOWING, 1)},
}


def test_an_update_changes_whole_entries_and_nothing_else(snapshot: SnapshotAssertion) -> None:
    output = []
    for name, (text, judged) in UPDATES.items():
        baseline = to_block_style(parse(text, Path("known.yaml")))
        found = match(baseline, judged, CODES, SCENARIOS)
        update = update_baseline(baseline, judged, found, "found today", "https://example.org/2")
        again = match(parse(update.text, Path("known.yaml")), judged, CODES, SCENARIOS)
        assert (again.new, again.complaints) == ([], [])
        output += [f"{name}: {update.added} added, {update.removed} removed", update.text]
    assert "\n".join(output) == snapshot


OLD = f"""\
# mine
schema: sds-conformance/baseline/1
revision: sds-2026-01
known:
  # about the first
  - requirement: {ONE}
    fails:
      - check: buffered
        expected: … to wait
    reason: to be mended  # soon
    link: https://example.org/1
  - requirement: {OTHER}
    reason: any way
  # gone by now
  - requirement: SDS-RECV-07
    scenario: [ties]
    fails: [{{check: x}}]
    reason: old
"""


def test_a_file_of_the_format_before_is_refused_with_what_to_type(tmp_path: Path) -> None:
    file = tmp_path / "my known.yaml"
    file.write_text(OLD, "utf-8")
    with pytest.raises(OldBaselineError, match=r"by sentences.*Type `sds-conformance baseline update '.*known.yaml'"):
        load(file)


def test_a_file_of_the_format_before_is_renewed_with_comments_reasons_and_links() -> None:
    text = convert_old_baseline(OLD, Path("known.yaml"), [run(FAILURE, SECOND)])
    entries = parse(text, Path("known.yaml")).entries
    assert [(entry.what, entry.codes, entry.scenarios, entry.reason, entry.link) for entry in entries] == [
        (ONE, ("delivered-early",), (), "to be mended", "https://example.org/1"),
        (OTHER, (), (), "any way", ""),
        ("SDS-RECV-07", (), ("ties",), "old", ""),
    ]
    for comment in ("# mine", "# about the first", "# soon", "# gone by now"):
        assert comment in text
    assert "codes: [delivered-early]" in text


def test_fuzz_names_root_causes_and_flaky_findings() -> None:
    finding = {"severity": "fail", "schedules": 3}
    data = {"seed": 0, "schedules": 9, "interrupted": False, "out_of_time": False, "gave_up": ""} | {
        "schema": "sds-conformance/fuzz/2",
        "implementation": {"name": "mine", "version": "1.0"},
        "revision": "sds-2026-01",
        "findings": [
            {**finding, "id": ONE, "code": f"{ONE}/delivered-early", "again": {"shown": 1, "played": 5}},
            {**finding, "id": OTHER, "code": f"{OTHER}/not-unique", "under": {"id": ONE, "why": "It follows."}},
        ],
        "exercised": {},
        "errors": {},
    }
    fuzzed = read_document(data)
    assert fuzzed.under == {OTHER: ONE}
    assert fuzzed.flaky == {ONE: "reproduced by 1 of 5 replays", OTHER: f"its root cause {ONE} is flaky"}
    found = match(listing(LISTED), fuzzed, CODES, SCENARIOS)
    assert found.codes_by_known_cause == {f"{OTHER}/not-unique": ONE}
    marked = parse(fresh([fuzzed], "", "", per_scenario=False), Path("known.yaml")).entries
    assert [entry.flaky for entry in marked] == [True, True]
