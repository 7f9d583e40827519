"""Response groups and T_resp depend on the author of a message: several authors use the same message IDs."""

from __future__ import annotations

from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import Message, Part, Script, scenario
from .participants import LONGEST_MS, open_with_repairs, scattered
from .responses import request_messages, tick_often, wait_for_responses


def _open_holder(script: Script, author: str, messages: int, asked: pb.Configuration) -> tuple[Part, list[Message]]:
    """Open a participant and deliver messages of one author, with IDs of many lengths.

    The lengths differ because the hash may be linear: for IDs of one length, another author would shift all results of
    such a hash by the same amount.
    """
    part, peer = open_with_repairs(script, configuration=asked, instance=f"hears {author}"), script.peer(author)
    ids = [f"{scattered('held', number)}{'-' * number}" for number in range(messages)]
    held = [peer.content(script.now + number, message_id=message_id) for number, message_id in enumerate(ids)]
    part.receive(*held)
    return part, held


@scenario("R-GROUP-01", long=True)
def the_same_ids_of_eight_authors(script: Script) -> None:
    """Eight participants with the same ID each receive messages of a different author, and requests for them.

    There are three response groups, because two groups would show only the last bit of a hash, which may not depend on
    the author.
    """
    zoe = script.peer("zoe")
    for number in range(8):
        part, held = _open_holder(script, scattered("author", number), 6, pb.Configuration(num_response_groups=3))
        request_messages(zoe, part, *held)
        wait_for_responses(part)


@scenario("R-TRESP-03", long=True)
def the_same_ids_of_four_authors(script: Script) -> None:
    """Four participants with the same ID each receive messages of another author, and requests; T_max is an hour."""
    zoe, parts = script.peer("zoe"), []
    for number in range(4):
        part, held = _open_holder(script, scattered("author", number), 10, pb.Configuration(t_max_ms=LONGEST_MS))
        request_messages(zoe, part, *held)
        parts.append(part)
    for part in parts:
        part.observe()
    tick_often(*parts)
    wait_for_responses(*parts)
