"""What the response group and the time of an answer depend on, whatever the hash: the same IDs, of several authors."""

from __future__ import annotations

from sds_harness.sds.peer import signed
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message

from ..cast import Actor, Stage, scenario
from .repairing import LONGEST_MS, repairing
from .responding import fine_ticks, wait_out
from .statistics import scattered


def _holder(stage: Stage, author: str, messages: int, asked: pb.Configuration) -> tuple[Actor, list[Message]]:
    """A participant that holds messages of one author. Their IDs have many lengths, for a hash may be linear."""
    actor, peer = repairing(stage, configuration=asked, instance=f"hears {author}"), stage.peer(author)
    ids = [f"{scattered('held', number)}{'-' * number}" for number in range(messages)]
    held = [peer.content(stage.now_ms + number, message_id=message_id) for number, message_id in enumerate(ids)]
    actor.receive(*held)
    return actor, held


def _asked(stage: Stage, actor: Actor, held: list[Message]) -> None:
    message_id = f"asks-{len(stage.trace.steps)}"
    actor.receive(stage.peer("zoe").content(stage.now_ms, message_id=message_id, requests=signed(*held)))


@scenario("R-GROUP-01", long=True)
def the_same_ids_of_eight_authors(stage: Stage) -> None:
    """With three response groups, participants of the same ID are asked for six messages, each hearing another author.

    Three, because many a hash tells nothing of what it is of in its last bit.
    """
    for number in range(8):
        asked = pb.Configuration(num_response_groups=3)
        actor, held = _holder(stage, scattered("author", number), 6, asked)
        _asked(stage, actor, held)
        wait_out(stage, actor)


@scenario("R-TRESP-03", long=True)
def the_same_ids_of_four_authors(stage: Stage) -> None:
    """Participants of the same ID are asked for ten messages, each hearing another author, and T_max is an hour."""
    asked = pb.Configuration(t_max_ms=LONGEST_MS)
    actors = []
    for number in range(4):
        actor, held = _holder(stage, scattered("author", number), 10, asked)
        _asked(stage, actor, held)
        actors.append(actor)
    states = [actor.observe() for actor in actors]
    if not all(state is not None and state.HasField("incoming_repairs") for state in states):
        fine_ticks(stage, *actors)
        wait_out(stage, *actors)
