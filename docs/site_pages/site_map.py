"""The places of the pages of the repository on the site, in its four parts."""

from __future__ import annotations

from dataclasses import dataclass

TUTORIAL, HOW_TO, REFERENCE, EXPLANATION = PARTS = ("tutorial", "how-to", "reference", "explanation")


@dataclass(frozen=True)
class Page:
    """A page of the repository, or a section of one, and its place on the site."""

    place: str
    """The path on the site, without suffix. The folder in it is one of the four parts of the site."""
    source: str
    """The path in the repository."""
    about: str
    """The goal of the page's reader in a few words, for the first page of the part."""
    section: str = ""
    """The heading of the section that has a separate page; "" for the whole file."""
    group: str = ""
    """The heading above the page on the first page of the part; "" for the heading of the previous page."""


SITE_MAP = (
    Page("tutorial/install", "README.md", "install the suite from a checkout", section="Install"),
    Page("tutorial/first-certificate", "harness/adapters/TUTORIAL.md", "from a checkout to a certificate"),
    Page(
        "how-to/adapters",
        "harness/adapters/README.md",
        "write an adapter in any language, and declare what your implementation can do",
        group="Adapters",
    ),
    Page("how-to/adapter-c", "harness/adapters/c/README.md", "the template for C"),
    Page("how-to/adapter-go", "harness/adapters/go/README.md", "the template for Go"),
    Page("how-to/adapter-java", "harness/adapters/java/README.md", "the template for Java"),
    Page("how-to/adapter-javascript", "harness/adapters/javascript/README.md", "the template for JavaScript"),
    Page("how-to/adapter-nim", "harness/adapters/nim/README.md", "the template for Nim"),
    Page("how-to/adapter-python", "harness/adapters/python/README.md", "the template for Python"),
    Page("how-to/adapter-rust", "harness/adapters/rust/README.md", "the template for Rust"),
    Page("how-to/transports", "docs/transports.md", "test over gRPC, in binary frames, or with another wire format"),
    Page("how-to/adapter-waku-sds", "harness/adapters/waku-sds/README.md", "the adapter of `@waku/sds`, an example"),
    Page("how-to/adapter-clearskies-js", "harness/adapters/clearskies-js/README.md", "an adapter of ClearSkies"),
    Page("how-to/ci", "docs/ci.md", "gate CI on GitHub, GitLab or elsewhere", group="Judge and gate"),
    Page("how-to/reading-a-report", "docs/reading-a-report.md", "read a report, replay a finding"),
    Page("how-to/configuration", "docs/configuration.md", "type the command of your implementation once"),
    Page("how-to/baselines", "docs/baselines.md", "accept known failures until they are fixed"),
    Page("how-to/certificate", "docs/certificate.md", "write, sign and verify a certificate"),
    Page("how-to/compare-releases", "docs/compare-releases.md", "compare releases and implementations"),
    Page("how-to/contest-a-position", "docs/contest-a-position.md", "contest a position or a finding"),
    Page("how-to/pytest", "docs/pytest.md", "run the suite from pytest, with scenarios of your own"),
    Page("how-to/revisions", "docs/revisions.md", "choose a revision of SDS, or the ClearSkies database extension"),
    Page(
        "how-to/scenario-files",
        "docs/scenario-files.md",
        "write a test case of your own, as a YAML file",
        group="Explore",
    ),
    Page("how-to/fuzz-and-exhaust", "docs/fuzz-and-exhaust.md", "find faults that no scenario covers"),
    Page("how-to/limits", "docs/limits.md", "find the sizes at which an implementation breaks"),
    Page("how-to/interop", "docs/interop.md", "let implementations talk to each other"),
    Page("how-to/corpora", "docs/corpora.md", "record many schedules, judge them later, compare two releases"),
    Page("how-to/corpora-on-a-cluster", "docs/corpora-on-a-cluster.md", "record and compare corpora on a cluster"),
    Page(
        "how-to/vectors-without-python",
        "docs/vectors-without-python.md",
        "test with the golden vectors in any language",
    ),
    Page("how-to/vectors-in-node", "vectors/consumers/node/README.md", "a complete consumer of the vectors, in Node"),
    Page("how-to/completion", "docs/completion.md", "complete commands and names in a shell"),
    Page(
        "how-to/add-a-requirement",
        "CONTRIBUTING.md",
        "add a requirement with its check, scenario and mutant",
        section="A new requirement, step by step",
        group="Change the suite",
    ),
    Page("how-to/add-a-protocol", "docs/add-a-protocol.md", "add a protocol"),
    Page(
        "how-to/add-a-revision",
        "CONTRIBUTING.md",
        "add a revision of the specification",
        section="Another revision of the specification",
    ),
    Page(
        "how-to/change-the-vectors",
        "vectors/README.md",
        "add golden vectors, and regenerate them after a change",
        section="Change the vectors",
    ),
    Page("how-to/contributing", "CONTRIBUTING.md", "find the file to change, and run the tests"),
    Page("how-to/harness", "harness/README.md", "find your way in the harness"),
    Page("how-to/conformance", "conformance/README.md", "find your way in the judging package"),
    Page("reference/commands", "docs/commands.md", "all commands by purpose, and optional packages"),
    Page("reference/verdicts", "docs/verdicts.md", "verdicts and severity"),
    Page("reference/exit-codes", "docs/verdicts.md", "the exit codes of all commands", section="Exit codes"),
    Page("reference/glossary", "docs/glossary.md", "the words of the suite"),
    Page("reference/testee-protocol", "harness/adapters/PROTOCOL.md", "the testee protocol of SDS, message by message"),
    Page(
        "reference/clearskies-testee-protocol",
        "harness/adapters/PROTOCOL-CLEARSKIES.md",
        "the testee protocol of the ClearSkies database extension, message by message",
    ),
    Page("reference/proto", "proto/README.md", "the protobuf files"),
    Page("reference/vectors", "vectors/README.md", "the golden vectors: groups, fields, versions"),
    Page("reference/vectors-changelog", "vectors/CHANGELOG.md", "changes of the golden vectors"),
    Page("reference/corpus-format", "harness/sds_harness/corpus/FORMAT.md", "what is in a stored corpus"),
    Page("reference/implementations", "docs/implementations.md", "every implementation, side by side"),
    Page("reference/changelog", "CHANGELOG.md", "changes of the suite"),
    Page("reference/changelog-fragments", "changelog.d/README.md", "how a change gets into the changelog"),
    Page(
        "explanation/how-a-verdict-comes-about",
        "CONTRIBUTING.md",
        "from a schedule to a verdict",
        section="How a verdict comes about",
    ),
    Page("explanation/root-causes", "docs/verdicts.md", "why one fault is reported once", section="Root causes"),
    Page(
        "explanation/refusals-and-limits",
        "docs/refusals-and-limits.md",
        "what a refusal means, and what a declared limit excuses",
    ),
    Page(
        "explanation/environments",
        "docs/environments.md",
        "conditions such as the locale, which must not change verdicts",
    ),
    Page(
        "explanation/what-a-pass-means",
        "docs/verdicts.md",
        "what a pass proves, and what it does not prove",
        section="Limits of a pass",
    ),
    Page(
        "explanation/exhaustive-proofs",
        "docs/fuzz-and-exhaust.md",
        "what a proof over all schedules assumes",
        section="Assumptions of the proof",
    ),
    Page("explanation/corpora-at-scale", "docs/corpora-at-scale.md", "how corpora are stored, judged and compared"),
    Page("explanation/threat-model", "docs/threat-model.md", "which parties are trusted, and what is not defended"),
    Page("explanation/selftest", "docs/selftest.md", "how the suite proves that its checks work"),
    Page("explanation/reference-model", "reference/README.md", "the executable models"),
    Page("explanation/benchmarks", "harness/benchmarks/README.md", "how fast the suite is, and how that was measured"),
)
"""All pages and sections that are copied from the repository, in the order of the site."""

GENERATED = (
    Page("reference/command-line/index", "", "every command and every option"),
    Page("reference/requirements/index", "", "one page for each requirement, with diagrams"),
    Page("reference/positions/index", "", "one page for each question that a specification leaves open"),
    Page("reference/properties", "", "the properties of the whole group"),
    Page("reference/scenarios/index", "", "every scenario, as data and as a diagram"),
    Page("reference/formats/index", "", "the JSON Schemas of all files"),
    Page("reference/python-api", "", "the public Python interfaces"),
)
"""The first page of each kind of pages that are generated from the code."""
