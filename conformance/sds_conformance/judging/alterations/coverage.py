"""Records which statements of a model each run of each configuration executes, and what the model answers.

A fault can show only where its statement is executed. So all scenarios are played in each configuration with a copy of
the model that records the executed statements of its functions. Nothing is judged.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sds_harness.environment import PLAIN

from ..plan import Plan, plan
from ..registry import Run
from ..rules import Rules
from .copies import importable_copy
from .places import AlterationPlace, read_module_text
from .source import Configuration, ModelSource
from .timed_run import HashingLink, play

_MARK = "__executed__"

Statements = Mapping[tuple[str, int], int]
"""Maps the module and line of each statement in a function to the number of the statement."""


@dataclass(frozen=True)
class RunCoverage:
    """The statements that the unchanged model executes in one run of a configuration, and its answers."""

    run: str
    steps: int
    answers: bytes
    """Hash of all answers of the model. If an altered model gives the same answers, its run is not judged."""
    executed: int
    """The executed statements, as a bit mask."""


@dataclass(frozen=True)
class StatementCoverage:
    """The statements that each configuration executes."""

    statements: Statements
    reaches: Mapping[Configuration, Sequence[RunCoverage]]
    """The runs of each configuration, those with the fewest steps first."""
    functions: Mapping[tuple[str, str], int]
    """Maps module and name of each function to its statements, as a bit mask."""

    @classmethod
    def of_runs(cls, source: ModelSource, reaches: Mapping[Configuration, Sequence[RunCoverage]]) -> StatementCoverage:
        statements, functions = number_statements(source)
        return cls(statements, reaches, functions)

    def find_reaching(self, place: AlterationPlace) -> list[tuple[Configuration, list[RunCoverage]]]:
        """Return the configurations that execute a place, each with the runs that execute it.

        Configurations that execute the same statements of the function form a group, because they probably find the
        same faults. The first configuration of each group comes before all others. Code outside of functions is always
        executed; its groups execute the same statements of the module.
        """
        bit = 1 << self.statements[place.module, place.statement] if place.statement else -1
        within = self.functions.get((place.module, place.function), 0) or self._bits_of_module(place.module)
        kinds: Counter[int] = Counter()
        found: list[tuple[int, Configuration, list[RunCoverage]]] = []
        for configuration, reaches in self.reaches.items():
            if runs := [reach for reach in reaches if reach.executed & bit]:
                kind = self._bits_of_configurations[configuration] & within
                kinds[kind] += 1
                found.append((kinds[kind], configuration, runs))
        return [(configuration, runs) for _, configuration, runs in sorted(found, key=lambda one: one[0])]

    def _bits_of_module(self, module: str) -> int:
        return sum(1 << number for (of, _), number in self.statements.items() if of == module)

    @cached_property
    def _bits_of_configurations(self) -> dict[Configuration, int]:
        """Maps each configuration to the statements that it executes, as a bit mask."""
        out = dict.fromkeys(self.reaches, 0)
        for configuration, reaches in self.reaches.items():
            for reach in reaches:
                out[configuration] |= reach.executed
        return out


def number_statements(source: ModelSource) -> tuple[Statements, Mapping[tuple[str, str], int]]:
    """Number the statements of the functions in all modules of the protocol. Also map module and name of each function
    to its statements, as a bit mask.
    """
    known: dict[tuple[str, int], int] = {}
    functions: dict[tuple[str, str], int] = {}
    for module in source.modules:
        for name, function in _functions(ast.parse(read_module_text(source.package, module))).items():
            for line in (lines := _lines(function)):
                known.setdefault((module, line), len(known))
            functions[module, name] = sum(1 << known[module, line] for line in lines)
    return known, functions


def _functions(tree: ast.AST, within: str = "") -> dict[str, ast.FunctionDef]:
    """Return the functions and methods below ``tree``, by name, such as ``Class.method``."""
    out: dict[str, ast.FunctionDef] = {}
    for node in ast.iter_child_nodes(tree):
        name = f"{within}.{node.name}".lstrip(".") if isinstance(node, ast.FunctionDef | ast.ClassDef) else within
        if isinstance(node, ast.FunctionDef):
            out[name] = node
        if isinstance(node, ast.stmt):
            out |= _functions(node, name)
    return out


def _lines(function: ast.FunctionDef) -> set[int]:
    """Return the line numbers of the statements of a function."""
    return {node.lineno for node in ast.walk(function) if isinstance(node, ast.stmt) and node is not function}


def measure_coverage(rules: Rules, source: ModelSource, configuration: Configuration) -> list[RunCoverage]:
    """Play a configuration and record the executed statements."""
    known, _ = number_statements(source)
    executed: set[int] = set()
    marked = {module: _mark_statements(source.package, module, known) for module in source.modules}
    out = []
    with importable_copy(source.package, marked, {_MARK: executed.add}) as package:
        for run in runs_of(rules, configuration):
            executed.clear()
            link = HashingLink(source.start(package, configuration))
            trace, _ = play(rules, configuration, link, run)
            bits = sum(1 << number for number in executed)
            out.append(RunCoverage(run.name, len(trace.steps) if trace else 0, link.answers, bits))
    return sorted(out, key=lambda reach: reach.steps)


def plan_of(rules: Rules, configuration: Configuration) -> Plan:
    """Select the requirements and runs of a configuration."""
    c = configuration
    return plan(rules, profile=c.profile, revision=c.revision, environments=[c.environment])


def runs_of(rules: Rules, configuration: Configuration) -> list[Run]:
    """Return the runs of a configuration, with long scenarios only in the plain environment."""
    plain = configuration.environment == PLAIN.name
    return [run for run in plan_of(rules, configuration).runs if plain or not run.scenario.long]


def _mark_statements(package: str, module: str, known: Statements) -> ast.Module:
    """Return the syntax tree of a module with a mark before each statement of its functions. Remove caches, because a
    cached call executes no statements.
    """
    tree = ast.parse(read_module_text(package, module))
    for function in _functions(tree).values():
        function.decorator_list = [one for one in function.decorator_list if "cache" not in ast.unparse(one)]
    for function in _functions(tree).values():
        for node in [function, *(inner for inner in ast.walk(function) if isinstance(inner, ast.stmt))]:
            for field in ("body", "orelse", "finalbody"):
                if isinstance(body := getattr(node, field, None), list):
                    setattr(node, field, _insert_marks(body, module, known))
            for handler in getattr(node, "handlers", ()):
                handler.body = _insert_marks(handler.body, module, known)
    return ast.fix_missing_locations(tree)


def _insert_marks(body: list[ast.stmt], module: str, known: Statements) -> list[ast.stmt]:
    out: list[ast.stmt] = []
    for statement in body:
        mark = ast.Call(ast.Name(_MARK, ast.Load()), [ast.Constant(known[module, statement.lineno])], [])
        out += [ast.copy_location(ast.Expr(mark), statement), statement]
    return out
