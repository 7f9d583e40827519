"""Faults of the buffers of a participant that does not show them."""

from ..registry import again

again("sends-and-forgets", "secretly-forgets", "does not remember what it sent, and shows nothing", unseen=True)
again(
    "optimistic-buffer",
    "secretly-optimistic",
    "takes every message for possibly acknowledged, and shows nothing",
    unseen=True,
)
again("buffer-of-one", "secret-buffer-of-one", "has room for one waiting message, and shows nothing", unseen=True)
again("possibly-is-gone", "secretly-gone", "drops a possibly acknowledged message, and shows nothing", unseen=True)
again("falls-back", "secretly-falls-back", "falls back to unacknowledged, and shows nothing", unseen=True)
