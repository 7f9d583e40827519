"""Valid inputs of the formats that the suite reads, made by the suite itself, and the commands that read them."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from click.testing import CliRunner

from fuzzing import CODES, Command, Files, Input, filled, laid_out
from run_helpers import REPOSITORY
from scripted_process import scripted
from sds_conformance.cli import main
from sds_conformance.vectors.canonical import digest, format_document
from sds_harness.schedules.files import to_json, to_yaml, yaml_document

SDS = (sys.executable, "-m", "sds_reference")
CLEARSKIES = (sys.executable, "-m", "clearskies_reference")


def _made(*commands: Sequence[str]) -> Files:
    """The files that commands write to the folder {out}. A first word `>FILE` redirects stdout to a file there."""
    with tempfile.TemporaryDirectory() as out:
        for command in commands:
            words = filled(tuple(command), Path(out), out, Path(out))
            to = words.pop(0).removeprefix(">") if words[0].startswith(">") else ""
            with scripted():
                result = CliRunner().invoke(main, words)
            assert result.exit_code in CODES - {2}, (words, result.output)
            if to:
                (Path(out) / to).write_text(result.stdout, "utf-8")
        root = Path(out)
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def run_command(report: str, revision: str, mutant: str, scenarios: Sequence[str], *more: str) -> list[str]:
    chosen = [word for name in scenarios for word in ("--scenario", name)]
    model = CLEARSKIES if revision == "clearskies-database" else SDS
    fault = ["--mutant", mutant] if mutant else []
    about = ["--revision", revision, "--jobs", "1", "--environment", "plain"]
    return ["run", *about, *chosen, "--report", report, *more, "--", *model, *fault]


_RUNS = {
    "sds": ("sds-2026-01", "receives-at-the-sweep", ("ties", "a-chain-in-reverse")),
    "forum": ("forum-2024", "", ("ties",)),
    "clearskies": ("clearskies-database", "forgets-the-deleted", ("ghosts-of-many", "keys-and-values")),
}
"""Revision, mutant and scenarios of short runs, most of them with findings."""


@cache
def _reports() -> Mapping[str, Files]:
    """Folders of `run --report`, one with limits."""
    out = {}
    for name, (revision, mutant, scenarios) in _RUNS.items():
        commands = [run_command("{out}", revision, mutant, scenarios)]
        if name == "sds":
            limits = ("limits", "--only", "log", "--budget", "2s", "--report", "{out}", "--", *SDS, "--mutant", mutant)
            commands.append([*limits])
        out[name] = _made(*commands)
    return out


_AS_REPORT: Sequence[Command] = (
    ("report", "{folder}"),
    ("report", "{folder}/report.json", "--json"),
    ("report", "{folder}", "--json"),
    (
        *("report", "{folder}", "--html", "{out}/h.html", "--junit", "{out}/j.xml", "--markdown", "{out}/m.md"),
        *("--sarif", "{out}/s.sarif", "--badge", "{out}/b.svg"),
    ),
    ("report", "{folder}", "--annotations"),
    ("report", "{folder}", "--html", "{out}/h.html"),
    ("compare", "{folder}", "{valid}", "--ways", "--html", "{out}/c.html", "--markdown", "{out}/c.md"),
    ("compare", "{valid}", "{folder}", "--all", "--json"),
    ("compare", "{valid}", "{folder}", "--fail-on-worse"),
    ("compare", "{folder}", "--json"),
    ("baseline", "write", "{out}/known.yaml", "{folder}", "--per-scenario"),
    ("baseline", "write", "{out}/known.yaml", "{folder}/report.json"),
    ("certificate", "write", "{folder}", "--out", "{out}/c.json", "--html", "{out}/c.html"),
)


@cache
def reports() -> Sequence[Input]:
    since = {
        name: run_command("{out}/again", *_RUNS[name], "--since", "{folder}", "--html", "{out}/h.html")
        for name in ("sds", "forum")
    }
    return [
        Input(name, files, [*_AS_REPORT, *([tuple(since[name])] if name in since else [])])
        for name, files in _reports().items()
    ]


def _driven(name: str) -> Command:
    """The end of a command line: the implementation to drive."""
    model, mutant = CLEARSKIES if name == "clearskies" else SDS, _RUNS[name][1]
    return ("--", *model, *(("--mutant", mutant) if mutant else ()))


def _generated(revision: str, index: int) -> bytes:
    """The file of a generated schedule, which says who plays whom in a mixed group."""
    from sds_conformance.protocols import repertoire_of

    repertoire = repertoire_of(revision)
    data = to_json(repertoire.generated(0, index, repertoire.grammar()))
    mixed = {f"plays {member['name']}": "ab"[number % 2] for number, member in enumerate(data["members"])}
    data["notes"] = {"revision": revision, "cast": "mixed", **mixed}
    return json.dumps(data).encode()


@cache
def counterexamples() -> Sequence[Input]:
    out = []
    for name, (revision, *_) in _RUNS.items():
        driven = _driven(name)
        for number in range(3):
            path = f"{{folder}}/{number}.json"
            both = (f"a={shlex.join(driven[1:4])}", f"b={shlex.join(driven[1:])}")
            commands = [
                ("replay", path, "--json", *driven),
                ("replay", path, "--out", "{out}", *driven),
                ("replay", path, "--cast", "apart", "--revision", revision, *driven),
                ("interop", "--replay", path, *both),
                ("interop", "--replay", path, "--json", *both),
            ]
            out.append(Input(f"{name}/{number}", {f"{number}.json": _generated(revision, number)}, commands))
    return out


_SCENARIO = b"""\
description: Everything that a person may write.
members: [alice, {name: bob, late: true, clock_ms: -5}]
channels: [c1, c2]
requirements: [SDS-RECV-06, SDS-SEND-01]
configuration: {causal_history_size: 3}
operations:
- {op: say, peer: xavier, label: second, after: [first], to: alice}
- op: send
  who: alice
  label: own
  route: {lost: [bob], late: {bob: 30}}
