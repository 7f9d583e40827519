"""``sds-conformance scenarios``: list, show and validate scenarios."""

from __future__ import annotations

import click

from ..command_groups import Commands

_SECTIONS = {
    "Commands": {
        "list": "List the scenarios of the suite.",
        "show": "Show a scenario, as data and as a diagram.",
        "validate": "Check scenario files without playing them.",
    }
}
_EPILOG = """
\b
Examples:
  sds-conformance scenarios list 'waiting-*'
  sds-conformance scenarios show my-scenario.yaml
  sds-conformance scenarios validate my-scenarios

`sds-conformance docs scenario-files` describes the format, and
`sds-conformance run --scenario-file FILE` plays a file.
"""


@click.group("scenarios", cls=Commands, package=__name__, sections=_SECTIONS, epilog=_EPILOG)
def scenarios_command() -> None:
    """List, show and validate scenarios."""
