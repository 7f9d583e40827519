"""``sds-conformance selftest``."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NoReturn

import click
from rich.console import Console
from rich.text import Text

from sds_harness.resources import usable_jobs
from sds_testee.composition import JOINT

from ..exploration.hunt import EXAMPLES
from ..judging.catalogue import Requirement
from ..judging.declarations import BROKEN, HONEST, DeclarationResults, Declared, declarations, examine_declaration
from ..judging.exercise import (
    OTHER_SHARE,
    QUICK_SHARE,
    MutantResult,
    VariantResult,
    compare_codes,
    examine_mutant,
    examine_variant,
    outdated_consequences,
    unguarded_requirements,
    unproven_checks,
)
from ..judging.exits import Exit
from ..judging.formats import format_count
from ..judging.known_runs import KnownRuns
from ..judging.mixtures import Mixture, examine_mixture
from ..judging.mixtures import are_separated as tells_apart
from ..judging.registry import Check
from ..presentation.story import plain_table, unwrapped_column
from ..protocols import Protocol, default, protocols
from .files import require_folders, write_file
from .generated import generated_faults
from .hunt import hunt_faults
from .model_campaigns import (
    markdown_rows,
    match_globs,
    processes,
    unknown_name_error,
)
from .name_types import NameChoice, Pattern
from .options import console, jobs_here, optional_revision, which_seed
from .output_filter import print_json
from .paths import OUTPUT_FILE
from .progress import with_progress

_CAPABILITIES = dict.fromkeys(
    name for p in protocols() for name, number in p.rules.language.capabilities.items() if number
)

_EPILOG = """
\b
Examples:
  sds-conformance selftest
  sds-conformance selftest --quick
  sds-conformance selftest --only 'ties-*'
  sds-conformance selftest --without observe --without filter-codec
  sds-conformance selftest --declarations 2000 --seed 1
  sds-conformance selftest --mixtures 200 --seed 1
  sds-conformance selftest --markdown kill-table.md
  sds-conformance selftest --json > kill-table.json
  sds-conformance selftest --generated
  sds-conformance selftest --generated --sample 100 --seed 7
  sds-conformance selftest --generated --only 'channel.Channel.tick:*'
  sds-conformance selftest --hunt --only 'ties-*'
  sds-conformance selftest --hunt --revision forum-2024 --markdown hunt.md
