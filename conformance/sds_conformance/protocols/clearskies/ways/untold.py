"""Positions of which no run tells which way an implementation goes, each with the reason."""

from __future__ import annotations

_ENFORCED = "one way alone is accepted: who goes another violates the requirements that it is about"

UNTOLD: dict[str, str] = {
    "CA-3": _ENFORCED,
    "CA-5": "scripted peers ask on one connection at a time, and no peer can be asked on several",
    "CA-6": "whoever loses wide integers is warned of it, and there is no other way",
    "CA-9": "which of two wins by chance is the same as which wins by a rule, where a run shows one pair",
    "CA-10": _ENFORCED,
    "CA-12": _ENFORCED,
    "CA-14": "an order of changes that come at different times is that of the times",
    "CA-16": "a choice of the suite, and none of an implementation",
    "CA-17": "whoever keeps what it cannot prove is warned of it, and there is no other way",
    "CA-18": "whoever refuses an offset is warned of it, and writes none",
    "CA-15": "how far a number has counted hangs on what the peer has sent to whom",
}
