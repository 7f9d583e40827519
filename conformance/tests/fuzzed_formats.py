"""The formats that the suite reads, for the fuzzer of its decoders: valid inputs, and the commands that read them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import cache

from fuzzing import Command, Format, Replies
from valid_inputs import (
    CLEARSKIES,
    SDS,
    baselines,
    certificates,
    corpora,
    counterexamples,
    dialects,
    digest_certificate,
    outcomes,
    reports,
    run_command,
    scenario_files,
    seal_vectors,
    transcripts,
    vectors,
)


@cache
def driving_commands() -> Sequence[Sequence[Command]]:
    """Commands that drive an implementation, each followed by those that read its output."""
    out: list[Sequence[Command]] = []
    after: Sequence[Command] = (
        ("report", "{out}/r", "--html", "{out}/h2.html", "--junit", "{out}/j.xml", "--sarif", "{out}/s.sarif"),
        ("explain", "{out}/talk.jsonl"),
        ("certificate", "write", "{out}/r", "--out", "{out}/c.json"),
    )
    some = {
        "sds-2026-01": (SDS, ("every-kind-*", "named-*", "ties", "a-chain-*")),
        "forum-2024": (SDS, ("every-kind-*", "ties")),
        "clearskies-database": (CLEARSKIES, ("the-*", "clocks-*", "changes-*")),
    }
    for revision, (model, scenarios) in some.items():
        about = ("--revision", revision)
        for scenario in scenarios:
            run = run_command("{out}/r", revision, "", [scenario], "--html", "{out}/h.html")
            at = run.index("--")
            out.append([(*run[:at], "--transcript", "{out}/talk.jsonl", *run[at:]), *after])
        out.append([("smoke", "--validate", *about, "--", *model)])
        fuzz = ("fuzz", *about, "--participants", "2-3", "--schedules", "2", "--jobs", "1", "--json", "--out", "{out}")
        out.append([(*fuzz, "--transcript", "{out}/talk.jsonl", "--", *model), after[1]])
        both = (f"a={shlex.join(model)}", f"b={shlex.join(model)}")
        out.append([("interop", *about, *both, "--schedules", "1", "--out", "{out}", "--json")])
    small = ("--events", "2", "--alphabet", "send,arrive,time", "--jobs", "1", "--json", "--out", "{out}")
    out.append([("exhaust", *small, "--", *SDS)])
    out.append([("vectors", "run", "--group", "wire-decoding", "--json", "--", *SDS)])
    out.append([("limits", "--only", "log", "--at", "20", "--json", "--", *SDS)])
    return out


FORMATS: dict[str, Format | Replies] = {
    "reports": Format(reports, r"(report|limits)\.jsonl?|traces/.*"),
    "counterexamples": Format(counterexamples, r".*\.json"),
    "scenario-files": Format(scenario_files, r".*\.(yaml|json)"),
    "transcripts": Format(transcripts, r"talk\.jsonl"),
    "baselines": Format(baselines, r"known\.yaml"),
    "certificates": Format(certificates, r"certificate\.json(\.sig)?|signers", digest_certificate),
    "vectors": Format(vectors, r"(sds|clearskies)/.*\.json|(manifest|released)\.json|CHANGELOG\.md", seal_vectors),
    "outcomes": Format(outcomes, r"(fuzz|vectors|exhaust|resume)\.json"),
    "corpora": Format(corpora, r"manifest\.json|(steps|schedules|twins)/.*\.parquet"),
    "dialects": Format(dialects, r"dialect\.json"),
    "replies-json": Replies("json", driving_commands),
    "replies-binary": Replies("binary", driving_commands),
}
"""By name."""
