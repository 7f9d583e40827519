## A toy SDS with little more than the mandatory parts of the specification. Replace it with your implementation.
##
## A participant sends, receives, delivers in causal order and keeps a log. It never sends anything again, acknowledges
## nothing, sends neither sync nor ephemeral messages, and repairs nothing.

import std/[algorithm, sets, strutils]
from kit import isUtf8

const
  historySize* = 2 ## Message IDs in a causal history.
  filterIds* = 100 ## Size of the bloom filter: about one false positive in a hundred.
  filterBits = 1024
  filterHashes = 7
  (varint, fixed64, sized, fixed32) = (0'u64, 1'u64, 2'u64, 5'u64) # Wire types of protobuf.

type
  Refused* = object of CatchableError ## The error for bytes that are not a message, and for empty content to send.

  Message* = object ## Without a timestamp it is ephemeral, without content a sync message.
    sender*, id*, channel*: string
    stamped*: bool
    lamport*: uint64
    history*: seq[string]
    bloom*, content*: string

  ChannelLog* = ref object ## The state of one participant in one channel.
    participant, id: string
    clock: uint64 # The Lamport timestamp.
    log: seq[(uint64, string)] # By timestamp, equal timestamps by the bytes of IDs.
    logged: HashSet[string]
    waiting: seq[Message] # Received, with dependencies that are not in the log.
    received: seq[string] # What the filter holds: the newest IDs, so that it never fills.

# ---- The wire: protobuf by hand ----------------------------------------------------------------------------------

proc refuse(reason: string) {.noreturn.} = raise newException(Refused, reason)

proc addVarint(wire: var string, number: uint64) =
  var left = number
  while left > 0x7f:
    wire.add char(left and 0x7f or 0x80)
    left = left shr 7
  wire.add char(left)

proc addSized(wire: var string, number: uint64, value: string) =
  ## Adds a field with a length prefix.
  wire.addVarint(number shl 3 or sized)
  wire.addVarint(value.len.uint64)
  wire.add value

proc encode(message: Message): string =
  result.addSized(1, message.sender)
  result.addSized(2, message.id)
  result.addSized(3, message.channel)
  result.addVarint(10 shl 3 or varint)
  result.addVarint(message.lamport)
  for id in message.history:
    var entry: string
    entry.addSized(1, id)
    result.addSized(11, entry)
  result.addSized(12, message.bloom)
  result.addSized(20, message.content)

proc takeVarint(wire: string, at: var int): uint64 =
  for place in 0 .. 9:
    if at >= wire.len:
      break
    let next = wire[at].uint64
    at += 1
    result = result or (next and 0x7f) shl (7 * place)
    if next < 0x80:
      return
  refuse("a varint does not end")

iterator fields(wire: string): tuple[key, number: uint64, value: string] =
  ## The key of each field (number << 3 | wire type), and its number or its bytes.
  var at = 0
  while at < wire.len:
    let key = wire.takeVarint(at)
    let kind = key and 7
    let number = if kind in [varint, sized]: wire.takeVarint(at) else: 0
    if key shr 3 == 0 or kind notin [varint, fixed64, sized, fixed32]:
      refuse("a field has no number, or is of an unknown type")
    let size = if kind == varint: 0'u64 elif kind == fixed64: 8 elif kind == fixed32: 4 else: number
    if size > uint64(wire.len - at):
      refuse("a field is cut off")
    yield (key, number, wire[at ..< at + size.int])
    at += size.int

proc text(value: string): string =
  if not value.isUtf8:
    refuse("text that is not UTF-8")
  value

proc decode*(wire: string): Message =
  ## The message in these bytes. Unknown fields are skipped, including those of SDS-R. Raises Refused.
  for key, number, value in wire.fields:
    case key
    of 1 shl 3 or sized: result.sender = text(value)
    of 2 shl 3 or sized: result.id = text(value)
    of 3 shl 3 or sized: result.channel = text(value)
    of 10 shl 3 or varint:
      result.stamped = true
      result.lamport = number
    of 11 shl 3 or sized:
      var id: string
      for innerKey, _, inner in value.fields:
        if innerKey == (1 shl 3 or sized):
          id = text(inner)
      result.history.add id
    of 20 shl 3 or sized: result.content = value
    else: discard

# ---- The protocol ------------------------------------------------------------------------------------------------

proc newChannel*(participant, id: string, nowMs: uint64): ChannelLog =
  ChannelLog(participant: participant, id: id, clock: nowMs)

proc fnv(data: string): uint64 =
  ## FNV-1a with 64 bits, which is good enough for a toy.
  result = 0xcbf29ce484222325'u64
  for next in data:
    result = (result xor next.uint64) * 0x100000001b3'u64

proc bloom(channel: ChannelLog): string =
  ## A filter over the newest IDs that were received.
  result = newString(filterBits div 8)
  for id in channel.received:
    let hash = fnv(id)
    for n in 0'u64 ..< filterHashes:
      let place = ((hash shr 32) + n * (hash and 0xffffffff'u64)) mod filterBits
      let index = int(place div 8)
      result[index] = char(result[index].ord or (1 shl (place mod 8)))

proc keep(channel: ChannelLog, lamport: uint64, id: string) =
  ## Puts an ID into the log, and updates the clock.
  channel.clock = max(channel.clock, lamport)
  channel.log.insert((lamport, id), channel.log.upperBound((lamport, id)))
  channel.logged.incl id

proc send*(channel: ChannelLog, content: string, nowMs: uint64): (string, string) =
  ## The ID and the bytes of a new message. Raises Refused.
  if content.len == 0:
    refuse("there is no content")
  if channel.clock == high(uint64):
    refuse("the Lamport timestamp has reached its maximum")
  let lamport = max(nowMs, channel.clock + 1)
  # The timestamp distinguishes messages of one sender in one channel; the hash distinguishes senders and channels.
  var who: string
  who.addSized(1, channel.participant)
  who.addSized(3, channel.id)
  who.addSized(20, content)
  let stamp = lamport.toHex.toLowerAscii.strip(trailing = false, chars = {'0'})
  let id = (if lamport == 0: "0" else: stamp) & "-" & fnv(who).toHex.toLowerAscii
  var message = Message(sender: channel.participant, id: id, channel: channel.id, stamped: true, lamport: lamport)
  for (_, earlier) in channel.log[max(0, channel.log.len - historySize) .. ^1]:
    message.history.add earlier
  message.bloom = channel.bloom
  message.content = content
  channel.keep(lamport, id)
  (id, encode(message))

proc isReady(channel: ChannelLog, message: Message): bool =
  for id in message.history:
    if id notin channel.logged:
      return false
  true

proc receive*(channel: ChannelLog, message: Message): seq[Message] =
  ## Returns the messages that are delivered now, in order. Raises Refused.
  if message.sender == channel.participant or message.content.len == 0:
    return # One's own; or a sync message, which speaks of acknowledgements and repairs alone.
  if not message.stamped:
    return @[message]
  if message.id.len == 0:
    refuse("a message without an ID")
  if message.id in channel.logged:
    return
  for other in channel.waiting:
    if other.id == message.id:
      return
  channel.received.add message.id
  if channel.received.len > filterIds:
    channel.received.delete(0)
  channel.waiting.add message
  var place = 0
  while place < channel.waiting.len:
    if channel.isReady(channel.waiting[place]):
      let ready = channel.waiting[place]
      channel.waiting.delete(place)
      channel.keep(ready.lamport, ready.id)
      result.add ready
      place = 0 # An earlier one may have waited for it.
    else:
      place += 1
