"""One text that would do something in every form that the suite writes, and what a form may not have."""

from __future__ import annotations

import re

from sds_proto.testee.v1 import testee_pb2 as pb
from suite_terminal import controls

POISON = (
    "::error file=x::y\x1b[31mred\x1b]0;title\x07\x00\x08\r::set-output name=a::b\r\n  ::add-mask::c\x85::notice::d"
    " ##vso[task.setvariable variable=x]y ##[error]z ##teamcity[w] \x80\x9b31m\x9f"
    "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028::warning::e\u2029\ufeff"
    "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;]]>-->`x` | {{ 7*7 }} {% x %} [a](javascript:b)"
    " @all #1 %0A::debug::f\n::stop-commands::g"
)
IDS = f"m-{POISON}"


def poisoned(request: pb.Request, reply: pb.Reply) -> None:
    """Poison every text of a reply, and invent IDs, so that checks find enough to report all of it."""
    if request.HasField("hello"):
        hello = reply.hello
        hello.name = hello.version = hello.language = hello.homepage = POISON
        hello.revisions.append(POISON)
        hello.profiles.bloom = hello.profiles.hash = hello.profiles.id_order = POISON
    if reply.effects.message_id or reply.effects.events:
        events = reply.effects.events
        events.add(channel_id="c1").delivered.message_id = IDS
        events.add(channel_id="c1").acknowledged.message_id = IDS
        events.add(channel_id="c1").missing.entries.add(message_id=IDS)
        events.add(channel_id=POISON).lost.message_ids.append(IDS)
    if reply.HasField("state"):
        reply.state.log.entries.add(message_id=IDS, lamport_timestamp=1)
        reply.state.outgoing.entries.add(message_id=IDS, state=pb.ACK_STATE_UNACKNOWLEDGED)
        reply.state.incoming.message_ids.append(IDS)


def harm(text: str) -> list[str]:
    """Characters that a terminal would obey, and lines that a CI would."""
    found = sorted(map(ascii, controls(text)))
    found += [line for line in text.split("\n") if re.match(r"\s*::", line) or re.search(r"##\w*\[", line)]
    return found
