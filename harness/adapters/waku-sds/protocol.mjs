// The JSON framing of the testee protocol (proto/sds/testee/v1/testee.proto): lines, requests and values.
// Knows nothing of the library.

/** The request cannot be understood: answered `error`. */
export class RequestError extends Error {}

/** The adapter or the library has no such thing: answered `unsupported`. */
export class Unsupported extends Error {}

/** The library refuses the input: answered `rejected`. */
export class Rejected extends Error {}

// ---- Lines ---------------------------------------------------------------------------------------------------------

/** Complete lines of a byte stream, as Buffers without their "\n". A last line without one is dropped. */
export async function* lines(stream) {
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
}

/** One line of output. Strings that are no Unicode have no place in a protobuf string: U+FFFD stands for such parts. */
export function serialize(reply) {
  return `${JSON.stringify(reply, (_, value) => (typeof value === "string" ? value.toWellFormed() : value))}\n`;
}

// ---- Values --------------------------------------------------------------------------------------------------------
// Each converter takes a JSON value and the path of the field, for messages.

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

/** A uint as a Number, which is what the library computes with. */
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
  // A copy of its own: small Buffers share one memory block.
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

export function base64(data) {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
}

// ---- Requests ------------------------------------------------------------------------------------------------------
// A field is [converter, what it is when unset]; undefined where the protocol has presence.

const NOW_MS = [uint, 0];
const HANDLE = [uint64, "0"];
const TEXT = [text, ""];
const TEXTS = [texts, []];
const BYTES = [bytes, new Uint8Array()];
const OPTIONAL_UINT = [uint, undefined];
const OPTIONAL_BYTES = [bytes, undefined];

const FILTER_SIZE = { bloomCapacity: OPTIONAL_UINT, bloomErrorRate: [double, undefined] };

const CONFIGURATION = {
  causalHistorySize: OPTIONAL_UINT,
  ...FILTER_SIZE,
  resendUnacknowledgedMs: OPTIONAL_UINT,
  resendPossiblyAcknowledgedMs: OPTIONAL_UINT,
  syncIntervalMs: OPTIONAL_UINT,
  lostTimeoutMs: OPTIONAL_UINT,
  incomingSweepMs: OPTIONAL_UINT,
  possibleAckThreshold: OPTIONAL_UINT,
  // Off unless it is asked for: the library's own default is on.
  sdsR: [bool, false],
  tMinMs: OPTIONAL_UINT,
  tMaxMs: OPTIONAL_UINT,
  numResponseGroups: [int32, undefined],
  numParticipants: OPTIONAL_UINT,
};

const OPTIONAL_TEXT = [text, undefined];
const ENTRIES = [entries, []];
const HISTORY_ENTRY = { messageId: TEXT, retrievalHint: OPTIONAL_BYTES, senderId: OPTIONAL_TEXT };
const MESSAGE = {
  senderId: TEXT,
  messageId: TEXT,
  channelId: TEXT,
  // Decimal digits: a Number would not hold all of them.
  lamportTimestamp: [uint64, undefined],
  causalHistory: ENTRIES,
  bloomFilter: OPTIONAL_BYTES,
  repairRequest: ENTRIES,
  content: OPTIONAL_BYTES,
};

const COMMANDS = {
  hello: { protocolVersion: [uint, 0], harness: TEXT, revision: TEXT },
  open: {
    nowMs: NOW_MS,
    participantId: TEXT,
    channels: TEXTS,
    // What the harness asks for is a wish: a field that is not known here stays unset in the answer.
    configuration: [(value, path) => message(value, CONFIGURATION, path, () => {}), {}],
  },
  close: { nowMs: NOW_MS, handle: HANDLE },
  send: {
    nowMs: NOW_MS,
    handle: HANDLE,
    channelId: TEXT,
    content: BYTES,
    messageId: TEXT,
    retrievalHint: OPTIONAL_BYTES,
  },
  sendEphemeral: { nowMs: NOW_MS, handle: HANDLE, channelId: TEXT, content: BYTES, messageId: TEXT },
  sendSync: { nowMs: NOW_MS, handle: HANDLE, channelId: TEXT },
  receive: { nowMs: NOW_MS, handle: HANDLE, wire: BYTES, retrievalHint: OPTIONAL_BYTES },
  tick: { nowMs: NOW_MS, handle: HANDLE },
  observe: { nowMs: NOW_MS, handle: HANDLE, channelId: TEXT, filterIds: TEXTS },
  buildFilter: { messageIds: TEXTS, ...FILTER_SIZE },
  queryFilter: { bloomFilter: BYTES, messageIds: TEXTS, ...FILTER_SIZE },
  encode: { message: [(value, path) => message(value, MESSAGE, path), message({}, MESSAGE, "message")] },
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

/**
 * The request in a line as `{command, fields()}`. `onId` is told the id as soon as it is known; `fields` throws
 * RequestError or Unsupported, so that the caller can answer.
 */
export function parseRequest(line, onId) {
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
  return {
    command,
    fields() {
      if (!Object.hasOwn(COMMANDS, command)) throw new Unsupported(command);
      return message(value, COMMANDS[command], command);
    },
  };
}
