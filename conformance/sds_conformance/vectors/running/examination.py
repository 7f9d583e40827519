"""Runs vectors on an implementation. After a breakdown, a new process runs the next vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from sds_harness.declaration import Declaration
from sds_harness.environment import PLAIN
from sds_harness.faults import TesteeError
from sds_harness.link import Limits
from sds_harness.session import Session
from sds_harness.stage import ScheduleStoppedError

from ...judging.exits import Exit
from ...judging.runner import PATIENCE, Connect
from ..model import Material, Vector
from .subject import Status, VectorResult, VectorSkippedError

SCHEMA_ID = "sds-conformance/vectors-run/1"


@dataclass(frozen=True)
class AnsweredVector:
    """One vector and its answer."""

    group: str
    vector: Vector
    answer: VectorResult
    violated: list[str]
    """The requirements that a wrong answer violates, the most important one first: those that the answer names, or else
    all requirements of the vector.
    """


@dataclass
class Examination:
    """The selected vectors and their results."""

    revision: str
    declaration: Declaration
    answered: list[AnsweredVector] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    """(group, ID) of vectors that were not run: too many breakdowns, an interrupt, or no time left."""
    doubt_data: list[Any] = field(default_factory=list)
    """The result of `Rules.extract_doubt_data` for each trace."""
    interrupted: bool = False
    out_of_time: bool = False
    """The total time was used up before all vectors were run."""

    @property
    def unasked_count(self) -> int:
        return len(self.left_out)

    def count(self, status: Status, group: str | None = None) -> int:
        return sum(a.answer.status is status for a in self.answered if group in (None, a.group))

    @property
    def groups(self) -> list[str]:
        return list(
            dict.fromkeys([*(answered.group for answered in self.answered), *(group for group, _ in self.left_out)])
        )

    def reasons(self, group: str) -> Counter[str]:
        """Count the reasons why vectors of a group were skipped."""
        return Counter(a.answer.reason for a in self.answered if a.group == group and a.answer.status is Status.SKIPPED)

    @property
    def exit_code(self) -> int:
        """Exit code: 0 if all answers are legal; 1 if an answer is not legal, or a breakdown or the time limit
        prevented an answer; 3 if breakdowns prevented all answers; 4 if there are no answers for another reason; 70 for
        an error of the suite; 130 if interrupted.
        """
        if self.interrupted:
            return Exit.INTERRUPTED
        answered = [Status.PASS, Status.ACCEPTABLE, Status.WARN, Status.FAIL]
        if not any(map(self.count, answered)):
            nothing = Exit.OURS if self.count(Status.ERROR) else Exit.NOTHING_EXERCISED
            return Exit.NOT_DRIVEN if self.count(Status.BROKEN) else nothing
        if any(map(self.count, [Status.FAIL, Status.BROKEN])) or self.unasked_count:
            return Exit.NON_CONFORMANT
        return Exit.OURS if self.count(Status.ERROR) else Exit.CONFORMANT


Progress = Callable[[str, int, int], None]
"""Called with the group, the number of vectors that were run, and the total number of vectors."""


class VectorExaminer:
    """Runs vectors on one implementation, and reconnects after a breakdown."""

    def __init__(
        self,
        material: Material,
        connect: Connect,
        limits: Limits,
        revision: str,
        dialect: str | None = None,
        extract: Callable[[Any], Any] = lambda trace: None,
    ) -> None:
        self._material = material
        self._connect = connect
        self._limits = limits
        self._revision = revision
        self._dialect = dialect
        self._extract = extract
        self._session: Session | None = None
        self._remembered: dict[str, str] = {}
        self._stillborn = 0
        """Number of consecutive new processes that failed the handshake."""

    def start(self) -> Declaration:
        """Perform the handshake. Raises TesteeError if the implementation cannot be tested at all."""
        session = self._open()
        # No vector can be run with an unknown dialect.
        self._material.open(session, self._revision, self._dialect, {}).close()
        return session.declaration

    def examine(self, files: Iterable[dict[str, Any]], progress: Progress = lambda *_: None) -> Examination:
        """Run all vectors of the files. After an interrupt, the results so far are kept."""
        out = Examination(self._revision, self.start())
        vectors = [(file["group"], file["shape"], test) for file in files for test in file["tests"]]
        in_a_row: Counter[str] = Counter()
        try:
            for number, (group, shape, test) in enumerate(vectors):
                progress(group, number, len(vectors))
                # Other groups may still work, unless the handshake fails as well.
                if in_a_row[group] >= PATIENCE or self._stillborn >= PATIENCE:
                    out.left_out.append((group, test["id"]))
                    continue
                answer = self._ask(shape, test, out.doubt_data)
                if self._limits.left_s <= 0:
                    out.out_of_time = True
                    out.left_out += [(group, test["id"]) for group, _, test in vectors[number:]]
                    break
                in_a_row[group] = in_a_row[group] + 1 if answer.status is Status.BROKEN else 0
                stated = self._material.select_stated(test["requirements"], [self._revision])
                out.answered.append(AnsweredVector(group, test, answer, list(answer.requirements) or stated))
            self._end(kill=False)
        except KeyboardInterrupt:
            out.interrupted = True
            out.left_out += [(group, test["id"]) for group, _, test in vectors[len(out.answered) + len(out.left_out) :]]
        finally:
            self._end(kill=True)
        return out

    def _ask(self, shape: str, test: Vector, doubt_data: list[Any]) -> VectorResult:
        material = self._material
        if shape not in material.shapes:
            return VectorResult(Status.SKIPPED, reason=f"vectors of shape {shape} cannot be run")
        try:
            session = self._open()
            session.link.note("vector", name=test["id"], revision=self._revision)
            subject = material.open(session, self._revision, self._dialect, self._remembered)
            try:
                answer = soften_result(material, test, material.shapes[shape].ask(subject, test), self._revision)
            except (ScheduleStoppedError, VectorSkippedError) as stopped:
                answer = VectorResult(Status.SKIPPED, reason=str(stopped))
            answer = material.held(subject, test, answer)
            doubt_data += map(self._extract, subject.traces)
            # Not in a `finally`: after an interrupt a reply is outstanding, which would be taken for the reply to the
            # next command.
            subject.close()
            return answer
        except TesteeError as fault:
            self._end(kill=True)
            kind, detail = fault.breakdown.kind.value, fault.breakdown.detail
            return VectorResult(Status.BROKEN, "an answer", f"{kind}: {detail}")
        except Exception as error:  # an error of the suite in one vector must not become a verdict or end the run
            self._end(kill=True)
            return VectorResult(Status.ERROR, reason=f"{type(error).__name__}: {error}")

    def _open(self) -> Session:
        if self._session is None:
            self._stillborn += 1
            self._session = Session(
                lambda: self._connect(PLAIN.variables), self._limits, self._revision, self._material.language
            )
            self._stillborn = 0
        return self._session

    def _end(self, *, kill: bool) -> None:
        session, self._session = self._session, None
        if session is not None:
            if kill:
                session.kill()
                return
            try:
                session.close()
            except TesteeError:
                session.kill()


def soften_result(material: Material, vector: Vector, answer: VectorResult, revision: str) -> VectorResult:
    """Turn a failure into a warning if all violated requirements are SHOULDs, or MUSTs that a position softens."""
    violated = answer.requirements or material.select_stated(vector["requirements"], [revision])
    return replace(answer, status=Status.WARN) if answer.status is Status.FAIL and material.soft(violated) else answer


def select_files(
    files: Iterable[dict[str, Any]], revision: str, groups: Iterable[str] = ()
) -> Iterator[dict[str, Any]]:
    """Yield the files for a revision. If globs of groups are given, yield only the files of matching groups."""
    wanted = list(groups)
    for file in files:
        if revision in file["revisions"] and (not wanted or any(fnmatchcase(file["group"], glob) for glob in wanted)):
            yield file
