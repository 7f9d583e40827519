## The kit: the testee protocol on stdin and stdout, one JSON object per line. Do not change this file; it needs only
## Nim 1.6 or newer. Fill in adapter.nim.

import std/[base64, json, os, posix, strutils, tables]

type
  Rejected* = object of CatchableError
    ## Raise this for input that your implementation rejects without a change of its state.
  Unsupported* = object of CatchableError
    ## Raise this for commands and fields that your implementation does not support.
  Fault = object of CatchableError

  Implementation* = ref object of RootObj
    ## Your implementation: commands without a participant. `given` has the fields of the command, as testee.proto names
    ## them in lowerCamelCase, and an answer has the fields of its message.
  Participant* = ref object of RootObj
    ## Your participant. All methods except `observe` return effects.

proc missing(name: string): JsonNode =
  raise newException(Fault, "its capability is declared, but there is no method " & name)

# ---- What to fill in ---------------------------------------------------------------------------------------------

method hello*(mine: Implementation, revision: string): JsonNode {.base.} = missing("hello")
  ## HelloReply: the name and version of the implementation.
method capabilities*(mine: Implementation): seq[string] {.base.} = @[]
  ## The supported capabilities, for example CAPABILITY_SYNC. Commands that need other capabilities are answered
  ## `unsupported`.
method open*(mine: Implementation, given: JsonNode): (Participant, JsonNode) {.base.} = (nil, missing("open"))
  ## Makes a participant that is a member of `channels`; also returns the effective configuration.
method buildFilter*(mine: Implementation, given: JsonNode): JsonNode {.base.} = missing("buildFilter")
  ## Required by CAPABILITY_FILTER_CODEC; returns a Filter.
method queryFilter*(mine: Implementation, given: JsonNode): JsonNode {.base.} = missing("queryFilter")
  ## Required by CAPABILITY_FILTER_CODEC; returns a Membership.
method encode*(mine: Implementation, given: JsonNode): JsonNode {.base.} = missing("encode")
  ## Required by CAPABILITY_MESSAGE_CODEC; returns Encoded.
method decode*(mine: Implementation, given: JsonNode): JsonNode {.base.} = missing("decode")
  ## Required by CAPABILITY_MESSAGE_CODEC; returns Decoded.
method repairTimes*(mine: Implementation, given: JsonNode): JsonNode {.base.} = missing("repairTimes")
  ## Required by CAPABILITY_REPAIR_TIMES; returns RepairOffsets.

method close*(who: Participant, given: JsonNode): JsonNode {.base.} = missing("close")
method send*(who: Participant, given: JsonNode): JsonNode {.base.} = missing("send")
method receive*(who: Participant, given: JsonNode): JsonNode {.base.} = missing("receive")
method tick*(who: Participant, given: JsonNode): JsonNode {.base.} = missing("tick")
method sendSync*(who: Participant, given: JsonNode): JsonNode {.base.} = missing("sendSync")
  ## Required by CAPABILITY_SYNC.
method sendEphemeral*(who: Participant, given: JsonNode): JsonNode {.base.} = missing("sendEphemeral")
  ## Required by CAPABILITY_EPHEMERAL.
method observe*(who: Participant, given: JsonNode): JsonNode {.base.} = missing("observe")
  ## Required by CAPABILITY_OBSERVE; returns a State.

# ---- Values of ProtoJSON: 64-bit numbers are strings, bytes are base64, 0 and empty values may be absent ---------

proc has*(given: JsonNode, name: string): bool =
  ## Is the field present, even if it is empty?
  given.kind == JObject and given.hasKey(name) and given[name].kind != JNull

proc charLength(text: string, at: int): int =
  ## The number of bytes of the UTF-8 character that begins at `at`, 0 if the bytes there are not valid UTF-8.
  let first = text[at].ord
  let more = if first < 0x80: 0 elif first shr 5 == 6: 1 elif first shr 4 == 14: 2 elif first shr 3 == 30: 3 else: 9
  if more >= text.len - at:
    return 0
  var point = if more == 0: first else: first and (0x3f shr more)
  for i in at + 1 .. at + more:
    if text[i].ord shr 6 != 2:
      return 0
    point = point shl 6 or (text[i].ord and 0x3f)
  let least = [0, 0x80, 0x800, 0x10000][more]
  if point < least or point > 0x10ffff or point shr 11 == 0xd800 shr 11: 0 else: more + 1

