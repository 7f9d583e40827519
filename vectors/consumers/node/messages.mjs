// ClearSkies on a link: vector clocks as JSON, framing, signatures.
import { constants, createPrivateKey, createPublicKey, sign, verify } from "node:crypto";

import { NotConfirmed, mustBeAmong, mustBeFirst, onlyKnown } from "./files.mjs";

const REJECTED = { rejected: true };

// ---- Vector clocks -------------------------------------------------------------------------------------------------

const LITERALS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** The clock in a JSON text, with its numbers as BigInt; undefined if the text is not a clock. */
function clockIn(text) {
  let value;
  try {
    // Keep numbers as text, because JSON.parse would round them.
    value = JSON.parse(text.replace(LITERALS, (each) => (each[0] === '"' ? each : `{"digits":"${each}"}`)));
  } catch {
    return undefined;
  }
  if (value === null || typeof value !== "object" || Array.isArray(value) || "digits" in value) return undefined;
  const whole = Object.entries(value).every(
    ([peer, number]) =>
      /^[0-9a-f]{32}$/.test(peer) && /^\d+$/.test(number?.digits ?? "") && BigInt(number.digits) < 2n ** 64n,
  );
  return whole ? new Map(Object.entries(value).map(([peer, { digits }]) => [peer, BigInt(digits)])) : undefined;
}

/** Is each number of `one` at most that of `other`? Absent peers have zero. */
export const before = (one, other) => [...one].every(([peer, number]) => number <= (other.get(peer) ?? 0n));

export function relation(one, other) {
  if (before(one, other)) return before(other, one) ? "equal" : "before";
  return before(other, one) ? "after" : "concurrent";
}

export function* compares(test, header) {
  onlyKnown(header);
  const [one, other] = [test.one, test.other].map(clockIn);
  const got = one && other ? { relation: relation(one, other) } : REJECTED;
  yield* test.flags.includes("Malformed") ? mustBeAmong(got, test) : mustBeFirst(got, test);
}

// ---- Framing -------------------------------------------------------------------------------------------------------

const NEWLINE = 0x0a;
const LARGEST_BODY = 16_777_216;
const DIGITS = String(LARGEST_BODY).length;
const HEAD = new RegExp(`^(?:[m!](\\d{1,${DIGITS}})|[s$](\\d{1,${DIGITS}}):(\\d{1,${DIGITS}}))(?=[^\\d:])`);
const BEGUN = new RegExp(`^(?:[m!]\\d{0,${DIGITS}}|[s$]\\d{0,${DIGITS}}(?::\\d{0,${DIGITS}})?)$`);

class Broken extends Error {}

/** The first message of a stream and the position of its end; undefined if it is not complete. */
function message(stream) {
  if (stream.length === 0) return undefined;
  const text = stream.subarray(0, 24).toString("latin1");
  const head = HEAD.exec(text);
  if (head === null) {
    if (BEGUN.test(text)) return undefined;
    throw new Broken();
  }
  const [start, length] = [head[0].length, Number(head[1] ?? head[2])];
  if (length > LARGEST_BODY || length === 0 || text[start] !== "{") throw new Broken();
  let end = start + length;
  const read = { body: stream.subarray(start, end).toString("hex") };
  if (head[3] !== undefined) {
    const from = end + 1;
    if ((stream[end] ?? NEWLINE) !== NEWLINE) throw new Broken();
    end = from + Number(head[3]) + 1;
    if (stream.length >= end) {
      const signature = stream.subarray(from, end - 1).toString("latin1");
      const bytes = Buffer.from(signature, "base64");
      if (stream[end - 1] !== NEWLINE || bytes.toString("base64") !== signature) throw new Broken();
      read.signature = bytes.toString("hex");
    }
  }
  if (stream.length < end) return undefined;
  if ("!$".includes(text[0])) end = afterPieces(stream, end);
  return end === undefined ? undefined : { read, end };
}

/** The position at which the attached pieces end; undefined if it has not arrived. */
function afterPieces(stream, start) {
  for (let at = start; ; ) {
    const text = stream.subarray(at, at + DIGITS + 1).toString("latin1");
    const piece = /^(\d+)\n/.exec(text);
    if (piece === null) {
      if (/^\d*$/.test(text)) return undefined;
      throw new Broken();
    }
    at += piece[0].length + Number(piece[1]);
    if (at > stream.length) return undefined;
    if (Number(piece[1]) === 0) return at;
  }
}

export function* unframes(test, header) {
  onlyKnown(header);
  let stream = Buffer.from(test.stream, "hex");
  const messages = [];
  try {
    for (let next = message(stream); next !== undefined; next = message(stream)) {
      messages.push(next.read);
      stream = stream.subarray(next.end);
    }
    yield* mustBeFirst({ messages, rest: stream.length }, test);
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    yield* mustBeFirst(REJECTED, test);
  }
}

const isBody = (body) => body[0] === 0x7b && body.length <= LARGEST_BODY;
const framed = (body) => Buffer.concat([Buffer.from(`m${body.length}`), body]);

export function* frames(test, header) {
  onlyKnown(header);
  const body = Buffer.from(test.body, "hex");
  yield* mustBeFirst(isBody(body) ? { wire: framed(body).toString("hex") } : REJECTED, test);
}

// ---- Signatures ----------------------------------------------------------------------------------------------------

const PROFILES = {
  "rsa-pkcs1-sha256": ["sha256", { padding: constants.RSA_PKCS1_PADDING }],
  "rsa-pkcs1-sha1": ["sha1", { padding: constants.RSA_PKCS1_PADDING }],
  "rsa-pss-sha256": ["sha256", { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }],
};

function profileOf({ profile }) {
  if (!Object.hasOwn(PROFILES, profile)) throw new NotConfirmed(`no profile called ${profile}`);
  return PROFILES[profile];
}

export function* verifies(test, header) {
  onlyKnown(header);
  const [hash, how] = profileOf(test);
  const key = createPublicKey(header.public_keys[test.signed_by]);
  const [body, signature] = [test.body, test.signature].map((hex) => Buffer.from(hex, "hex"));
  yield* mustBeFirst({ valid: verify(hash, body, { key, ...how }, signature) }, test);
}

export function* signs(test, header) {
  onlyKnown(header);
  const [hash, how] = profileOf(test);
  const key = createPrivateKey(header.private_keys[test.signed_by]);
  const body = Buffer.from(test.body, "hex");
  const signature = sign(hash, body, { key, ...how });
  if (how.saltLength !== undefined) {
    // Each signature is different, so a signature made here does not confirm another one.
    yield* mustBeFirst({ genuine: verify(hash, body, { key: createPublicKey(key), ...how }, signature) }, test);
    return;
  }
  const text = signature.toString("base64");
  const wire = Buffer.concat([Buffer.from(`s${body.length}:${text.length}`), body, Buffer.from(`\n${text}\n`)]);
  yield* mustBeFirst({ wire: wire.toString("hex") }, test);
}
