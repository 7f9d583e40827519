"""Reports to make something of: of the reference, of a mutant, and with hostile words wherever a stranger has a say."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import Any

from run_helpers import certified, reference
from sds_conformance.judging.certification import Certification
from sds_conformance.presentation.invocation import Invocation
from sds_conformance.reports.document import document
from sds_conformance.reports.report import Report
from sds_reference.mutants import MUTANTS, join_mutants
from sds_reference.testee.server import Testee, TesteeOptions

FAULTS = join_mutants([MUTANTS["delivers-placeholders"], MUTANTS["sync-without-channel"]])
FAULT = "SDS-RECV-05"
"""The root cause of most that it fails."""
SCENARIOS = ("a-chain-in-reverse", "a-dep*", "every-kind-of-message", "many-waiting")
HOSTILE = (
    "<script>window.hacked=1</script>`code```[a](https://evil.example)![i](https://evil.example/i.png)<img src=x>"
    "@everyone #1 https://evil.example www.evil.example me@evil.example |pipe|\x1b[31m\u202e\ud800\x00\ufffe"
    "\n::error::owned\r\n::set-output name=x::y\n# head\n- item\n\n```\n$x$ &lt; ]]> ${{ secrets.X }} %0A,"
)
BROKEN = {
    "kind": "crash",
    "where": "ties",
    "step": 3,
    "command": "send",
    "detail": "the process ended with signal 11",
    "advice": "Does it also crash on this input without the adapter?",
    "stderr": ["segmentation fault"],
}


@cache
def _made(faulty: bool) -> tuple[Certification, dict[str, Any]]:
    toy = TesteeOptions("1", name="toy", participant_class=FAULTS.participant_class)
    made = certified(lambda: Testee(toy).handle if faulty else reference(), scenarios=SCENARIOS)
    return made, document(made, Invocation(("./testee", "an argument")))


def faultless() -> Report:
    """Of the reference, by some scenarios."""
    outcome, data = _made(False)
    return Report(deepcopy(data), traces=outcome.traces, seconds=outcome.seconds)


def faulty(**values: Any) -> Report:
    """Of an implementation with several root causes, one of them with consequences; with other values at the top."""
    outcome, data = _made(True)
    return Report(deepcopy(data) | values, traces=outcome.traces, seconds=outcome.seconds)


def whole() -> Report:
    """One in which all was asked for and passed, as it would be of the reference by all scenarios."""
    made = faultless()
    made.data.update(whole=True, narrowed=[])
    for row in made.requirements():
        row.update(verdict="pass", exercised=1, reason="")
    return made


def changed(made: Report, **values: Any) -> Report:
    """With other values at the top."""
    return Report(made.data | values, made.cut_off, made.folder, made.traces)


def summarized(made: Report, **values: Any) -> Report:
    """With other values in the summary."""
    return changed(made, summary=made.data["summary"] | values)


def known(made: Report, *requirements: str, complaints: int = 0) -> Report:
    """With a baseline that lists requirements, and has so many lines that are wrong."""
    row = {"codes": [], "scenario": "", "reason": "not decided yet", "link": "https://example.org/42", "line": 7}
    wrong = {"requirement": "SDS-MSG-01", "what": "it is listed and passes", "change": "remove the line"}
    listed = [{"requirement": requirement, **row} for requirement in requirements]
    return changed(
        made,
        baseline={
            "file": "known.toml",
            "known": listed,
            "complaints": [{"line": 9 + n, **wrong} for n in range(complaints)],
        },
    )


def known_with_new(made: Report) -> tuple[Report, str, str]:
    """With a baseline that lists the first failing root cause, and a failure under that cause that it does not list.

    Returns the report, the requirement of the cause, and the requirement of the failure.
    """
    root, below, *others = (cause for cause in made.data["causes"] if cause["verdict"] == "fail")
    new = below["requirement"]
    root["under"] = [{"requirement": new, "why": "It fails only where the other has failed."}]
    out = changed(known(made, root["requirement"]), causes=[root, *others])
    baseline = out.data["baseline"]
    baseline["new"] = [{"requirement": new, "code": f"{new}/x", "scenarios": [], "under": root["requirement"]}]
    return out, root["requirement"], new


def hostile() -> Report:
    """In which every text that is not bound to a form is hostile."""
    failing = next(faulty().requirements("fail"))["id"]
    made = known(changed(faulty(), breakdowns=[dict(BROKEN)]), failing, complaints=2)
    kept = {"id", "verdict", "severity", "level", "kind", "revision", "profile", "schema", "framing", "suite"}

    def worse(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: inner if name in kept else worse(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [worse(inner) for inner in value]
        return HOSTILE if isinstance(value, str) else value

    rows = list(made.requirements())
    rows[0].update(verdict="skipped", reason="not declared")
    rows[1].update(verdict="inconclusive", reason="not exercised")
    rows[2].update(verdict="error", reason="ours")
    bad = Report(worse(made.data))
    for mine, other in zip(bad.data["causes"], made.data["causes"], strict=True):
        mine["requirement"] = other["requirement"]
    bad.data["baseline"]["known"][0]["requirement"] = failing
    return bad


def many(made: Report, number: int) -> Report:
    """With so many more root causes."""
    cause = made.data["causes"][0]
    return changed(made, causes=[*made.data["causes"], *[dict(cause)] * number])


def outcomes() -> dict[str, Callable[[], Report]]:
    """Reports of every kind."""
    return {
        "faultless": faultless,
        "whole": whole,
        "faulty": faulty,
        "hostile": hostile,
        "known": lambda: known(faulty(), FAULT, complaints=1),
        "cut off": lambda: Report(faulty().data, "after line 3"),
        "broken": lambda: changed(whole(), breakdowns=[BROKEN, BROKEN]),
        "nothing": lambda: changed(summarized(whole(), exit_code=4), requirements=[], causes=[]),
        "not driven": lambda: summarized(changed(whole(), breakdowns=[BROKEN]), exit_code=3, complete=False),
        "interrupted": lambda: summarized(whole(), exit_code=130, complete=False, interrupted=True),
        "many": lambda: many(faulty(), 30),
    }