proc isUtf8*(text: string): bool =
  ## Strict UTF-8: no overlong encodings, and no surrogates.
  var at = 0
  while at < text.len:
    let length = text.charLength(at)
    if length == 0:
      return false
    at += length
  true

proc told(text: string): string =
  ## The text, with a question mark in place of each byte that is not valid UTF-8.
  if text.isUtf8:
    return text
  var at = 0
  while at < text.len:
    let length = text.charLength(at)
    result.add(if length == 0: "?" else: text[at ..< at + length])
    at += max(length, 1)

proc asText*(value: JsonNode, name: string): string =
  if value.kind != JString:
    raise newException(Fault, name & " is no text")
  value.getStr

proc text*(given: JsonNode, name: string): string =
  ## A field of type string.
  if given.has(name): given[name].asText(name) else: ""

proc texts*(given: JsonNode, name: string): seq[string] =
  ## A field of repeated strings.
  if given.has(name):
    if given[name].kind != JArray:
      raise newException(Fault, name & " is no list")
    for item in given[name]:
      result.add item.asText(name)

proc number*(given: JsonNode, name: string): uint64 =
  ## A field of type uint32 or uint64.
  if not given.has(name):
    return 0
  let digits = if given[name].kind == JInt: $given[name].getBiggestInt else: given[name].asText(name)
  try:
    if digits.len > 0 and digits.allCharsInSet(Digits):
      return parseBiggestUInt(digits)
  except ValueError:
    discard
  raise newException(Fault, name & " is no number from 0 to 2^64-1: " & digits)

proc integer*(given: JsonNode, name: string): int32 =
  ## A field of type int32.
  if not given.has(name):
    return 0
  let digits = if given[name].kind == JInt: $given[name].getBiggestInt else: given[name].asText(name)
  try:
    let value = parseBiggestInt(digits)
    if value in int32.low.int64 .. int32.high.int64:
      return int32(value)
  except ValueError:
    discard
  raise newException(Fault, name & " is not a number from -2^31 to 2^31-1: " & digits)

proc bytes*(given: JsonNode, name: string): string =
  ## A field of type bytes.
  let letters = given.text(name).strip(leading = false, chars = {'='})
  if not letters.allCharsInSet(Letters + Digits + {'+', '/', '-', '_'}) or letters.len mod 4 == 1:
    raise newException(Fault, name & " is no base64")
  decode(letters)

proc uint64Json*(number: uint64): JsonNode =
  ## A 64-bit number as a string, as ProtoJSON requires.
  %($number)

proc bytesJson*(bytes: string): JsonNode =
  ## Base64.
  %base64.encode(bytes)

# ---- The commands ------------------------------------------------------------------------------------------------

const sizes = " bloomCapacity:FILTER_SIZES bloomErrorRate:FILTER_SIZES"
const commands = {
  # For each command: the name of its answer, its capability, and its fields. A field may have a suffix: a colon and the
  # capability that the field needs.
  "hello": ("hello", "", ""),
  "open": ("opened", "", "nowMs participantId channels configuration"),
  "close": ("effects", "", "nowMs handle"),
  "send": ("effects", "", "nowMs handle channelId content messageId:MESSAGE_ID retrievalHint:RETRIEVAL_HINTS"),
  "sendEphemeral": ("effects", "EPHEMERAL", "nowMs handle channelId content messageId:MESSAGE_ID"),
  "sendSync": ("effects", "SYNC", "nowMs handle channelId"),
  "receive": ("effects", "", "nowMs handle wire retrievalHint:RETRIEVAL_HINTS"),
  "tick": ("effects", "", "nowMs handle"),
  "observe": ("state", "OBSERVE", "nowMs handle channelId filterIds"),
  "buildFilter": ("filter", "FILTER_CODEC", "messageIds" & sizes),
  "queryFilter": ("membership", "FILTER_CODEC", "bloomFilter messageIds" & sizes),
  "encode": ("encoded", "MESSAGE_CODEC", "message"),
  "decode": ("decoded", "MESSAGE_CODEC", "wire"),
  "repairTimes": ("repairOffsets", "REPAIR_TIMES",
    "nowMs participantId messageId senderId tMinMs tMaxMs numResponseGroups"),
}.toTable

type Server = ref object
  mine: Implementation
  participants: Table[uint64, Participant]
  last: uint64

