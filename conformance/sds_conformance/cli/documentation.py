"""The pages of ``docs``: files of the checkout, which the wheel has under the same paths in ``documents``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_CHECKOUT = Path(__file__).parents[3]
_INSTALLED = Path(__file__).parents[1] / "documents"
_PACKAGES = Path(__file__).parents[2]
_SOURCES = "reference/"


@dataclass(frozen=True)
class Page:
    """A page of the documentation."""

    path: str
    """Path in a checkout."""
    summary: str
    """Topic of the page, in a phrase."""

    @property
    def file(self) -> Path:
        """Path of the page on this machine. An installed page that is a file of the reference is read from the package
        of the reference; ``documents`` has no copy.
        """
        own = root() == _INSTALLED and self.path.startswith(_SOURCES)
        return _PACKAGES / self.path.removeprefix(_SOURCES) if own else root() / self.path


PAGES = {
    "adapter": Page("harness/adapters/README.md", "how an implementation is driven, and what to declare"),
    "tutorial": Page("harness/adapters/TUTORIAL.md", "from a checkout to a certificate"),
    "protocol": Page("harness/adapters/PROTOCOL.md", "the testee protocol of SDS, message by message"),
    "proto": Page("proto/sds/testee/v1/testee.proto", "the testee protocol of SDS, as protobuf"),
    "request-schema": Page("reference/sds_proto/testee/v1/request.schema.json", "JSON Schema of a request of SDS"),
    "reply-schema": Page("reference/sds_proto/testee/v1/reply.schema.json", "JSON Schema of a reply of SDS"),
    "clearskies-protocol": Page(
        "harness/adapters/PROTOCOL-CLEARSKIES.md", "the testee protocol of ClearSkies, message by message"
    ),
    "clearskies-proto": Page(
        "proto/clearskies/testee/v1/testee.proto", "the testee protocol of ClearSkies, as protobuf"
    ),
    "clearskies-request": Page(
        "reference/clearskies_proto/testee/v1/request.schema.json", "JSON Schema of a request of ClearSkies"
    ),
    "clearskies-reply": Page(
        "reference/clearskies_proto/testee/v1/reply.schema.json", "JSON Schema of a reply of ClearSkies"
    ),
    "wire": Page("proto/sds/wire/v2026_01/message.proto", "the messages of SDS, as protobuf"),
    "wire-forum-2024": Page("proto/sds/wire/forum_2024/message.proto", "the messages of the proposal of 2024"),
    "commands": Page("docs/commands.md", "all commands by purpose, and optional packages"),
    "reading-a-report": Page("docs/reading-a-report.md", "the parts of a report and of a finding, and transcripts"),
    "glossary": Page("docs/glossary.md", "the words of the suite"),
    "verdicts": Page("docs/verdicts.md", "verdicts, severity, positions and exit codes"),
    "baselines": Page("docs/baselines.md", "a file of known failures, which do not fail CI"),
    "certificate": Page("docs/certificate.md", "what certificates mean, and how to verify them"),
    "ci": Page("docs/ci.md", "GitHub, GitLab and other CIs"),
    "compare-releases": Page("docs/compare-releases.md", "how to compare releases and implementations"),
    "positions": Page("docs/contest-a-position.md", "what a position means, and how to object to a position"),
    "pytest": Page("docs/pytest.md", "the suite as pytest items"),
    "transports": Page("docs/transports.md", "JSON lines, binary frames, gRPC, dialects and timeouts"),
    "environments": Page("docs/environments.md", "the eight environments, and the system clock"),
    "refusals": Page("docs/refusals-and-limits.md", "the meaning of refusals, and what a limit excuses"),
    "scenario-files": Page("docs/scenario-files.md", "test cases of your own as YAML or JSON files"),
    "fuzz-and-exhaust": Page("docs/fuzz-and-exhaust.md", "generated schedules, and all schedules of a small group"),
    "limits": Page("docs/limits.md", "the sizes at which an implementation breaks"),
    "interop": Page("docs/interop.md", "several implementations in one group"),
    "corpora": Page("docs/corpora.md", "record traces of many schedules, judge or compare them"),
    "cluster": Page("docs/corpora-on-a-cluster.md", "spark-submit, clusters and object stores"),
    "corpora-at-scale": Page("docs/corpora-at-scale.md", "how corpora are stored, judged and compared"),
    "revisions": Page("docs/revisions.md", "the revisions of SDS, and the ClearSkies extension"),
    "selftest": Page("docs/selftest.md", "how the suite proves that its checks work"),
    "threat-model": Page("docs/threat-model.md", "trusted parties, bounds on untrusted input, open attacks"),
    "vectors": Page("vectors/README.md", "the golden vectors: groups, fields, versions"),
    "plain-vectors": Page("docs/vectors-without-python.md", "the vectors in tests of any language"),
    "completion": Page("docs/completion.md", "completion of the command line in bash, zsh and fish"),
    "corpus": Page("harness/sds_harness/corpus/FORMAT.md", "what is in a stored corpus"),
}
"""The pages by their names, as in `docs PAGE`."""


def root() -> Path:
    """Return the folder to which paths of pages are relative: the checkout, or else the installed documents."""
    return _CHECKOUT if (_CHECKOUT / "harness" / "adapters").is_dir() else _INSTALLED
