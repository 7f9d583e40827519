"""The requirements of the proposal of 2024 that SDS has as well. The checks of SDS judge them.

Left out are the checks of rules that the proposal does not have: that own and known messages are ignored, and that only
messages in the log meet dependencies; also the checks of retrieval hints and of the special treatment of sync messages.
"""

from __future__ import annotations

from .....judging.registry import CheckFunction
from ...register import counterpart, same_as
from ..core import acknowledgement, ephemeral, filters, history, log, message, outgoing_buffer, receive, sync, wire

SHARED: dict[str, tuple[CheckFunction | str, ...]] = {
    "FORUM-01": (wire.message_structure, wire.reference_encoding_accepted),
    "FORUM-02": (wire.sender_in_field_1, message.sender_is_self),
    "FORUM-03": (wire.message_id_in_field_2, message.message_ids_unique),
    "FORUM-04": (wire.zero_lamport_is_present,),
    "FORUM-06": (wire.channel_in_its_field, message.channels_do_not_mix, message.delivered_in_its_channel),
    "FORUM-07": (wire.filter_in_its_field,),
    "FORUM-08": (
        wire.content_in_its_field,
        message.content_delivered_unchanged,
        message.content_comes_from_the_application,
    ),
    "FORUM-10": ("SDS-STATE-05", filters.filter_holds_nothing_else),
    "FORUM-11": (outgoing_buffer.outgoing_buffer_kept, outgoing_buffer.kept_as_unacknowledged),
    "FORUM-12": (receive.incoming_buffer_kept, "SDS-STATE-09"),
    "FORUM-13": (acknowledgement.unmentioned_stay_unacknowledged, acknowledgement.no_acknowledgement_without_evidence),
    "FORUM-14": (outgoing_buffer.acknowledged_leaves_the_buffer,),
    "FORUM-16": (history.history_is_the_end_of_the_log,),
    "FORUM-17": (message.protocol_fields_set, message.copies_keep_a_filter, message.ordinary_sends_are_broadcast),
    "FORUM-18": (outgoing_buffer.sent_messages_wait_for_acknowledgement, outgoing_buffer.sent_messages_are_resent),
    "FORUM-19": ("SDS-RECV-03", "SDS-ACK-07"),
    "FORUM-20": (
        filters.received_ids_enter_the_filter,
        filters.filters_change_by_what_is_received,
        filters.the_full_filter_takes_the_next,
        filters.the_newest_are_shown_in_the_filter,
    ),
    "FORUM-21": (
        receive.met_messages_are_delivered,
        receive.met_messages_are_not_refused,
        receive.delivered_messages_have_arrived,
    ),
    "FORUM-22": (
        receive.dependencies_verified,
        "SDS-RECV-08",
        receive.unmet_messages_are_not_refused,
        log.waiting_messages_stay_invisible,
    ),
    "FORUM-24": (log.log_is_complete, "SDS-STATE-11", "SDS-DELIVER-04"),
    "FORUM-25": ("SDS-CONFLICT-01", "SDS-CONFLICT-02", "SDS-CONFLICT-03", log.ties_resolved_on_insertion),
    "FORUM-26": ("SDS-ACK-01", acknowledgement.only_own_outstanding_messages),
    "FORUM-27": (
        "SDS-ACK-02",
        acknowledgement.no_fall_back_to_unacknowledged,
        acknowledgement.one_filter_is_not_enough,
    ),
    "FORUM-28": (acknowledgement.filters_may_acknowledge,),
    "FORUM-29": ("SDS-INSWEEP-01", "SDS-INSWEEP-04"),
    "FORUM-31": (receive.given_up_after_the_timeout_only,),
    "FORUM-32": (
        outgoing_buffer.unacknowledged_are_rebroadcast,
        outgoing_buffer.not_before_the_period,
        message.copies_are_the_message,
    ),
    "FORUM-33": (outgoing_buffer.possibly_acknowledged_have_their_own_period,),
    "FORUM-34": (
        sync.syncs_are_sent_periodically,
        sync.syncs_continue,
        sync.syncs_keep_to_their_period,
        sync.sync_content_empty,
    ),
    "FORUM-37": ("SDS-SYNC-12",),
    "FORUM-38": (ephemeral.fields_unset,),
    "FORUM-39": (ephemeral.not_buffered, ephemeral.delivered_at_once),
    "FORUM-45": (log.delivered_in_causal_order,),
}
"""By requirement of the proposal: the checks of SDS that judge it, or IDs of SDS requirements whose rows in tables of
checks judge it."""

for _requirement, _functions in SHARED.items():
    same_as(_requirement, *_functions)

# These requirements of the proposal have separate checks, but the scenarios of their SDS counterparts exercise them.
for _sds, _forum in (
    ("SDS-MSG-06", "FORUM-05"),
    ("SDS-STATE-01", "FORUM-09"),
    ("SDS-SEND-01", "FORUM-15"),
    ("SDS-DELIVER-01", "FORUM-23"),
    ("SDS-SYNC-03", "FORUM-35"),
    ("SDS-SEND-07", "FORUM-41"),
    ("SDS-CONFLICT-01", "FORUM-44"),
):
    counterpart(_sds, _forum)
