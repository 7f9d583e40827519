"""The proposal of 2024, where it says the same as SDS: the checks of SDS judge it.

Left out of what a requirement of SDS has are the checks of what came later: that own and known messages are ignored,
that only the log meets dependencies, hints, and what keeps sync messages apart.
"""

from __future__ import annotations

from .....judging.registry import CheckFunction
from ...register import counterpart, same_as
from ..core import ack, deliver, ephemeral, insweep, message, outsweep, receive, send, state, sync, unseen, wire

ALIKE: dict[str, tuple[CheckFunction, ...]] = {
    "FORUM-01": (wire.reference_encoding_accepted,),
    "FORUM-02": (wire.sender_in_field_1, message.sender_is_self),
    "FORUM-03": (wire.message_id_in_field_2, message.message_ids_unique),
    "FORUM-04": (wire.zero_lamport_is_present,),
    "FORUM-06": (message.channels_do_not_mix, message.delivered_in_its_channel),
    "FORUM-08": (message.content_delivered_unchanged, message.content_is_the_applications),
    "FORUM-10": (state.filter_holds_what_was_received, state.filter_holds_nothing_else),
    "FORUM-11": (state.outgoing_buffer_kept, unseen.kept_as_unacknowledged),
    "FORUM-12": (state.incoming_buffer_kept, unseen.what_waits_is_kept),
    "FORUM-13": (state.no_acknowledgement_from_nothing, state.no_acknowledgement_out_of_the_blue),
    "FORUM-14": (state.acknowledged_leaves_the_buffer,),
    "FORUM-16": (send.history_is_the_end_of_the_log,),
    "FORUM-17": (message.protocol_fields_set, message.copies_keep_a_filter, send.ordinary_sends_are_broadcast),
    "FORUM-18": (send.sent_messages_wait_for_acknowledgement, unseen.what_was_sent_is_kept),
    "FORUM-19": (receive.buffered_messages_are_reviewed, ack.any_message_acknowledges),
    "FORUM-20": (receive.received_ids_enter_the_filter, receive.filters_change_by_what_is_received),
    "FORUM-21": (
        receive.met_messages_are_delivered,
        receive.met_messages_are_not_refused,
        receive.nothing_from_nowhere,
    ),
    "FORUM-22": (
        receive.dependencies_verified,
        receive.unmet_messages_are_kept,
        receive.unmet_messages_are_not_refused,
        receive.waiting_messages_stay_invisible,
    ),
    "FORUM-24": (state.log_is_complete, state.log_ordered_by_lamport, deliver.inserted_by_lamport),
    "FORUM-25": (
        deliver.ties_ascend_by_id,
        deliver.lowest_hash_first,
        deliver.own_messages_take_part,
        deliver.ties_resolved_on_insertion,
    ),
    "FORUM-26": (ack.history_acknowledges, ack.only_own_outstanding_messages),
    "FORUM-27": (ack.filter_possibly_acknowledges,),
    "FORUM-28": (ack.filters_may_acknowledge,),
    "FORUM-29": (
        insweep.each_buffered_message_is_checked,
        insweep.dependencies_may_come_by_any_way,
        insweep.chains_are_delivered,
    ),
    "FORUM-31": (insweep.given_up_after_the_timeout_only,),
    "FORUM-32": (
        outsweep.unacknowledged_are_rebroadcast,
        outsweep.not_before_the_period,
        message.copies_are_the_message,
    ),
    "FORUM-33": (outsweep.possibly_acknowledged_have_their_own_period,),
    "FORUM-34": (sync.syncs_are_sent_periodically, sync.syncs_go_on, sync.sync_content_empty),
    "FORUM-37": (sync.syncs_are_processed,),
    "FORUM-38": (ephemeral.fields_unset,),
    "FORUM-39": (ephemeral.not_buffered, ephemeral.delivered_at_once),
    "FORUM-45": (deliver.delivered_in_causal_order,),
}
"""By requirement of the proposal: the checks of SDS that judge it."""

for _requirement, _functions in ALIKE.items():
    same_as(_requirement, *_functions)

# What has checks of its own is brought about by the same scenarios.
for _sds, _forum in (
    ("SDS-MSG-06", "FORUM-05"),
    ("SDS-MSG-07", "FORUM-07"),
    ("SDS-STATE-01", "FORUM-09"),
    ("SDS-SEND-01", "FORUM-15"),
    ("SDS-DELIVER-01", "FORUM-23"),
    ("SDS-SYNC-03", "FORUM-35"),
    ("SDS-SEND-07", "FORUM-41"),
    ("SDS-CONFLICT-01", "FORUM-44"),
):
    counterpart(_sds, _forum)
