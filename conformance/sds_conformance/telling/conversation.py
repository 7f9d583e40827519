"""A conversation on the wire as a person reads it on a terminal: what was done, what came out, and the first bytes."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from ..judging.certification import Certification
from ..judging.registry import scenario_of
from ..judging.verdict import Verdict
from ..protocols import protocol_of
from .evidence import quoted_in
from .story import hanging


def show_conversation(console: Console, requirement_id: str, outcome: Certification) -> None:
    """The wire conversation of the scenario that says most about one requirement, decoded."""
    verdict = next(v for v in outcome.verdicts if v.requirement.id == requirement_id)
    finding = next(iter(sorted(verdict.findings, key=lambda f: f.severity is Verdict.PASS)), None)
    sightings = outcome.sightings.get(requirement_id, {})
    scenarios = outcome.plan.rules.register.scenarios
    declared = {name for name in sightings if requirement_id in scenarios[scenario_of(name)].exercises}
    shown = [outcome.traces[name] for name in declared or sightings if name in outcome.traces]
    name = finding.run if finding else min(shown, key=lambda t: len(t.steps)).schedule if shown else ""
    trace = outcome.traces.get(name) or next(iter(outcome.traces.values()), None)
    if trace is None:
        return
    console.print(Text.assemble(("Conversation", "bold"), f" of {trace.schedule}, T = the start of virtual time"))
    narrator = protocol_of(outcome.plan.revision).words.narrator(trace)
    for step in trace.steps:
        mark = ("> ", "bold red") if finding is not None and step.index == finding.step else ("  ", "")
        head = Text.assemble(mark, (f"{step.index:>3} ", "dim"))
        touched = narrator.touches(step)
        named = quoted_in(f"{finding.expected} {finding.seen}", touched) if finding is not None else frozenset[str]()
        hanging(console, head, Text(narrator.done(step, named)))
        for effect in narrator.came_out(step, named or touched):
            console.print(Padding(Text(effect, "cyan"), (0, 0, 0, 10)))
        for raw in narrator.on_the_wire(step):
            show_hex(console, raw)
    if trace.stopped:
        console.print(Text(f"      stopped: {trace.stopped}", "yellow"))
    console.print()


def show_hex(console: Console, raw: bytes) -> None:
    """The beginning of bytes on the wire."""
    shown = raw[:48].hex(" ", -4)
    more = f" … {len(raw)} bytes" if len(raw) > 48 else ""
    console.print(Padding(Text(shown + more, "dim"), (0, 0, 0, 10)))
