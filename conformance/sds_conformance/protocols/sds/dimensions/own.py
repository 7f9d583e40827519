"""The number of messages that a participant has sent."""

from __future__ import annotations

from sds_harness.sds.stage import Stage

from .register import SMALL_MESSAGES, counting


@counting("outstanding own messages", "SEND-10", "ACK-01", declared="outstanding_messages", within=("log_entries",))
def outstanding(stage: Stage, size: int) -> None:
    """A participant sends ``size`` messages without acknowledgement. All are resent, then three are acknowledged."""
    alice, bob = stage.open(configuration=SMALL_MESSAGES), stage.peer("bob")
    own = [alice.send() for _ in range(size)]
    alice.observe()
    period = alice.party.in_force.resend_unacknowledged_ms or 30_000
    # An implementation that cannot send all copies at once has many sweeps for them.
    for pause in (period, *[period // 10 + 1] * 11):
        alice.after(pause).tick()
    for message in (own[0], own[size // 2], own[-1]):
        alice.receive(bob.content(stage.now_ms, message))
    alice.observe()