proc need(server: Server, capability: string) =
  ## Raises Unsupported unless a capability with this prefix is declared.
  if capability.len == 0:
    return
  for declared in server.mine.capabilities:
    if declared.startsWith("CAPABILITY_" & capability):
      return
  raise newException(Unsupported, capability)

proc check(server: Server, name: string, given: JsonNode) =
  ## Ends the command if it has an unknown field, or a field that needs an undeclared capability.
  let (_, capability, fields) = commands[name]
  server.need(capability)
  if name == "hello":
    return
  for field, value in given:
    var known = false
    for item in fields.split(' '):
      let parts = (item & ":").split(':')
      if parts[0] == field:
        known = true
        if given.has(field) and (field != "messageId" or given.text(field).len > 0):
          server.need(parts[1])
    if not known:
      raise newException(Unsupported, "field " & field)
  if name == "open":
    let channels = given.texts("channels").len
    server.need(["UNNAMED_CHANNEL", "", "CHANNELS"][min(channels, 2)])

proc who(server: Server, given: JsonNode): Participant =
  let handle = given.number("handle")
  if handle notin server.participants:
    raise newException(Fault, "no participant has handle " & $handle)
  server.participants[handle]

proc carryOut(server: Server, name: string, given: JsonNode): JsonNode =
  case name
  of "hello":
    result = server.mine.hello(given.text("revision"))
    result["protocolVersion"] = %1
    result["capabilities"] = %server.mine.capabilities
  of "open":
    let (participant, inForce) = server.mine.open(given)
    server.last += 1
    server.participants[server.last] = participant
    result = %*{"handle": $server.last, "configuration": inForce}
  of "close":
    let participant = server.who(given)
    server.participants.del(given.number("handle"))
    result = participant.close(given)
  of "send": result = server.who(given).send(given)
  of "sendEphemeral": result = server.who(given).sendEphemeral(given)
  of "sendSync": result = server.who(given).sendSync(given)
  of "receive": result = server.who(given).receive(given)
  of "tick": result = server.who(given).tick(given)
  of "observe": result = server.who(given).observe(given)
  of "buildFilter": result = server.mine.buildFilter(given)
  of "queryFilter": result = server.mine.queryFilter(given)
  of "encode": result = server.mine.encode(given)
  of "decode": result = server.mine.decode(given)
  of "repairTimes": result = server.mine.repairTimes(given)
  else: raise newException(Unsupported, name)

# ---- The loop ----------------------------------------------------------------------------------------------------

proc answer(server: Server, line: string, id: var uint64): (string, JsonNode) =
  ## The name and the value of the answer to a line. The ID is set as soon as it is known.
  if not line.isUtf8:
    raise newException(Fault, "not a request: no UTF-8")
  let request = parseJson(line)
  if request.kind != JObject:
    raise newException(Fault, "not a request: no object")
  id = request.number("id")
  if request.hasKey("id"):
    request.delete("id")
  if request.len > 1:
    raise newException(Fault, "more than one command in a request")
  for name, given in request:
    if name notin commands:
      raise newException(Unsupported, name)
    if given.kind != JObject:
      raise newException(Fault, "the fields of " & name & " are no object")
    server.check(name, given)
    return (commands[name][0], server.carryOut(name, given))
  raise newException(Unsupported, "no command")

proc reply(server: Server, line: string): string =
  var id: uint64
  var name: string
  var value: JsonNode
  try:
    (name, value) = server.answer(line, id)
  except Rejected as refusal:
    (name, value) = ("rejected", %*{"reason": refusal.msg})
  except Unsupported as refusal:
    (name, value) = ("unsupported", %*{"what": refusal.msg})
  except CatchableError as fault: # The suite quotes it, and the process goes on. A Defect is a crash and ends it.
    stderr.writeLine(fault.getStackTrace & fault.msg)
    (name, value) = ("error", %*{"message": $fault.name & ": " & fault.msg})
  told($(%*{"id": $id, name: value}))

proc serve*(mine: Implementation) =
  ## Answers every line of stdin until it ends.
  if getEnv("SDS_TESTEE_FRAMING", "json") != "json":
    quit("this adapter speaks JSON lines only")
  # Output that is printed by mistake must not mix with the replies: from here on it goes to stderr.
  var replies: File
  if not replies.open(dup(1), fmWrite) or dup2(2, 1) < 0:
    quit("stdout is closed")
  let server = Server(mine: mine)
  var line: string
  while stdin.readLine(line):
    replies.write(server.reply(line), "\n")
    replies.flushFile()
