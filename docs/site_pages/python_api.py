"""Pages of the Python interfaces that are public, from their docstrings."""

from __future__ import annotations

from collections.abc import Iterator

from sds_conformance.pytest_plugin import MARKER, OPTIONS

from .markdown import code, page, prose, table

_MODULES = {
    "sds_reference": ("the executable model of SDS", ("automodule:: sds_reference",)),
    "clearskies_reference": (
        "the executable model of the ClearSkies database extension",
        ("automodule:: clearskies_reference",),
    ),
    "sds_testee": (
        "serve the testee protocol from Python",
        ("automodule:: sds_testee.stdio", "automodule:: sds_testee.framing", "automodule:: sds_testee.grpc_server"),
    ),
    "sds_harness": (
        "scenarios of your own in pytest, and generated schedules in Hypothesis",
        (
            "autoclass:: sds_harness.sds.stage.Stage",
            "autoclass:: sds_harness.sds.actor.Actor",
            "autoclass:: sds_harness.sds.peer.ScriptedPeer",
            "autofunction:: sds_harness.sds.player.play",
            "autofunction:: sds_harness.sds.strategies.schedules",
        ),
    ),
}


def pages() -> Iterator[tuple[str, str]]:
    """The list of packages and of the options of pytest, and a page for each package."""
    lines = [
        "These interfaces are public. Everything else in the packages can change without notice.",
        "",
        *table(
            ("package", "content"), [(f"[{name}](python-{name}.md)", about) for name, (about, _) in _MODULES.items()]
        ),
        "## Options of pytest",
        "",
        "[The suite in pytest](../how-to/pytest.md) explains these options.",
        "",
    ]
    rows = [
        (code(f"--sds-{name} {metavar}".strip()), code(f"sds_{name.replace('-', '_')}"), prose(about))
        for name, (metavar, about) in OPTIONS.items()
    ]
    lines += table(("option", "in the configuration file", "effect"), rows)
    marker, _, about = MARKER.partition(": ")
    lines += [f"Marker {code(marker)}: {prose(about)}.", ""]
    yield "reference/python-api", page("Python interfaces", lines)
    for name, (about, directives) in _MODULES.items():
        body = [f"{about[0].upper()}{about[1:]}.", "", "```{eval-rst}"]
        for directive in directives:
            body += [f".. {directive}"]
            body += ["   :members:"] if not directive.startswith("autofunction") else []
            body += ["   :imported-members:"] if directive == f"automodule:: {name}" else []
            body += [""]
        yield f"reference/python-{name}", page(name, [*body, "```"], orphan=True)
