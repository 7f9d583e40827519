// The kit: speaks the testee protocol, JSON lines on stdin and stdout, for an Implementation. `new-adapter` copies this
// file: do not change it. The kit needs only Node 20 or newer; kit.d.mts has types for TypeScript.
//
//   stdin --line--> parseRequest --{command, fields}--> Implementation --answer--> serialize --line--> stdout
//
// Subclass Implementation, fill in its methods one by one, and call serve.

/** Throw this, with the reason, for input that the implementation refuses: the reply is `rejected`. */
export class Rejected extends Error {}

/** Throw this if the adapter or the implementation does not support the request: the reply is `unsupported`. */
export class Unsupported extends Error {}

/** The request is invalid: the reply is `error`. */
class RequestError extends Error {}

// ---- Values --------------------------------------------------------------------------------------------------------
// Each converter takes a value of ProtoJSON, and the path of the field for error messages. In ProtoJSON bytes are
// base64, 64-bit numbers are strings, and fields that are 0 or empty may be absent.

function text(value, path) {
  if (typeof value !== "string") throw new RequestError(`${path}: a string is needed`);
  return value;
}

/** Decimal digits of a uint64, which may be a string or a number in ProtoJSON. */
function uint64(value, path) {
  const digits = typeof value === "number" && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof digits !== "string" || !/^\d{1,20}$/.test(digits) || BigInt(digits) >= 1n << 64n) {
    throw new RequestError(`${path}: an unsigned integer is needed`);
  }
  return String(BigInt(digits));
}

/** A uint as a Number. */
function uint(value, path) {
  const number = Number(uint64(value, path));
  if (!Number.isSafeInteger(number)) throw new Unsupported(`${path} above 2^53 - 1`);
  return number;
}

function int32(value, path) {
  const number = typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value;
  if (number !== (number | 0)) throw new RequestError(`${path}: a signed integer is needed`);
  return number;
}

function bool(value, path) {
  if (typeof value !== "boolean") throw new RequestError(`${path}: true or false is needed`);
  return value;
}

function double(value, path) {
  const number = typeof value === "string" ? Number(value) : value;
  if (typeof number !== "number") throw new RequestError(`${path}: a number is needed`);
  return number;
}

function bytes(value, path) {
  if (typeof value !== "string" || !/^[\w+/-]*={0,2}$/.test(value)) {
    throw new RequestError(`${path}: base64 is needed`);
  }
  // Copy the bytes: small Buffers share one block of memory.
  return new Uint8Array(Buffer.from(value, "base64"));
}

function texts(value, path) {
  if (!Array.isArray(value)) throw new RequestError(`${path}: an array is needed`);
  return value.map((item, index) => text(item, `${path}[${index}]`));
}

function entries(value, path) {
  if (!Array.isArray(value)) throw new RequestError(`${path}: an array is needed`);
  return value.map((item, index) => message(item, HISTORY_ENTRY, `${path}[${index}]`));
}

// ---- Commands ------------------------------------------------------------------------------------------------------
// A field is [converter, value when unset]; this value is undefined if the protocol distinguishes unset from empty.

const NOW_MS = [uint, 0];
const TEXT = [text, ""];
const TEXTS = [texts, []];
const BYTES = [bytes, new Uint8Array()];
const OPTIONAL_UINT = [uint, undefined];
const OPTIONAL_BYTES = [bytes, undefined];
const FILTER_SIZE = { bloomCapacity: OPTIONAL_UINT, bloomErrorRate: [double, undefined] };
const PARTICIPANT = { nowMs: NOW_MS, handle: [uint64, "0"] };
const CHANNEL = { ...PARTICIPANT, channelId: TEXT };

