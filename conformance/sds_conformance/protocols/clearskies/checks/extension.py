"""Section "Database Extension": what it is called."""

from __future__ import annotations

from collections.abc import Iterator

from clearskies_reference import EXTENSION
from sds_harness.clearskies.frames import UPDATE

from ....judging.judgement import Observation, judged
from ..register import check
from ..view.peer_view import PeerView


@check("CSDB-01")
def names_the_extension(view: PeerView) -> Iterator[Observation]:
    """What a peer names in its greeting has ``database`` among it."""
    for step in view.steps:
        if step.reply is not None and step.answer == "opened":
            named = list(step.reply.opened.extensions)
            yield judged(
                step, "extension-not-named", EXTENSION in named, f"the extension {EXTENSION!r}", f"{named!r}"[:200]
            )


@check("CSDB-01", of="sent")
def types_have_the_prefix(view: PeerView) -> Iterator[Observation]:
    """The types of messages begin with the name of the extension."""
    for update in view.sent:
        kind = update.message.type
        if kind == UPDATE or not kind.startswith(f"{EXTENSION}."):
            yield judged(
                update.step,
                "prefix-missing",
                kind == UPDATE,
                f"a type that begins with {EXTENSION!r} and a dot",
                f"{kind!r}",
            )
