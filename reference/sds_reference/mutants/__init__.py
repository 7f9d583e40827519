"""Mutants: the reference model with exactly one fault each, to prove that every check can fail.

One module per group of sections; a mutant overrides one step of Channel or Participant, and says whose violation it is.
Those of the proposal of 2024 are in forum: the last to be imported, for many have the same faults as others.
"""

from . import (
    acknowledge,
    deliver,
    forum,
    message,
    receive,
    repair_everyday,
    repair_request_fields,
    repair_requests,
    repair_responses,
    repair_sweeps,
    send,
    state,
    states,
    subtle,
    sweeps,
    sync,
    unseen,
)
from .registry import MUTANTS, Mutant

__all__ = [
    "MUTANTS",
    "Mutant",
    "acknowledge",
    "deliver",
    "forum",
    "message",
    "receive",
    "repair_everyday",
    "repair_request_fields",
    "repair_requests",
    "repair_responses",
    "repair_sweeps",
    "send",
    "state",
    "states",
    "subtle",
    "sweeps",
    "sync",
    "unseen",
]