"""


VARIANT_EXAMPLES = 100
"""Number of generated schedules for each legal variant."""
DECLARATIONS = 40
"""Number of declarations of each protocol in a complete self-test."""
QUICK_DECLARATIONS = 20
"""Number of declarations of each protocol in a quick self-test."""
MIXTURES = 60
"""Number of models with several faults in a complete self-test."""
QUICK_MIXTURES = 5
"""Number of models with several faults in a quick self-test."""
HONEST_DECLARATIONS = 12
"""Maximum number of declarations with which the unchanged model is played. This takes ten times as long as playing a
broken model, which stops at the first failure. At most a third of the declarations are played with it.
"""

Named = tuple[str, str]
"""Names of a protocol and of one of its mutants or variants. The protocol is needed because two protocols can have
mutants of the same name."""


@dataclass(frozen=True)
class SelfTestProof:
    """The results of all mutants and variants."""

    mutants: list[MutantResult]
    variants: list[VariantResult]
    unguarded: list[str] = field(default_factory=list)
    """Requirements that have a check but no mutant."""
    outdated: list[str] = field(default_factory=list)
    """Declared consequences that no mutant shows."""
    declarations: list[DeclarationResults] = field(default_factory=list)
    """Results of random declarations, each played with broken models."""
    mixtures: list[Mixture] = field(default_factory=list)
    """Models with several faults, each with the root causes that were reported."""
    unshown: list[str] = field(default_factory=list)
    """Codes of the catalogue that no mutant shows."""
    unlisted: list[str] = field(default_factory=list)
    """Codes that mutants show and the catalogue does not list."""
    unproven: list[Check] = field(default_factory=list)
    """Checks that reject no mutant of their requirement."""
    interrupted: bool = False
    """True if an interrupt ended the self-test, so that the remaining mutants and variants were not played."""
    quick: bool = False
    """True if mutants and legal variants played only a share of the scenarios, see `OTHER_SHARE` and `QUICK_SHARE`."""

    @property
    def accepted_count(self) -> int:
        return sum(not acceptance.refused for acceptance in self.variants)

    @property
    def complete(self) -> bool:
        wrong = any(kill.has_survived or kill.unexplained or kill.overdue for kill in self.mutants)
        wrong |= not all(examined.is_sound for examined in self.declarations) or not tells_apart(self.mixtures)
        wrong |= self.accepted_count < len(self.variants)
        return not (wrong or self.outdated or self.unguarded or self.unlisted)

    @property
    def totals(self) -> str:
        """One line with the numbers of killed mutants, of accepted variants and of the other results."""
        skipped = sum(bool(kill.skipped) for kill in self.mutants)
        pending = sum(bool(kill.pending) for kill in self.mutants)
        killed = sum(kill.killed for kill in self.mutants)
        parts = []
        if self.mutants:
            parts += [f"{killed} of {format_count(len(self.mutants), 'mutant')} killed by their requirement"]
        parts += [f"{pending} pending"] if pending else []
        parts += [f"{skipped} skipped"] if skipped else []
        if self.variants:
            parts += [f"{self.accepted_count} of {format_count(len(self.variants), 'legal variant')} accepted"]
        if self.quick and self.variants:
            parts += [f"each variant played one in {QUICK_SHARE} long scenarios"]
        if self.quick and self.mutants:
            parts += [f"each mutant played one in {OTHER_SHARE} scenarios of other requirements"]
        if self.declarations:
            seen_through = sum(examined.is_sound for examined in self.declarations)
            parts += [f"with {seen_through} of {len(self.declarations)} declarations, every broken model was found"]
        if self.mixtures:
            found, faults = sum(one.found for one in self.mixtures), sum(len(one.faults) for one in self.mixtures)
            effects = sum(len(one.effects) for one in self.mixtures)
            roots = sum(len(one.roots) for one in self.mixtures)
            parts += [
                f"{found} of {faults} combined faults are root causes in the report, "
                f"{effects} of {roots} root causes are only effects"
            ]
        parts += ["interrupted: the rest was not played"] if self.interrupted else []
        return ", ".join(parts) + "."


@click.command("selftest", epilog=_EPILOG)
@click.option(
    "--only",
    multiple=True,
    metavar="GLOB",
    type=Pattern("mutants", "variants"),
    help="Play only these mutants and variants; repeatable.",
)
@click.option(
    "--without",
    multiple=True,
    type=NameChoice(list(_CAPABILITIES), case_sensitive=False),
    metavar="CAPABILITY",
    help="Declare this capability in no run, for example observe; repeatable.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=usable_jobs,
    show_default="processors",
    callback=jobs_here,
    help="Number of processes.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@click.option(
    "--markdown", "write", type=OUTPUT_FILE, metavar="FILE", help="Also write the tables to FILE, as Markdown."
)
@click.option(
    "--quick",
    is_flag=True,
    help=f"Play each legal variant in only one in {QUICK_SHARE} of the long scenarios, "
    f"and each mutant in only one in {OTHER_SHARE} of the scenarios that are not written for its requirement.",
)
@click.option(
    "--generated",
    is_flag=True,
    help="Play faults that are generated from the source of the model; --only then selects places in the source.",
)
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="Play N generated faults, drawn at random.")
@click.option(
    "--declarations",
    "drawn",
    type=click.IntRange(min=1),
    metavar="N",
    help="Try only N declarations of each protocol, each with a deaf, a mute and a forgetful model.",
)
@click.option(
    "--mixtures",
    "mixed",
    type=click.IntRange(min=1),
    metavar="N",
    help="Try only N models of SDS, each with three faults at once.",
)
@click.option("--hunt", "hunted", is_flag=True, help="Play generated schedules instead of scenarios.")
@click.option(
    "--schedules",
    "examples",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"With --hunt: maximum number of schedules for each mutant.  [default: {EXAMPLES}]",
)
@click.option(
    "--variant-schedules",
    "variant_examples",
    type=click.IntRange(min=0),
    metavar="N",
    help=f"With --hunt: number of schedules for each legal variant.  [default: {VARIANT_EXAMPLES}]",
)
@optional_revision(
    "With --hunt: play the mutants of this revision. Default: all mutants of SDS, each in its own revision."
)
@which_seed("Seed of all random choices; `random` draws a seed and prints it.")
def selftest_command(
    only: tuple[str, ...],
    without: tuple[str, ...],
    jobs: int,
    as_json: bool,
    write: Path | None,
    quick: bool,
    generated: bool,
    sample: int | None,
    drawn: int | None,
    mixed: int | None,
    hunted: bool,
    examples: int | None,
    variant_examples: int | None,
    revision: str | None,
    seed: int,
) -> None:
    """Prove that the checks reject faults and accept legal choices.

    Each mutant is the reference model with one fault, and the check of the violated requirement must reject it. A
    mutant may fail other requirements only if the catalogue declares them as consequences. Each legal variant must pass
    all checks. A pending mutant is not rejected yet, for a reason that the table gives; once it is rejected, the
    self-test fails until the mark is removed.

    Declarations of capabilities are drawn at random. With each, a model that ignores every message (deaf), sends none
    (mute) or stores none (forgetful) must fail. With some of them, the reference model is played and must pass.
    --declarations N plays only N declarations of each protocol, and no mutants.

    Models with three faults at once are drawn at random. 93 % of their faults must be separate root causes, and at most
    6 % of the root causes may be effects of other faults, with an allowance for chance. --mixtures N plays only N such
    models.

    --quick takes a third of the time. Each mutant then plays only some of the scenarios that are not written for its
    requirement, and each legal variant only some of the long scenarios, which have a thousand messages or many
    participants. The name of a mutant or variant selects its scenarios, so that every scenario is played by some of
    them. Fewer models with three faults are drawn.

    --generated derives faults from the source of the model, by rules, and plays each in the revisions and legal
    variants that execute its line. Faults that nothing finds are listed.

    --hunt plays generated schedules with each mutant until a schedule finds the fault. This schedule is then shrunk.
    Legal variants play generated schedules as well, and no finding is allowed.
    """
    out, err = console(), console(stderr=True)
    if hunted:
        if without or quick or generated or sample or drawn or mixed:
            raise click.UsageError(
                "--hunt cannot be combined with --without, --quick, --generated, --sample, --declarations or --mixtures"
            )
        some = VARIANT_EXAMPLES if variant_examples is None else variant_examples
        code = hunt_faults(
            out, err, only, examples or EXAMPLES, some, seed, revision or "", jobs, write, as_json=as_json
        )
        sys.exit(code)
    if examples is not None or variant_examples is not None or revision is not None:
        raise click.UsageError("--schedules, --variant-schedules and --revision need generated schedules: add --hunt")
    if generated:
        if without or write or quick:
            raise click.UsageError(
                "--without, --markdown and --quick do not apply to --generated: leave out these options"
            )
        sys.exit(generated_faults(out, err, only, sample, seed, jobs, as_json=as_json))
    if sample is not None:
        raise click.UsageError("--sample needs --generated: add it")
    for option, number in (("--declarations", drawn), ("--mixtures", mixed)):
        if number is not None and (only or without or write or quick):
            raise click.UsageError(
                f"{option} can only be combined with --seed, --jobs and --json: omit all other options"
            )
    whole = not only and not without
    if write and not whole:
        raise click.UsageError("--markdown lists all mutants and variants: leave out --only and --without")
    require_folders(write)
    if drawn is not None or mixed is not None:
        proof = SelfTestProof([], [])
        interrupted = True
        with suppress(KeyboardInterrupt):
            _try_declarations(proof, err, drawn or 0, seed, jobs)
            _try_mixtures(proof, err, mixed or 0, seed, jobs)
            interrupted = False
        _end(out, replace(proof, interrupted=interrupted), as_json=as_json)
    mutants = [(p.name, name) for p in protocols() for name in match_globs(p.model.mutants, only)]
    variants = [(p.name, name) for p in protocols() for name in match_globs(p.model.variants, only)]
    if not mutants and not variants:
        raise unknown_name_error(only, [name for p in protocols() for name in (*p.model.mutants, *p.model.variants)])
    proof = run_self_test(err, mutants, variants, frozenset(without), jobs, whole=whole, quick=quick)
    if write is not None and not proof.interrupted:
        write_file(write, markdown(proof))
    _end(out, proof, as_json=as_json)


def _end(out: Console, proof: SelfTestProof, *, as_json: bool) -> NoReturn:
    if as_json:
        print_json(_as_json(proof))
    else:
        _show(out, proof)
    if proof.interrupted:
        sys.exit(Exit.INTERRUPTED)
    sys.exit(Exit.CONFORMANT if proof.complete else Exit.NON_CONFORMANT)


def run_self_test(
    err: Console,
    mutants: list[Named],
    variants: list[Named],
    without: frozenset[str],
    jobs: int,
    *,
    whole: bool,
    quick: bool,
) -> SelfTestProof:
    """Run all mutants and variants, each with its own protocol. Gaps in coverage are reported only if the lists are
    complete (``whole``) and no interrupt ended the self-test.
    """
    proof = SelfTestProof([], [], quick=quick)
    kills, acceptances = proof.mutants, proof.variants
    interrupted = True
    with suppress(KeyboardInterrupt):
        with processes(jobs) as pool:
            killing = pool.map(partial(_mutant, without=without, quick=quick), mutants)
            accepting = pool.map(partial(_variant, without=without, quick=quick), variants)
            for kill in with_progress(err, "mutants", killing, len(mutants)):
                kills.append(kill)
            for acceptance in with_progress(err, "legal variants", accepting, len(variants)):
                acceptances.append(acceptance)
        if whole:
            _try_declarations(proof, err, QUICK_DECLARATIONS if quick else DECLARATIONS, 0, jobs)
            _try_mixtures(proof, err, QUICK_MIXTURES if quick else MIXTURES, 0, jobs)
        interrupted = False
    if interrupted or not whole:
        return replace(proof, interrupted=interrupted)
    everything = protocols()
    open_ends = [name for p in everything for name in unguarded_requirements(p.rules, p.model)]
    unproved = [check for p in everything for check in unproven_checks(p.rules, kills)]
    codes = [compare_codes(p.rules, kills) for p in everything]
    never, unlisted = ([code for both in codes for code in both[side]] for side in (0, 1))
    proof = replace(proof, unguarded=open_ends, unproven=unproved, unlisted=unlisted)
    if quick:
        return proof  # the scenarios that were not played may show the missing codes and consequences
    past = [row for p in everything for row in outdated_consequences(p.rules, kills)]
    return replace(proof, outdated=past, unshown=never)


def _try_mixtures(proof: SelfTestProof, err: Console, count: int, seed: int, jobs: int) -> None:
    """Play ``count`` models of SDS with several faults each, and add the results to ``proof``."""
    if not count:
        return
    protocol = default()
    with processes(jobs) as pool:
        found = pool.map(partial(_mixture, protocol.name, seed), range(count))
        for one in with_progress(err, "models with several faults", found, count):
            if one is not None:
                proof.mixtures.append(one)


def _try_declarations(proof: SelfTestProof, err: Console, count: int, seed: int, jobs: int) -> None:
    """Play ``count`` declarations of each protocol whose model can be played with any declaration, and add the
    results to ``proof``.
    """
    if not count:
        return
    drawn = [
        (protocol.name, number < min(HONEST_DECLARATIONS, count // 3), declared)
        for protocol in protocols()
        if protocol.model.start_in_dialect is not None
        for number, declared in enumerate(declarations(protocol.rules, count, seed))
    ]
    with processes(jobs) as pool:
        for one in with_progress(err, "declarations", pool.map(_declaration, drawn), len(drawn)):
            proof.declarations.append(one)


def _declaration(drawn: tuple[str, bool, Declared]) -> DeclarationResults:
    name, with_honest, declared = drawn
    protocol = _protocol(name)
    how = (HONEST, *BROKEN) if with_honest else BROKEN
    examined: DeclarationResults = examine_declaration(protocol.rules, protocol.model, name, declared, how)
    return examined


def _mixture(name: str, seed: int, number: int) -> Mixture | None:
    protocol = _protocol(name)
    return examine_mixture(protocol.rules, protocol.model, name, seed, number, _KNOWN)


_KNOWN = KnownRuns()
"""Results of recent runs in this worker process, see `KnownRuns`."""


def _mutant(named: Named, without: frozenset[str], *, quick: bool) -> MutantResult:
    protocol = _protocol(named[0])
    left_out = _numbers(protocol, without)
    return examine_mutant(protocol.rules, protocol.model, named[1], left_out, _KNOWN, quick=quick)


def _variant(named: Named, without: frozenset[str], *, quick: bool) -> VariantResult:
    protocol = _protocol(named[0])
    left_out = _numbers(protocol, without)
    return examine_variant(protocol.rules, protocol.model, named[1], left_out, _KNOWN, quick=quick)


def _protocol(name: str) -> Protocol:
    return next(protocol for protocol in protocols() if protocol.name == name)


def _numbers(protocol: Protocol, names: Iterable[str]) -> frozenset[int]:
    known = protocol.rules.language.capabilities
    return frozenset(known[name] for name in names if name in known)


# ---- For machines ------------------------------------------------------------------------------------------------


def _as_json(proof: SelfTestProof) -> dict[str, object]:
    unproven = [{"requirement": check.requirement, "check": check.name} for check in proof.unproven]
    return asdict(replace(proof, unproven=[])) | {"unproven": unproven}


# ---- On a terminal -----------------------------------------------------------------------------------------------


def _show(out: Console, proof: SelfTestProof) -> None:
    table = plain_table(unwrapped_column("Mutant"), unwrapped_column("Requirement"), "Verdict", right=("Others",))
    for kill in sorted(proof.mutants, key=lambda k: (not (k.has_survived or k.overdue), k.killed, k.requirement)):
        style = "bold red" if kill.has_survived or kill.overdue else "green" if kill.killed else "dim"
        table.add_row(kill.mutant, kill.requirement, Text(_verdict_text(kill), style), str(len(kill.also) or "·"))
    if proof.mutants:
        out.print(table)
        out.print()
    table = plain_table(unwrapped_column("Legal variant"), unwrapped_column("Passed"), "Verdict")
    for acceptance in proof.variants:
        style = "bold red" if acceptance.refused else "green"
        table.add_row(acceptance.variant, str(acceptance.passed), Text(_answer(acceptance), style))
    if proof.variants:
        out.print(table)
        out.print()
    sound = "yellow" if proof.interrupted else "bold green"
    out.print(proof.totals, style=sound if proof.complete else "bold red")
    for sentence, style in _sentences(proof):
        out.print(sentence, style=style)


def _sentences(proof: SelfTestProof) -> Iterator[tuple[str, str]]:
    """Yield what is wrong, in red, and what is only remarkable, in yellow."""
    wrong, notable = "bold red", "yellow"
    if alive := ", ".join(kill.mutant for kill in proof.mutants if kill.has_survived):
        yield f"Alive: {alive}", wrong
    if overdue := ", ".join(kill.mutant for kill in proof.mutants if kill.overdue):
        yield f"Marked as pending, but rejected by the check of its requirement: {overdue}. Remove the mark.", wrong
    for kill in proof.mutants:
        if others := ", ".join(kill.unexplained):
            undeclared = "which is not declared as a consequence"
            yield f"{kill.mutant} ({kill.requirement}) also fails {others}, {undeclared}", wrong
    for examined in proof.declarations:
        if not examined.is_sound:
            yield f"{examined.protocol}, {examined.declared}: {_describe_suite_faults(examined)}", wrong
    for one in proof.mixtures:
        together = f"{JOINT.join(one.mutants)} together"
        for mutant, fault, root in zip(one.mutants, one.faults, one.found_as, strict=True):
            if not root:
                yield f"{together}: {fault} (the fault of {mutant}) is not reported as a root cause", notable
        if effects := ", ".join(one.effects):
            yield f"{together}: these reported root causes are not faults of the model: {effects}", notable
    for row in proof.outdated:
        yield f"Declared consequence that no run shows: {row}", wrong
    if proof.unguarded:
        yield f"Requirements without a mutant: {', '.join(proof.unguarded)}", wrong
    if proof.unlisted:
        yield f"Codes that the catalogue does not list: {', '.join(proof.unlisted)}", wrong
    if proof.unshown:
        yield f"Codes that no mutant shows: {', '.join(proof.unshown)}", notable
    for title, checks in _list_unproven_checks(proof):
        yield f"{title}: {', '.join(f'{check.name} ({check.requirement})' for check in checks)}", notable


def _describe_suite_faults(examined: DeclarationResults) -> str:
    """Describe the exit codes and findings that show a fault of the suite, in one line."""
    parts = [f"{how} exits {code}" for how, code in examined.broken.items() if code != Exit.NON_CONFORMANT]
    return "; ".join([*parts, *examined.honest])


def _verdict_text(kill: MutantResult) -> str:
    if kill.skipped:
        return f"skipped: {kill.skipped}"
    if kill.pending:
        return f"{kill.verdict}: {'NOT ' if kill.killed else ''}pending"
    return kill.verdict if kill.killed else f"{kill.verdict}: ALIVE" + (" (broke)" if kill.breakdowns else "")


def _answer(acceptance: VariantResult) -> str:
    return "; ".join(acceptance.refused) or "accepted" + (
        f", {acceptance.skipped} skipped" if acceptance.skipped else ""
    )


def _list_unproven_checks(proof: SelfTestProof) -> list[tuple[str, list[Check]]]:
    """Return the checks that reject no mutant of their requirement, for duties and for permissions, each with a
    heading. A permission needs no mutant, because it forbids nothing.
    """
    known = _requirements()
    duties = [check for check in proof.unproven if not known[check.requirement].optional]
    permissions = [check for check in proof.unproven if known[check.requirement].optional]
    named = [
        ("Checks that reject no mutant of their requirement", duties),
        ("Permissions, which nothing can violate", permissions),
    ]
    return [(title, checks) for title, checks in named if checks]


# ---- In a file ---------------------------------------------------------------------------------------------------


_INTRODUCTION = """\
# Self-test

