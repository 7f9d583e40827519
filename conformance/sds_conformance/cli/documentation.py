"""The pages of ``docs``: files of the checkout, which the wheel has under the same paths in ``documents``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_CHECKOUT = Path(__file__).parents[3]
_INSTALLED = Path(__file__).parents[1] / "documents"
_PACKAGES = Path(__file__).parents[2]
_SOURCES = "reference/"


@dataclass(frozen=True)
class DocPage:
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
    "adapter": DocPage("harness/adapters/README.md", "how an implementation is driven, and what to declare"),
    "tutorial": DocPage("harness/adapters/TUTORIAL.md", "from a checkout to a certificate"),
    "protocol": DocPage("harness/adapters/PROTOCOL.md", "the testee protocol of SDS, message by message"),
    "proto": DocPage("proto/sds/testee/v1/testee.proto", "the testee protocol of SDS, as protobuf"),
    "request-schema": DocPage("reference/sds_proto/testee/v1/request.schema.json", "JSON Schema of a request of SDS"),
    "reply-schema": DocPage("reference/sds_proto/testee/v1/reply.schema.json", "JSON Schema of a reply of SDS"),
    "clearskies-protocol": DocPage(
        "harness/adapters/PROTOCOL-CLEARSKIES.md", "the testee protocol of ClearSkies, message by message"
    ),
    "clearskies-proto": DocPage(
        "proto/clearskies/testee/v1/testee.proto", "the testee protocol of ClearSkies, as protobuf"
    ),
    "clearskies-request": DocPage(
        "reference/clearskies_proto/testee/v1/request.schema.json", "JSON Schema of a request of ClearSkies"
    ),
    "clearskies-reply": DocPage(
        "reference/clearskies_proto/testee/v1/reply.schema.json", "JSON Schema of a reply of ClearSkies"
    ),
    "wire": DocPage("proto/sds/wire/v2026_01/message.proto", "the messages of SDS, as protobuf"),
    "wire-forum-2024": DocPage("proto/sds/wire/forum_2024/message.proto", "the messages of the proposal of 2024"),
    "commands": DocPage("docs/commands.md", "all commands by purpose, and optional packages"),
    "reading-a-report": DocPage("docs/reading-a-report.md", "the parts of a report and of a finding, and transcripts"),
    "glossary": DocPage("docs/glossary.md", "the words of the suite"),
    "verdicts": DocPage("docs/verdicts.md", "verdicts, severity, positions and exit codes"),
    "baselines": DocPage("docs/baselines.md", "a file of known failures, which do not fail CI"),
    "certificate": DocPage("docs/certificate.md", "what certificates mean, and how to verify them"),
    "ci": DocPage("docs/ci.md", "GitHub, GitLab and other CIs"),
    "compare-releases": DocPage("docs/compare-releases.md", "how to compare releases and implementations"),
    "positions": DocPage("docs/contest-a-position.md", "what a position means, and how to object to a position"),
    "pytest": DocPage("docs/pytest.md", "the suite as pytest items"),
    "transports": DocPage("docs/transports.md", "JSON lines, binary frames, gRPC, dialects and timeouts"),
    "environments": DocPage("docs/environments.md", "the eight environments, and the system clock"),
    "refusals": DocPage("docs/refusals-and-limits.md", "the meaning of refusals, and what a limit excuses"),
    "scenario-files": DocPage("docs/scenario-files.md", "test cases of your own as YAML or JSON files"),
    "fuzz-and-exhaust": DocPage("docs/fuzz-and-exhaust.md", "generated schedules, and all schedules of a small group"),
    "limits": DocPage("docs/limits.md", "the sizes at which an implementation breaks"),
    "interop": DocPage("docs/interop.md", "several implementations in one group"),
    "corpora": DocPage("docs/corpora.md", "record traces of many schedules, judge or compare them"),
    "cluster": DocPage("docs/corpora-on-a-cluster.md", "spark-submit, clusters and object stores"),
    "corpora-at-scale": DocPage("docs/corpora-at-scale.md", "how corpora are stored, judged and compared"),
    "revisions": DocPage("docs/revisions.md", "the revisions of SDS, and the ClearSkies extension"),
    "selftest": DocPage("docs/selftest.md", "how the suite proves that its checks work"),
    "threat-model": DocPage("docs/threat-model.md", "trusted parties, bounds on untrusted input, open attacks"),
    "vectors": DocPage("vectors/README.md", "the golden vectors: groups, fields, versions"),
    "plain-vectors": DocPage("docs/vectors-without-python.md", "the vectors in tests of any language"),
    "completion": DocPage("docs/completion.md", "completion of the command line in bash, zsh and fish"),
    "corpus": DocPage("harness/sds_harness/corpus/FORMAT.md", "what is in a stored corpus"),
}
"""The pages by their names, as in `docs PAGE`."""


def root() -> Path:
    """Return the folder to which paths of pages are relative: the checkout, or else the installed documents."""
    return _CHECKOUT if (_CHECKOUT / "harness" / "adapters").is_dir() else _INSTALLED
