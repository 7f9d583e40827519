## Your adapter: passes each command to the implementation, and returns the result. As delivered, the implementation is
## a toy.

import std/[json, tables]
import kit, toy

type
  Adapter = ref object of Implementation
  Member = ref object of Participant
    channels: Table[string, ChannelLog]

method hello(mine: Adapter, revision: string): JsonNode =
  %*{"name": "toy-sds", "version": "0.1.0", "language": "Nim", "revisions": ["sds-2026-01"]}

method capabilities(mine: Adapter): seq[string] =
  # Declare only what works: tests of undeclared capabilities are skipped, and do not fail.
  @["CAPABILITY_VIRTUAL_CLOCK", "CAPABILITY_CHANNELS", "CAPABILITY_DELIVERED"]

method open(mine: Adapter, given: JsonNode): (Participant, JsonNode) =
  let who = Member()
  for id in given.texts("channels"):
    who.channels[id] = newChannel(given.text("participantId"), id, given.number("nowMs"))
  # The toy has nothing to configure. Still report the configuration in force.
  let inForce = %*{
    "causalHistorySize": historySize, "bloomCapacity": filterIds, "bloomErrorRate": 0.01, "sdsR": false
  }
  (Participant(who), inForce)

method close(who: Member, given: JsonNode): JsonNode = newJObject()

method send(who: Member, given: JsonNode): JsonNode =
  if given.text("channelId") notin who.channels:
    raise newException(Rejected, "not a member of this channel")
  try:
    let (id, wire) = who.channels[given.text("channelId")].send(given.bytes("content"), given.number("nowMs"))
    %*{"broadcasts": [bytesJson(wire)], "messageId": id}
  except Refused as reason:
    raise newException(Rejected, reason.msg)

method receive(who: Member, given: JsonNode): JsonNode =
  result = %*{"events": []}
  try:
    let message = decode(given.bytes("wire"))
    if message.channel in who.channels: # Messages of other channels are ignored.
      for m in who.channels[message.channel].receive(message):
        let delivered = %*{"messageId": m.id, "content": bytesJson(m.content)}
        result["events"].add %*{"channelId": m.channel, "delivered": delivered}
  except Refused as reason:
    raise newException(Rejected, reason.msg)

method tick(who: Member, given: JsonNode): JsonNode = newJObject() # The toy has no periodic work.

serve(Adapter())
