"""Sections "Determine T_req", "Determine T_resp" and "Determine response group": pure functions of IDs.

Times are offsets that the caller adds to ``current_time``. They have the same unit as T_min and T_max, usually
milliseconds.
"""

from __future__ import annotations

from .hash_profiles import HashProfile

PARTICIPANTS_PER_GROUP = 128


def t_req_offset(profile: HashProfile, participant_id: str, message_id: str, t_min_ms: int, t_max_ms: int) -> int:
    """``hash(participant_id, message_id) % (T_max - T_min) + T_min``, in [T_min, T_max).

    ``participant_id`` is the ID of the requester. Requires T_max > T_min.
    """
    return profile.hash(participant_id, message_id) % (t_max_ms - t_min_ms) + t_min_ms


def t_resp_offset(profile: HashProfile, participant_id: str, sender_id: str, message_id: str, t_max_ms: int) -> int:
    """``distance * hash(message_id) % T_max``, in [0, T_max): the modulo applies to the product (AMB-04).

    The result is 0 for the original sender. Requires T_max > 0.
    """
    return profile.distance(participant_id, sender_id) * profile.hash(message_id) % t_max_ms


def in_response_group(
    profile: HashProfile, participant_id: str, sender_id: str, message_id: str, num_response_groups: int
) -> bool:
    """Is the participant in the response group of a message? Its sender always is."""
    groups = num_response_groups
    return profile.hash(participant_id, message_id) % groups == profile.hash(sender_id, message_id) % groups


def default_response_groups(num_participants: int) -> int:
    """``num_participants div 128 + 1``: "a reasonable default value" (section "SDS-R global state")."""
    return num_participants // PARTICIPANTS_PER_GROUP + 1