const CONFIGURATION = {
  causalHistorySize: OPTIONAL_UINT,
  ...FILTER_SIZE,
  resendUnacknowledgedMs: OPTIONAL_UINT,
  resendPossiblyAcknowledgedMs: OPTIONAL_UINT,
  syncIntervalMs: OPTIONAL_UINT,
  lostTimeoutMs: OPTIONAL_UINT,
  incomingSweepMs: OPTIONAL_UINT,
  possibleAckThreshold: OPTIONAL_UINT,
  sdsR: [bool, undefined],
  tMinMs: OPTIONAL_UINT,
  tMaxMs: OPTIONAL_UINT,
  numResponseGroups: [int32, undefined],
  numParticipants: OPTIONAL_UINT,
  maxRepairRequests: OPTIONAL_UINT,
};
const HISTORY_ENTRY = { messageId: TEXT, retrievalHint: OPTIONAL_BYTES, senderId: [text, undefined] };
const MESSAGE = {
  senderId: TEXT,
  messageId: TEXT,
  channelId: TEXT,
  // Decimal digits, because a Number would lose some of them.
  lamportTimestamp: [uint64, undefined],
  causalHistory: [entries, []],
  bloomFilter: OPTIONAL_BYTES,
  repairRequest: [entries, []],
  content: OPTIONAL_BYTES,
};

/** The fields of each command. */
const COMMANDS = {
  hello: { protocolVersion: [uint, 0], harness: TEXT, revision: TEXT },
  open: {
    nowMs: NOW_MS,
    participantId: TEXT,
    channels: TEXTS,
    // The configuration of the harness is a proposal: an unknown field stays unset in the answer.
    configuration: [(value, path) => message(value, CONFIGURATION, path, () => {}), message({}, CONFIGURATION, "")],
  },
  close: PARTICIPANT,
  send: { ...CHANNEL, content: BYTES, messageId: TEXT, retrievalHint: OPTIONAL_BYTES },
  sendEphemeral: { ...CHANNEL, content: BYTES, messageId: TEXT },
  sendSync: CHANNEL,
  receive: { ...PARTICIPANT, wire: BYTES, retrievalHint: OPTIONAL_BYTES },
  tick: PARTICIPANT,
  observe: { ...CHANNEL, filterIds: TEXTS },
  buildFilter: { messageIds: TEXTS, ...FILTER_SIZE },
  queryFilter: { bloomFilter: BYTES, messageIds: TEXTS, ...FILTER_SIZE },
  encode: { message: [(value, path) => message(value, MESSAGE, path), message({}, MESSAGE, "")] },
  decode: { wire: BYTES },
  repairTimes: {
    nowMs: NOW_MS,
    participantId: TEXT,
    messageId: TEXT,
    senderId: TEXT,
    tMinMs: [uint64, "0"],
    tMaxMs: [uint64, "0"],
    numResponseGroups: [int32, 0],
  },
};

// ---- Requests and replies ------------------------------------------------------------------------------------------

/** The fields that are set: ProtoJSON's null is unset. */
function setFields(value, path) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new RequestError(`${path}: an object is needed`);
  }
  return Object.entries(value).filter(([, item]) => item !== null);
}

function message(value, fields, path, onUnknown = refuse) {
  const result = Object.fromEntries(Object.entries(fields).map(([name, [, unset]]) => [name, unset]));
  for (const [name, item] of setFields(value, path)) {
    if (Object.hasOwn(fields, name)) result[name] = fields[name][0](item, `${path}.${name}`);
    else onUnknown(`${path}.${name}`);
  }
  return result;
}

function refuse(what) {
  throw new Unsupported(what);
}

/** The request in a line as `{command, fields}`. `onId` is called with the id as soon as it is known. */
function parseRequest(line, onId) {
  let request;
  try {
    request = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line));
  } catch (error) {
    throw new RequestError(`not a request: ${error.message}`);
  }
  const set = new Map(setFields(request, "request"));
  if (set.has("id")) onId(uint64(set.get("id"), "id"));
  set.delete("id");
  if (set.size > 1) throw new RequestError(`more than one command: ${[...set.keys()].join(", ")}`);
  const [[command, value] = ["unknown command"]] = set;
  if (!Object.hasOwn(COMMANDS, command)) throw new Unsupported(command);
  return { command, fields: message(value, COMMANDS[command], command) };
}

/**
 * One line of output. Bytes become base64 and BigInts strings. A protobuf string cannot contain invalid Unicode: U+FFFD
 * replaces it.
 */
