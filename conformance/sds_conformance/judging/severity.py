"""Severity: how much harm a violation of a requirement does, from 1 (most) to 4.

The catalogue gives each requirement its severity. The severity orders root causes, test cases and results in every
report. Severity changes no verdict: a violation fails or warns by the level of the requirement and by the positions.
"""

from __future__ import annotations

SEVERITIES = {
    1: "loses or reorders messages, or breaks convergence",
    2: "breaks interoperability",
    3: "departs from a MUST, without the harm of severity 1 or 2",
    4: "departs from a SHOULD, a RECOMMENDED or a MAY",
}
"""By severity: the harm of a violation, as the end of a sentence that begins with "A violation"."""
BREAKDOWN_SEVERITY = 1
"""Severity of breakdowns: a crash, a hang or an unreadable reply loses messages."""
