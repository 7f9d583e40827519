"""The formats that the suite reads, for the fuzzer of its decoders: valid inputs, and the commands that read them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import cache

from fuzzed_corpora import corpora, edited_corpus
from fuzzing import Command, Format, Replies
from valid_inputs import (
    CLEARSKIES,
    SDS,
    baselines,
    certificates,
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
        "sds-2026-01": ("every-kind-*", "named-*", "ties", "a-chain-*", "own-*"),
        "sds-2025-10-amended": ("copies-*",),
        "forum-2024": ("every-kind-*", "ties", "a-chain-*"),
        "clearskies-database": ("the-*", "clocks-*", "changes-*"),
    }
    for revision, scenarios in some.items():
        model = CLEARSKIES if revision == "clearskies-database" else SDS
        for scenario in scenarios:
            run = run_command("{out}/r", revision, "", [scenario], "--html", "{out}/h.html")
            at = run.index("--")
            printed = (*run[:at], "--transcript", "{out}/talk.jsonl", "--badge", "{out}/b.svg", *run[at:])
            out.append((printed, *after))
        about = ("--revision", revision)
        out.append([("smoke", "--validate", *about, "--", *model)])
        for seed in range(3):
            fuzz = ("fuzz", *about, "--participants", "2-3", "--schedules", "1", "--jobs", "1", "--seed", str(seed))
            saved = ("--out", "{out}", "--transcript", "{out}/talk.jsonl", "--", *model)
            out.append([(*fuzz, *saved), ("explain", "{out}/talk.jsonl", "--requirement", "*")])
        out.append(
            [
                (
                    "fuzz",
                    *about,
                    "--participants",
                    "2-3",
                    "--schedules",
                    "2",
                    "--jobs",
                    "1",
                    "--json",
                    "--out",
                    "{out}",
                    "--",
                    *model,
                )
            ]
        )
        exhaust = ("exhaust", *about, "--events", "2", "--alphabet", "send,arrive,time", "--jobs", "1", "--json")
        if model is SDS:
            out.append([(*exhaust, "--out", "{out}", "--", *model)])
    for revision, model in (("sds-2026-01", SDS), ("clearskies-database", CLEARSKIES)):
        both = (f"a={shlex.join(model)}", f"b={shlex.join(model)}")
        interop = ("interop", "--revision", revision, *both, "--schedules", "1", "--out", "{out}")
        out += [[interop], [(*interop, "--json")]]
    out.append([("vectors", "run", "--group", "wire-decoding", "--json", "--", *SDS)])
    out.append([("limits", "--only", "log", "--at", "20", "--json", "--", *SDS)])
    out.append([("limits", "--only", "waiting", "--at", "5", "--", *SDS)])
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
    "corpora": Format(corpora, r"manifest\.json|(steps|schedules|twins)/.*\.parquet", damaged=edited_corpus),
    "dialects": Format(dialects, r"dialect\.json"),
    "replies-json": Replies("json", driving_commands),
    "replies-binary": Replies("binary", driving_commands),
    "replies-grpc": Replies("grpc", driving_commands),
}
"""By name."""