function serialize(reply) {
  const json = JSON.stringify(reply, function (key, value) {
    if (typeof value === "string") return value.toWellFormed();
    if (typeof value === "bigint") return String(value);
    const original = this[key]; // A Buffer has made an array of numbers of itself by now.
    if (!(original instanceof Uint8Array)) return value;
    return Buffer.from(original.buffer, original.byteOffset, original.byteLength).toString("base64");
  });
  return `${json}\n`;
}

// ---- The commands of an implementation -----------------------------------------------------------------------------

const ANSWERS = { open: "opened", observe: "state", buildFilter: "filter", queryFilter: "membership" };
Object.assign(ANSWERS, { encode: "encoded", decode: "decoded", repairTimes: "repairOffsets" });
const NEEDS = { sendSync: "SYNC", sendEphemeral: "EPHEMERAL", observe: "OBSERVE", buildFilter: "FILTER_CODEC" };
Object.assign(NEEDS, { queryFilter: "FILTER_CODEC", encode: "MESSAGE_CODEC", decode: "MESSAGE_CODEC" });
Object.assign(NEEDS, { repairTimes: "REPAIR_TIMES" });

/** The capabilities, without their prefix, that a request needs. */
function needed(command, { bloomCapacity, bloomErrorRate, handle, messageId, retrievalHint, channels }) {
  const needs = NEEDS[command] ? [NEEDS[command]] : [];
  if (bloomCapacity !== undefined || bloomErrorRate !== undefined) needs.push("FILTER_SIZES");
  if (handle !== undefined && messageId) needs.push("MESSAGE_ID");
  if (retrievalHint !== undefined) needs.push("RETRIEVAL_HINTS");
  if (channels?.length === 0) needs.push("UNNAMED_CHANNEL");
  if (channels?.length > 1) needs.push("CHANNELS");
  return needs;
}

function todo(what) {
  throw new Error(`not filled in: ${what}`);
}

/**
 * The commands are methods of this class; they may be async. The first argument `who` is the participant, as returned
 * by `open`; the others are the fields of the command: bytes are Uint8Arrays, times are Numbers. Results use the names
 * of the protocol; bytes are Uint8Arrays or Buffers, and empty fields may be left out. Effects are `{broadcasts:
 * [bytes], events: [...], messageId}`, an event for example `{channelId: "c1", delivered: {messageId: "m1", content:
 * bytes}}`.
 */
export class Implementation {
  /** The fields of HelloReply except the capabilities: name, version, language, revisions, profiles and limits. */
  hello = { name: "my-sds", version: "0", language: "JavaScript", revisions: ["sds-2026-01"] };
  /** The capabilities, for example `["CAPABILITY_VIRTUAL_CLOCK"]`. */
  capabilities = [];
  #participants = new Map();
  #lastHandle = 0;

  /** Called before each command that has a time: if the implementation reads a clock, set that clock here. */
  setClock(nowMs) {}

  open({ nowMs, participantId, channels, configuration }) {
    todo("open: make a participant, join the channels; return {who, configuration}, with the effective configuration");
  }
  close(who, { nowMs }) {
    todo("close: free the participant, not the process; return nothing");
  }
  send(who, { nowMs, channelId, content, messageId, retrievalHint }) {
    todo("send: send content; return effects with the messageId");
  }
  sendEphemeral(who, { nowMs, channelId, content, messageId }) {
    todo("sendEphemeral: send an ephemeral message; return effects with the messageId");
  }
  sendSync(who, { nowMs, channelId }) {
    todo("sendSync: send a sync message now; return effects, {} if there was nothing to send");
  }
  receive(who, { nowMs, wire, retrievalHint }) {
    todo("receive: pass on the unchanged bytes from the network; return effects, {} for ignored bytes");
  }
  tick(who, { nowMs }) {
    todo("tick: run the periodic work that is due, in every channel; return effects, {} if none");
  }
  observe(who, { nowMs, channelId, filterIds }) {
    todo("observe: return the State of the channel; leave out what cannot be seen");
  }
  buildFilter({ messageIds, bloomCapacity, bloomErrorRate }) {
    todo("buildFilter: return {bloomFilter: bytes} over the IDs, even if they exceed the capacity");
  }
  queryFilter({ bloomFilter, messageIds, bloomCapacity, bloomErrorRate }) {
    todo("queryFilter: return {hits: [...]}, a boolean for each ID");
  }
  encode({ message }) {
    todo("encode: return {wire: bytes} of a message with exactly these fields");
  }
  decode({ wire }) {
    todo("decode: return {message, kind}, the message with the fields that are set; throw Rejected for invalid bytes");
  }
  repairTimes({ nowMs, participantId, messageId, senderId, tMinMs, tMaxMs, numResponseGroups }) {
    todo("repairTimes: return {tReqMs, tRespMs, inResponseGroup}; the times are milliseconds after nowMs");
  }