Every check proves that it can fail, and that it accepts what is legal. Each mutant is the reference model with exactly
one fault, and a check of its requirement must reject it. A crash, or a violation of another requirement only, is no
rejection. Each legal variant is the reference model with another choice where the specification leaves one, and must
pass all checks. Declarations are drawn at random (limits at their edges, capabilities left out, private profiles,
dialects). With each of them, a model that ignores every message, sends none or stores nothing must not conform. With
some of them, the unchanged model is played and must conform. A *pending* mutant is not rejected yet, for the reason
given; as soon as it is rejected, the self-test fails until the mark is removed.
"""


def markdown(proof: SelfTestProof) -> str:
    """Render the tables of --markdown. Two runs of the same version of the suite write the same bytes."""
    requirements = _requirements()
    checks_of = {name: checks for p in protocols() for name, checks in p.rules.register.checks.items()}
    order = list(requirements)
    kills = sorted(proof.mutants, key=lambda kill: (order.index(kill.requirement), kill.mutant))
    counts = {
        requirement: sum(kill.requirement == requirement for kill in kills)
        for requirement in order
        if requirement in checks_of
    }
    lines = [_INTRODUCTION, f"**{proof.totals}**", ""]
    lines += markdown_rows(
        "Mutants",
        ("Mutant", "Fault", "Requirement", "Verdict", "Also failed"),
        [(f"`{k.mutant}`", k.summary, k.requirement, _verdict_text(k), _other_requirements(k)) for k in kills],
    )
    waiting = [kill for kill in kills if kill.pending]
    if waiting:
        lines += markdown_rows(
            "Pending mutants",
            ("Pending", "Requirement", "Why the check does not reject the mutant yet"),
            [(k.mutant, k.requirement, k.pending) for k in waiting],
        )
    settled = [kill for kill in kills if not kill.pending]
    alone, beside = sum(not kill.also for kill in settled), [len(kill.also) for kill in settled]
    lines += [
        f"{alone} of {len(settled)} mutants fail only their own requirement. In all, the mutants fail",
        f"{sum(beside)} other requirements (median {statistics.median(beside or [0]):g} per mutant). The table of",
        "consequences gives a reason for each. A requirement in bold has no reason: its check has a defect.",
        "",
        "`fail` is the violation of a MUST, `warn` is the violation of a SHOULD, or of a MUST "
        "that a position softens; `noted` is a",
        "legal deviation that is only noted.",
        "",
    ]
    lines += markdown_rows(
        "Consequences",
        ("A fault in", "May also fail", "Because"),
        [
            (", ".join(row.of), ", ".join(row.fail), row.because)
            for p in protocols()
            for row in p.rules.catalogue.consequences
        ],
    )
    lines += markdown_rows(
        "Legal variants",
        ("Variant", "What it chooses", "Verdict"),
        [(f"`{a.variant}`", a.summary, _answer(a)) for a in sorted(proof.variants, key=lambda a: a.variant)],
    )
    lines += markdown_rows(
        "Mutants of each requirement",
        ("Requirement", "Level", "Checks", "Mutants"),
        [(r, requirements[r].level, str(len(checks_of[r])), str(count)) for r, count in counts.items()],
    )
    for title, checks in _list_unproven_checks(proof):
        lines += [f"{title}:", "", *(f"- `{check.name}` of {check.requirement}" for check in checks), ""]
    return "\n".join(lines).rstrip() + "\n"


def _other_requirements(kill: MutantResult) -> str:
    others = (f"**{other}**" if other in kill.unexplained else other for other in kill.also)
    return ", ".join(others) or "·"


def _requirements() -> dict[str, Requirement]:
    return {name: found for p in protocols() for name, found in p.rules.catalogue.requirements.items()}
