"""Claims to be the reference, and sends everything in the name of another participant.

python impostor.py [VARIABLE VALUE]: does so in those processes only whose environment has that variable.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Channel, Message, Participant
from sds_reference.testee.server import Testee, TesteeOptions
from sds_testee.framing import ENVIRONMENT_VARIABLE, Framing
from sds_testee.stdio import serve
from sds_testee.version import suite_version


class InAnotherName(Channel):
    def encode(self, message: Message) -> bytes:
        return super().encode(replace(message, sender_id=f"not-{message.sender_id}"))


class Impostor(Participant):
    channel_class = InAnotherName


def main() -> None:
    where = sys.argv[1:]
    shows = not where or os.environ.get(where[0]) == where[1]
    participant = Impostor if shows else Participant
    testee = Testee(TesteeOptions(version=suite_version(), name="sds_reference", participant_class=participant))
    serve(testee.handle, pb.Request, pb.Reply, Framing(os.environ[ENVIRONMENT_VARIABLE]))


if __name__ == "__main__":
    main()
