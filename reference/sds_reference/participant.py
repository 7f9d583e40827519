"""A participant: its identity and its channels. The entry point of the model.

>>> alice, bob = Participant("alice"), Participant("bob")
>>> for participant in (alice, bob):
...     participant.join("chat", now_ms=1_000)
>>> sent = alice.send("chat", b"hello", now_ms=2_000)
>>> bob.receive(sent.broadcasts[0], now_ms=2_100).events[0].content
b'hello'
"""

from __future__ import annotations

from .channel import Channel
from .config import Config
from .effects import Effects
from .errors import ConfigurationError, MalformedMessageError, UnknownChannelError

UNNAMED_CHANNEL = "0"
"""The channel to join if the application names none: "the channel_id SHOULD be set to 0" (AMB-104)."""


class Participant:
    """One participant of any number of channels, sans-I/O.

    The caller owns time, network and randomness. Each method that depends on time takes the current epoch time in
    milliseconds. Methods take and return wire bytes; the returned Effects are their only output.
    """

    channel_class: type[Channel] = Channel

    def __init__(self, participant_id: str, config: Config | None = None) -> None:
        if not participant_id:
            raise ConfigurationError("a participant needs a non-empty ID: its messages carry it as sender_id")
        self.participant_id = participant_id
        self.config = config or Config()
        self.channels: dict[str, Channel] = {}

    def join(self, channel_id: str, now_ms: int) -> None:
        """Become a member of a channel; its Lamport timestamp starts at ``now_ms``, or at 0 ("Participant state")."""
        if not channel_id:
            raise ConfigurationError("a channel needs a non-empty ID")
        if channel_id not in self.channels:
            self.channels[channel_id] = self.channel_class(self.participant_id, channel_id, self.config, now_ms)

    def channel(self, channel_id: str) -> Channel:
        """State of one channel. Raises UnknownChannelError."""
        if channel_id not in self.channels:
            raise UnknownChannelError(channel_id)
        return self.channels[channel_id]

    def send(
        self,
        channel_id: str,
        content: bytes,
        now_ms: int,
        message_id: str | None = None,
        retrieval_hint: bytes | None = None,
    ) -> Effects:
        """Send application content: see Channel.send."""
        return self.channel(channel_id).send(content, now_ms, message_id, retrieval_hint)

    def send_ephemeral(
        self, channel_id: str, content: bytes, message_id: str | None = None, now_ms: int = 0
    ) -> Effects:
        """Send an ephemeral message: see Channel.send_ephemeral.

        ``now_ms`` is not used: the message has no timestamp.
        """
        return self.channel(channel_id).send_ephemeral(content, message_id)

    def send_sync(self, channel_id: str, now_ms: int) -> Effects:
        """Send a sync message now: see Channel.send_sync."""
        return self.channel(channel_id).send_sync(now_ms)

    def receive(self, wire: bytes, now_ms: int, retrieval_hint: bytes | None = None) -> Effects:
        """Process a message from the network: see Channel.receive. Raises MalformedMessageError."""
        message = self.config.revision.wire.decode(wire)
        channel = self.channels.get(message.channel_id)
        if channel is None:
            if not message.channel_id:
                raise MalformedMessageError("the message has no channel_id")
            if not self.config.creates_channels:
                return Effects()
            self.join(message.channel_id, now_ms)
            try:
                return self.channels[message.channel_id].receive(message, now_ms, retrieval_hint)
            except MalformedMessageError:
                del self.channels[message.channel_id]
                raise
        return channel.receive(message, now_ms, retrieval_hint)

    def tick(self, now_ms: int) -> Effects:
        """Run the periodic work that is due in every channel: see Channel.tick."""
        effects = Effects()
        for channel in self.channels.values():
            done = channel.tick(now_ms)
            effects.broadcasts += done.broadcasts
            effects.events += done.events
        return effects
