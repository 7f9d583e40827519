"""Mutants: the reference model with exactly one fault each, to prove that every check can fail.

One module per group of sections; a mutant overrides one step of Channel or Participant, and says whose violation it is.
"""

from . import (
    acknowledge,
    deliver,
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
