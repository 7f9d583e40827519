"""Legal variants: the reference model with other choices where the text leaves one. Each must pass every check."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from .bloom_profiles import NIM_SDS, NIM_SDS_MURMUR3
from .config import AfterLoss, Config, OwnIds, UnknownChannelPolicy


@dataclass(frozen=True)
class Variant:
    """One legal way to differ from the defaults."""

    name: str
    summary: str
    config: tuple[tuple[str, Any], ...]

    def configure(self, base: Config) -> Config:
        return replace(base, **dict(self.config))


def _variant(name: str, summary: str, **config: object) -> Variant:
    return Variant(name, summary, tuple(config.items()))


VARIANTS: dict[str, Variant] = {
    variant.name: variant
    for variant in (
        _variant("history-of-one", "one message ID in a causal history", causal_history_size=1),
        _variant("history-of-ten", "ten message IDs in a causal history", causal_history_size=10),
        _variant("newest-first", "causal histories in descending order", causal_history_descending=True),
        _variant("nim-filter", "bloom filters of nim-sds", bloom_profile=NIM_SDS),
        _variant("nim-murmur-filter", "bloom filters of nim-sds with Murmur3", bloom_profile=NIM_SDS_MURMUR3),
        _variant("small-filter", "a filter for 500 IDs at 1 %", bloom_capacity=500, bloom_error_rate=0.01),
        _variant("keeps-a-tenth", "a roll-over of the filter keeps a tenth of the IDs", bloom_retained=0.1),
        _variant("own-ids-first", "a message's ID is in its own filter", own_ids_in_filter=OwnIds.BEFORE_SENDING),
        _variant("own-ids-never", "own IDs stay out of the filter", own_ids_in_filter=OwnIds.NEVER),
        _variant("ephemeral-in-filter", "IDs of ephemeral messages enter the filter", ephemeral_ids_in_filter=True),
        _variant(
            "slow-resend",
            "resends after five and twenty minutes",
            resend_unacknowledged_ms=300_000,
            resend_possibly_acknowledged_ms=1_200_000,
        ),
        _variant(
            "close-resend-periods",
            "resends after thirty and forty-five seconds",
            resend_unacknowledged_ms=30_000,
            resend_possibly_acknowledged_ms=45_000,
        ),
        _variant("ack-after-two", "two filter hits acknowledge", possible_ack_threshold=2),
        _variant("ack-after-three", "three filter hits acknowledge", possible_ack_threshold=3),
        _variant("reviews-duplicates", "copies of known messages are reviewed again", review_duplicates=True),
        _variant("sweep-only", "buffered messages wait for the sweep", cascade_on_receive=False),
        _variant(
            "slow-sweep",
            "the incoming sweep runs every five seconds",
            cascade_on_receive=False,
            incoming_sweep_ms=5_000,
        ),
        _variant("drops-the-lost", "messages whose dependencies are lost are dropped", after_loss=AfterLoss.DROP),
        _variant("keeps-syncs-waiting", "sync messages with unmet dependencies are buffered", buffer_syncs=True),
        _variant(
            "quiet-syncs", "sync messages only in a quiet channel", sync_only_when_quiet=True, sync_with_empty_log=False
        ),
        _variant("creates-channels", "a message opens an unknown channel", unknown_channel=UnknownChannelPolicy.CREATE),
        _variant(
            "bounded-future", "refuses Lamport timestamps over a day ahead", max_lamport_ahead_ms=24 * 3_600_000 + 1
        ),
    )
}
"""The variants by name."""