- {op: join, who: bob}
- {op: look}
expect:
- {who: alice, does_not_deliver: [second]}
- who: alice
  delivers: [own]
"""


@cache
def scenario_files() -> Sequence[Input]:
    from sds_conformance.protocols import repertoire_of

    out = []
    for name in ("sds", "clearskies"):
        revision, driven = _RUNS[name][0], _driven(name)
        notation = repertoire_of(revision).notation
        generated = [notation.from_json(json.loads(_generated(revision, number))) for number in range(2)]
        files = {f"{number}.yaml": to_yaml(one, notation).encode() for number, one in enumerate(generated)}
        files |= {"mine.yaml": _SCENARIO, "mine.json": json.dumps(yaml_document(_SCENARIO.decode()).data).encode()}
        for file, data in files.items():
            path = f"{{folder}}/{file}"
            commands: list[Command] = [
                ("scenarios", "validate", path),
                ("scenarios", "show", path, "--svg", "{out}/p.svg"),
                ("scenarios", "show", path, "--json"),
                ("run", "--scenario-file", path, "--report", "{out}/r", "--html", "{out}/h.html", *driven),
                ("fuzz", "--schedules", "0", "--scenario-file", path, "--jobs", "1", "--out", "{out}", *driven),
            ]
            out.append(Input(f"{name}/{file}", {file: data}, commands))
    return out


@cache
def transcripts() -> Sequence[Input]:
    narrowed = ((), ("--requirement", "*"), ("--participant", "alice"), ("--channel", "c1"))
    commands = [("explain", "{folder}/talk.jsonl", *options) for options in narrowed]
    out = []
    for name, (revision, mutant, scenarios) in _RUNS.items():
        some = scenarios if name != "clearskies" else ("changes-*", "clocks-*", "the-*")
        made = _made(run_command("{out}/r", revision, mutant, some, "--transcript", "{out}/talk.jsonl"))
        lines = made["talk.jsonl"].splitlines(keepends=True)[:150]
        out.append(Input(name, {"talk.jsonl": b"".join(lines)}, commands))
    return out


@cache
def baselines() -> Sequence[Input]:
    out = []
    for name in ("sds", "clearskies"):
        revision, mutant, scenarios = _RUNS[name]
        with laid_out(_reports()[name]) as folder:
            known = _made(("baseline", "write", "{out}/known.yaml", str(folder)))["known.yaml"]
        played = run_command("{out}/r", revision, mutant, scenarios if name == "sds" else ("a-record-*",))
        at = played.index("--")
        commands: list[Command] = [
            ("baseline", "check", "{folder}/known.yaml", "{folder}/report.json"),
            ("baseline", "update", "{folder}/known.yaml", "{folder}", "--reason", "x"),
            (*played[:at], "--baseline", "{folder}/known.yaml", *played[at:]),
        ]
        out.append(Input(name, {**_reports()[name], "known.yaml": known}, commands))
    return out


@cache
def certificates() -> Sequence[Input]:
    out = []
    for name in _RUNS:
        model = CLEARSKIES if name == "clearskies" else SDS
        with laid_out(_reports()[name]) as folder:
            made = _made(("certificate", "write", str(folder), "--out", "{out}/certificate.json"))
        commands = [
            ("certificate", "show", "{folder}/certificate.json"),
            ("certificate", "show", "{folder}/certificate.json", "--html", "{out}/c.html"),
            ("certificate", "verify", "{folder}/certificate.json"),
            ("certificate", "verify", "--sample", "1", "--seed", "1", "{folder}/certificate.json", "--", *model),
        ]
        out.append(Input(name, made, commands))
    if shutil.which("ssh-keygen"):
        out.append(_signed_certificate())
    return out


def _signed_certificate() -> Input:
    with tempfile.TemporaryDirectory() as folder, laid_out(_reports()["sds"]) as report:
        key = f"{folder}/key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key], check=True)
        made = _made(("certificate", "write", str(report), "--out", "{out}/certificate.json", "--sign-key", key))
        made["signers"] = b"me " + Path(f"{key}.pub").read_bytes()
    trusted = ("certificate", "verify", "--allowed-signers", "{folder}/signers", "--signer", "me")
    return Input("signed", made, [(*trusted, "{folder}/certificate.json")])


def digest_certificate(files: Files) -> None:
    try:
        data = json.loads(files["certificate.json"])
        data["digest"] = digest({key: value for key, value in data.items() if key != "digest"})
        files["certificate.json"] = format_document(data)
    except (ValueError, TypeError, AttributeError, RecursionError, OverflowError):
        pass  # such a file has no digest


@cache
def vectors() -> Sequence[Input]:
    from sds_conformance.vectors.folder import MANIFEST
    from vector_folders import VECTORS

    groups = {"sds": (SDS, ("wire-decoding", "lamport")), "clearskies": (CLEARSKIES, ("conflicts", "framing-read"))}
    out = []
    for part, (model, names) in groups.items():
        revision = "clearskies-database" if part == "clearskies" else "sds-2026-01"
        for name in names:
            kept = [*(VECTORS / part).glob(f"{name}.json"), *VECTORS.glob("*.*"), *VECTORS.glob("schema/**/*.json")]
            files = {path.relative_to(VECTORS).as_posix(): path.read_bytes() for path in kept}
            manifest = json.loads(files[MANIFEST])
            manifest["files"] = {file: printed for file, printed in manifest["files"].items() if file in files}
            files[MANIFEST] = format_document(manifest)
            if name != "lamport":
                files["released.json"] = format_document({"releases": []})
            run = ("vectors", "run", "--revision", revision, "--vectors", "{folder}")
            commands = [(*run, "--", *model), (*run, "--json", "--", *model), ("vectors", "lint", "{folder}")]
            out.append(Input(f"{part}/{name}", files, commands))
    return out


def seal_vectors(files: Files) -> None:
    from sds_conformance.vectors.canonical import file_digest

    try:
        manifest = json.loads(files["manifest.json"])
        for name in list(files):
            if name.startswith(("sds/", "clearskies/")):
                data = json.loads(files[name])
                data["numberOfTests"], data["digest"] = len(data["tests"]), digest(data["tests"])
                files[name] = format_document(data)
                manifest["files"][name] = file_digest(files[name])
        files["manifest.json"] = format_document(manifest)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError, OverflowError):
        pass


@cache
def outcomes() -> Sequence[Input]:
    """The output of --json for certificates and baselines, and the file of --resume."""
    out = []
    for name in ("sds", "clearskies"):
        revision, mutant, _ = _RUNS[name]
        # Shrinking takes half a minute in ClearSkies.
        model = CLEARSKIES if name == "clearskies" else (*SDS, "--mutant", mutant)
        group = "conflicts" if name == "clearskies" else "log-order"
        asked = ("vectors", "run", "--revision", revision, "--group", group, "--json")
        played = ("fuzz", "--revision", revision, "--schedules", "3", "--jobs", "1", "--out", "{out}/x", "--json")
        made: list[Command] = [(">vectors.json", *asked, "--", *model), (">fuzz.json", *played, "--", *model)]
        write = ("certificate", "write", "{folder}/report", "--out", "{out}/c.json")
        commands: list[Command] = [
            (*write, "--fuzz", "{folder}/fuzz.json"),
            (*write, "--vectors", "{folder}/vectors.json"),
            ("baseline", "write", "{out}/known.yaml", "{folder}/fuzz.json"),
            ("baseline", "write", "{out}/known.yaml", "{folder}/vectors.json", "{folder}/fuzz.json"),
        ]
        if name == "sds":
            world: Command = ("exhaust", "--events", "1", "--jobs", "1", "--alphabet", "send,arrive")
            world = (*world, "--out", "{out}/x", "--json")
            made.append((">exhaust.json", *world, "--resume", "{out}/resume.json", "--", *model))
            commands += [
                (*write, "--exhaust", "{folder}/exhaust.json"),
                ("baseline", "write", "{out}/known.yaml", "{folder}/exhaust.json"),
                (*world, "--resume", "{folder}/resume.json", "--", *model),
            ]
        files = {file: data for file, data in _made(*made).items() if "/" not in file}
        files |= {f"report/{file}": data for file, data in _reports()[name].items()}
        out.append(Input(name, files, commands))
    return out


@cache
def dialects() -> Sequence[Input]:
    run = ("run", "--jobs", "1", "--scenario", "ties", "--environment", "plain", "--dialect", "{folder}/dialect.json")
    shipped = REPOSITORY / "reference/sds_reference/testee"
    files = [path for path in shipped.rglob("*.json") if "nim" in path.name]
    return [
        Input(path.name, {"dialect.json": path.read_bytes()}, [(*run, "--", *SDS), ("smoke", *run[-2:], "--", *SDS)])
        for path in files
    ]


@cache
def corpora() -> Sequence[Input]:
    from recorded_corpora import order_of, record_here

    with tempfile.TemporaryDirectory() as folder:
        root = record_here(Path(folder), order_of(schedules=3), twins=True, per_shard=2)
        files = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    commands = [
        ("corpus", "show", "{folder}", "0", "--out", "{out}"),
        ("corpus", "check", "{folder}", "--everything", "--json"),
        ("corpus", "diff", "{folder}", "{valid}", "--out", "{out}/d"),
    ]
    return [Input("sds", files, commands)]
