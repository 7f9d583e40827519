// The two messages of the extension, database.update and database.get_updates, as bodies and as objects.
import { boolean, integer, members, object, string, value } from "./json.mjs";
import { BODY_BYTES, Refused } from "./limits.mjs";
import { clock, isId, numbers, toJson } from "./vector-clock.mjs";

const TIME = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.(\d{1,9}))?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const LAST_MILLISECOND = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

function id(text, what) {
  const result = string(text, what);
  if (!isId(result)) throw new Refused(`${what}: 32 lower-case hex digits are needed`);
  return result;
}

/** Whether a key can be encoded: half a surrogate pair is not valid Unicode, and UTF-8 cannot encode it. */
export function checkedKey(key) {
  if (!key.isWellFormed()) throw new Refused("key: not valid Unicode");
  return key;
}

/** Returns the text if it is a time of ISO 8601 with an offset from UTC and at most nine digits of a second. */
function checkedTime(text) {
  const parts = TIME.exec(text);
  const [year, month, day] = (parts ?? []).slice(1, 4).map(Number);
  // Date turns a day that does not exist, such as 31 April, into another day. Every year has the calendar of the year
  // 400 years later, and Date.UTC misreads years below 100.
  const date = new Date(Date.UTC(2000 + (year % 400), month - 1, day));
  if (!parts || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || toTheMinute(text).length !== 16) {
    throw new Refused("update_time: a time of ISO 8601 is needed, with its offset from UTC");
  }
  return text;
}

/** A time converted to UTC, without seconds: 16 characters, or more before the year 0 and after the year 9999. */
function toTheMinute(time) {
  const offset = /([+-])(\d\d):(\d\d)$/.exec(time);
  if (!offset) return time.slice(0, 16);
  const minutes = Number(offset[2]) * 60 + Number(offset[3]);
  const atUtc = Date.parse(`${time.slice(0, 16)}:00Z`) - (offset[1] === "+" ? minutes : -minutes) * 60_000;
  return new Date(atUtc).toISOString().slice(0, -8);
}

/** A time converted to UTC, with nine digits after the point: sorting such texts sorts by time. */
function sortable(time) {
  const [, digits = ""] = /\.(\d+)/.exec(time) ?? [];
  return `${toTheMinute(time)}${time.slice(16, 19)}.${digits.padEnd(9, "0")}`;
}

/** Converts epoch milliseconds to a time in the format of messages. */
export function timeOf(nowMs) {
  if (nowMs > LAST_MILLISECOND) throw new Refused("a time after the year 9999");
  return new Date(nowMs).toISOString();
}

/**
 * Whether the first of two writes in conflict wins. The larger update_time wins; if the times are equal, the larger
 * last_updated_by, last_updated_rev and uuid, so that all peers choose the same.
 */
export function wins(one, other) {
  const [time, otherTime] = [sortable(one.time), sortable(other.time)];
  if (time !== otherTime) return time > otherTime;
  if (one.by !== other.by) return one.by > other.by;
  if (one.rev !== other.rev) return one.rev > other.rev;
  return one.uuid > other.uuid;
}

/** The text of a body. Throws Refused if the body is not UTF-8. */
export function text(body) {
  try {
    return UTF8.decode(body);
  } catch {
    throw new Refused("a body is not UTF-8");
  }
}

/** The members of a body and its type. */
export function parse(body) {
  const fields = members(text(body));
  return { fields, type: string(fields.get("type"), "type") };
}

/**
 * The record in a database.update: uuid, key, value (JSON text, "null" if the record is deleted), by and rev
 * (last_updated_*), time (update_time), deleted and version (vector_clock).
 */
export function update(fields) {
  const deleted = fields.has("deleted") && boolean(fields.get("deleted"), "deleted");
  if (!deleted && !fields.has("value")) throw new Refused("value: missing");
  return {
    uuid: id(fields.get("uuid"), "uuid"),
    key: checkedKey(string(fields.get("key"), "key")),
    value: deleted ? "null" : fields.get("value"),
    by: id(fields.get("last_updated_by"), "last_updated_by"),
    rev: integer(fields.get("last_updated_rev"), "last_updated_rev"),
    time: checkedTime(string(fields.get("update_time"), "update_time")),
    deleted,
    version: clock(fields.get("vector_clock")),
  };
}

/** The `since` of a database.get_updates: revisions by peer ID. */
export const since = (fields) => numbers(fields.get("since"), "since");

function bodyOf(pairs) {
  const body = Buffer.from(object(pairs));
  if (body.length > BODY_BYTES) throw new Refused(`a body has at most ${BODY_BYTES} bytes`);
  return body;
}

/** The body of a database.update. */
export function updateBody(record) {
  const pairs = [
    ["type", '"database.update"'],
    ["key", JSON.stringify(record.key)],
    ["value", record.value],
    ["uuid", JSON.stringify(record.uuid)],
    ["last_updated_by", JSON.stringify(record.by)],
    ["last_updated_rev", String(record.rev)],
    ["update_time", JSON.stringify(record.time)],
    ["vector_clock", toJson(record.version)],
  ];
  if (record.deleted) pairs.push(["deleted", "true"]);
  return bodyOf(pairs);
}

/** The body of a database.get_updates. */
export const getUpdatesBody = (known) => bodyOf([["type", '"database.get_updates"'], ["since", toJson(known)]]);

/** Merges two values. Two JSON objects become one with the members of both; if both have a member, the first one's
 * stays. Otherwise the first value stays. */
export function merged(first, second) {
  if (first[0] !== "{" || second[0] !== "{") return first;
  const both = members(first);
  const extra = [...members(second)].filter(([name]) => !both.has(name));
  return extra.length === 0 ? first : value(object([...both, ...extra]));
}