  /** The answer to one command: an object with the one key of Reply.answer. */
  async answer(command, fields) {
    if (command === "hello") {
      return { hello: { protocolVersion: 1, ...this.hello, capabilities: this.capabilities } };
    }
    const has = (need) => this.capabilities.some((name) => name.startsWith(`CAPABILITY_${need}`));
    const lacking = needed(command, fields).filter((need) => !has(need));
    if (lacking.length > 0) throw new Unsupported(lacking.join(", "));
    if (fields.nowMs !== undefined) this.setClock(fields.nowMs);
    if (command === "open") {
      const { who, configuration } = await this.open(fields);
      const handle = String(++this.#lastHandle);
      this.#participants.set(handle, who);
      return { opened: { handle, configuration } };
    }
    const { handle, ...rest } = fields;
    const result = handle === undefined ? this[command](rest) : this[command](this.#participant(handle), rest);
    if (command === "close") this.#participants.delete(handle);
    return { [ANSWERS[command] ?? "effects"]: (await result) ?? {} };
  }

  #participant(handle) {
    if (!this.#participants.has(handle)) throw new Rejected(`no participant has handle ${handle}`);
    return this.#participants.get(handle);
  }
}

// ---- The loop ------------------------------------------------------------------------------------------------------

/** Lines of a byte stream, as Buffers without "\n". The last line may have no "\n". */
async function* lines(stream) {
  let parts = [];
  for await (const chunk of stream) {
    let start = 0;
    for (let end; (end = chunk.indexOf(0x0a, start)) !== -1; start = end + 1) {
      parts.push(chunk.subarray(start, end));
      yield Buffer.concat(parts);
      parts = [];
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  }
  if (parts.length) yield Buffer.concat(parts);
}

/** The reply to one line, as a line. */
async function reply(implementation, line) {
  let id = "0";
  try {
    const { command, fields } = parseRequest(line, (known) => (id = known));
    return serialize({ id, ...(await implementation.answer(command, fields)) });
  } catch (error) {
    if (error instanceof Unsupported) return serialize({ id, unsupported: { what: error.message } });
    if (error instanceof Rejected) return serialize({ id, rejected: { reason: error.message } });
    // A fault of the adapter: reply with `error`, which the suite quotes, and continue.
    if (!(error instanceof RequestError)) {
      process.stderr.write(`${String(error?.stack ?? error).replace(/\s*\n\s*/g, " | ")}\n`);
    }
    return serialize({ id, error: { message: String(error?.message ?? error) } });
  }
}

/** Print a sentence to stderr and exit. */
export function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}

/** Answer every line of stdin with the implementation, one after the other, until stdin ends. */
export async function serve(implementation) {
  const framing = process.env.SDS_TESTEE_FRAMING;
  if (framing && framing !== "json") {
    fail("this adapter speaks JSON lines only: run sds-conformance with --framing json");
  }
  process.stdout.on("error", (error) => fail(`stdout: ${error.message}`));
  // Output of the implementation must not mix with the replies.
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  for await (const line of lines(process.stdin)) {
    const answered = await reply(implementation, line);
    // Wait for a slow reader.
    await new Promise((resolve, reject) => write(answered, (error) => (error ? reject(error) : resolve())));
  }
  // A timer of the implementation must not keep the process alive after stdin ends.
  process.exit(0);
}
