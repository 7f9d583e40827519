// ProtoJSON: the commands of clearskies/testee/v1/testee.proto as lines, and replies as lines. In ProtoJSON bytes are
// base64, 64-bit numbers are strings, enums are names, and fields that are 0 or empty may be absent.

/** The request needs something that does not exist: it is answered `unsupported`. */
export class Unsupported extends Error {}

/** The request is invalid: it is answered `error`. */
export class RequestError extends Error {}

function text(value, path) {
  if (typeof value !== "string") throw new RequestError(`${path}: a string is needed`);
  return value;
}

/** Decimal digits of a uint64, which may be a string or a number. */
function uint64(value, path) {
  const digits = typeof value === "number" && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof digits !== "string" || !/^\d{1,20}$/.test(digits) || BigInt(digits) >= 1n << 64n) {
    throw new RequestError(`${path}: an unsigned integer is needed`);
  }
  return String(BigInt(digits));
}

function uint(value, path) {
  const number = Number(uint64(value, path));
  if (!Number.isSafeInteger(number)) throw new Unsupported(`${path} above 2^53 - 1`);
  return number;
}

function bytes(value, path) {
  if (typeof value !== "string" || !/^[\w+/-]*={0,2}$/.test(value)) throw new RequestError(`${path}: base64 is needed`);
  return Buffer.from(value, "base64");
}

function texts(value, path) {
  if (!Array.isArray(value)) throw new RequestError(`${path}: an array is needed`);
  return value.map((item, index) => text(item, `${path}[${index}]`));
}

const message = (fields, onUnknown) => [(value, path) => read(value, fields, path, onUnknown), read({}, fields, "")];

/** The name of an enum without its prefix; "" if it is unspecified or unknown. */
const name = (prefix, names) => [
  (value) => names.find((item, index) => value === index + 1 || value === prefix + item) ?? "",
  "",
];

// A field is [converter, value when unset].
const UINT = [uint, 0];
const TEXT = [text, ""];
const TEXTS = [texts, []];
const BYTES = [bytes, Buffer.alloc(0)];
const PEER = { nowMs: UINT, handle: [uint64, "0"] };
const LINK = { ...PEER, link: [uint64, "0"] };
const ACCESS_LEVEL = name("ACCESS_LEVEL_", ["READ_WRITE", "READ_ONLY"]);
const KEYS = { readWritePrivate: TEXT, readOnlyPrivate: TEXT, readWritePublic: TEXT, readOnlyPublic: TEXT };
const CONFIGURATION = { resolution: name("RESOLUTION_", ["MERGE", "SEPARATE"]) };

/** The fields of each command. */
const COMMANDS = {
  hello: { protocolVersion: UINT, harness: TEXT, revision: TEXT },
  open: {
    nowMs: UINT,
    peerId: TEXT,
    accessLevel: ACCESS_LEVEL,
    keys: message(KEYS),
    // The configuration of the harness is a proposal: unknown settings are ignored.
    configuration: message(CONFIGURATION, () => {}),
    store: TEXT,
  },
  close: PEER,
  connect: { ...LINK, peerId: TEXT, accessLevel: ACCESS_LEVEL },
  disconnect: LINK,
  receive: { ...LINK, data: BYTES },
  put: { ...PEER, key: TEXT, value: TEXT, uuid: TEXT },
  rename: { ...PEER, key: TEXT, newKey: TEXT },
  delete: { ...PEER, key: TEXT },
  tick: PEER,
  observe: { ...PEER, uuids: TEXTS },
  compareClocks: { one: BYTES, other: BYTES },
  frame: { body: BYTES, privateKey: TEXT },
  unframe: { data: BYTES },
  verify: { body: BYTES, signature: BYTES, publicKey: TEXT },
};

/** The fields that are set: ProtoJSON's null is unset. */
function setFields(value, path) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new RequestError(`${path}: an object is needed`);
  }
  return Object.entries(value).filter(([, item]) => item !== null);
}

function refuse(what) {
  throw new Unsupported(what);
}

function read(value, fields, path, onUnknown = refuse) {
  const result = Object.fromEntries(Object.entries(fields).map(([field, [, unset]]) => [field, unset]));
  for (const [field, item] of setFields(value, path)) {
    if (Object.hasOwn(fields, field)) result[field] = fields[field][0](item, `${path}.${field}`);
    else onUnknown(`${path}.${field}`);
  }
  return result;
}

/** The request in a line as `{command, fields}`. `onId` is called with the id as soon as it is known. */
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
  const [[command, value] = ["no command"]] = set;
  if (!Object.hasOwn(COMMANDS, command)) throw new Unsupported(command);
  return { command, fields: read(value, COMMANDS[command], command) };
}

/** A reply as a line. BigInts become strings, and Maps objects; bytes have to be base64 already. */
export function serialize(reply) {
  const json = JSON.stringify(reply, (field, value) => {
    if (typeof value === "string") return value.toWellFormed();
    if (typeof value === "bigint") return String(value);
    return value instanceof Map ? Object.fromEntries(value) : value;
  });
  return `${json}\n`;
}
