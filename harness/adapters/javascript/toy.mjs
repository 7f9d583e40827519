// A toy SDS with little more than the mandatory parts of the specification. Replace it with your implementation.
//
// A participant sends, receives, delivers in causal order and keeps a log. It never sends anything again, acknowledges
// nothing, sends neither sync nor ephemeral messages, and repairs nothing. Lamport timestamps are BigInts, because a
// Number cannot represent all of them.

export const HISTORY = 2; // Message IDs in a causal history.
export const CAPACITY = 100; // Of a bloom filter, with BITS and HASHES: about one wrong hit in a hundred.
const BITS = 1024;
const HASHES = 7;
const LARGEST = 2n ** 64n - 1n; // What a Lamport timestamp has room for.
const [VARINT, FIXED64, LENGTH, FIXED32] = [0, 1, 2, 5]; // Wire types of protobuf.

/** The error for bytes that are not a message, and for empty content to send. */
export class Refused extends Error {}

// ---- The wire: protobuf by hand ------------------------------------------------------------------------------------

function varint(number) {
  const out = [];
  for (let rest = BigInt(number); ; rest >>= 7n) {
    const low = Number(rest & 0x7fn);
    if (rest < 0x80n) return Buffer.from([...out, low]);
    out.push(low | 0x80);
  }
}

/** A field with a length prefix; text is UTF-8. */
function sized(number, value) {
  const bytes = Buffer.from(value);
  return Buffer.concat([varint((number << 3) | LENGTH), varint(bytes.length), bytes]);
}

function encode({ senderId, messageId, channelId, lamport, history, bloom, content }) {
  return Buffer.concat([
    sized(1, senderId),
    sized(2, messageId),
    sized(3, channelId),
    varint((10 << 3) | VARINT),
    varint(lamport),
    ...history.map((id) => sized(11, sized(1, id))),
    sized(12, bloom),
    sized(20, content),
  ]);
}

/** The number that begins at the index `at`, and the index after it. */
function readVarint(wire, at) {
  let value = 0n;
  for (let index = 0; index < 10 && at + index < wire.length; index++) {
    const byte = wire[at + index];
    value |= BigInt(byte & 0x7f) << BigInt(7 * index);
    if (byte < 0x80) return [value & LARGEST, at + index + 1];
  }
  throw new Refused("a varint does not end");
}

/** The tag, the wire type and the value of each field; a value is a BigInt or bytes. */
function* fields(wire) {
  for (let at = 0; at < wire.length; ) {
    let key, value;
    [key, at] = readVarint(wire, at);
    const kind = Number(key & 7n);
    if (kind === VARINT || kind === LENGTH) [value, at] = readVarint(wire, at);
    if (kind !== VARINT) {
      const size = { [FIXED64]: 8, [LENGTH]: Number(value), [FIXED32]: 4 }[kind];
      if (size === undefined || at + size > wire.length) throw new Refused("a field is cut off, or of an unknown type");
      [value, at] = [wire.subarray(at, at + size), at + size];
    }
    if (key >> 3n === 0n) throw new Refused("a field has no number");
    yield [Number(key >> 3n), kind, value];
  }
}

function text(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Refused("text that is not UTF-8");
  }
}

/** The message in these bytes. Unknown fields are skipped, including those of SDS-R. Throws Refused. */
function decode(wire) {
  const message = { senderId: "", messageId: "", channelId: "", lamport: undefined, history: [], content: Buffer.of() };
  const names = { 1: "senderId", 2: "messageId", 3: "channelId" };
  for (const [tag, kind, value] of fields(wire)) {
    if (kind === VARINT && tag === 10) message.lamport = value;
    if (kind !== LENGTH) continue;
    if (tag in names) message[names[tag]] = text(value);
    if (tag === 11) {
      const ids = [...fields(value)].filter(([t, k]) => t === 1 && k === LENGTH);
      message.history.push(ids.map(([, , id]) => text(id)).at(-1) ?? "");
    }
    if (tag === 20) message.content = value;
  }
  return message;
}

// ---- The protocol --------------------------------------------------------------------------------------------------

/** FNV-1a with 64 bits, which is good enough for a toy. */
function fnv(bytes) {
  let out = 0xcbf29ce484222325n;
  for (const byte of bytes) out = ((out ^ BigInt(byte)) * 0x100000001b3n) & LARGEST;
  return out;
}

const hex = (number) => number.toString(16);

/** Ordered by Lamport timestamp; messages with equal timestamps by the bytes of the IDs. */
function isBefore(one, other) {
  if (one.lamport !== other.lamport) return one.lamport < other.lamport;
  return Buffer.compare(Buffer.from(one.messageId), Buffer.from(other.messageId)) < 0;
}

/** The state of one participant in one channel. */
class Channel {
  #log = []; // In the order of isBefore.
  #logged = new Set();
  #waiting = new Map(); // Received, with dependencies that are not in the log.
  #received = []; // What the filter holds: the newest IDs, so it never fills.

  constructor(participantId, channelId, nowMs) {
    this.participantId = participantId;
    this.channelId = channelId;
    this.clock = BigInt(nowMs); // The Lamport timestamp.
  }

  send(content, nowMs) {
    if (content.length === 0) throw new Refused("there is no content");
    const lamport = this.clock >= BigInt(nowMs) ? this.clock + 1n : BigInt(nowMs);
    if (lamport > LARGEST) throw new Refused("the Lamport timestamp has reached its maximum");
    // The timestamp distinguishes messages of one sender in one channel; the hash distinguishes senders and channels.
    const [senderId, channelId] = [this.participantId, this.channelId];
    const who = fnv(Buffer.concat([sized(1, senderId), sized(3, channelId), sized(20, content)]));
    const messageId = `${hex(lamport)}-${hex(who).padStart(16, "0")}`;
    const history = this.#log.slice(-HISTORY).map((entry) => entry.messageId);
    const message = { senderId, messageId, channelId, lamport, history, bloom: this.#bloom(), content };
    this.#keep(message);
    return { messageId, wire: encode(message) };
  }

  receive(message) {
    const { senderId, messageId, lamport, content } = message;
    if (senderId === this.participantId) return [];
    if (lamport === undefined) return content.length > 0 ? [message] : [];
    // A sync message: its fields serve only acknowledgements and repairs.
    if (content.length === 0) return [];
    if (messageId === "") throw new Refused("a message without an ID");
    if (this.#logged.has(messageId) || this.#waiting.has(messageId)) return [];
    this.#received = [...this.#received, messageId].slice(-CAPACITY);
    this.#waiting.set(messageId, message);
    const delivered = [];
    for (let ready; (ready = this.#nextReady()) !== undefined; delivered.push(ready)) {
      this.#waiting.delete(ready.messageId);
      this.#keep(ready);
    }
    return delivered;
  }

  #nextReady() {
    for (const message of this.#waiting.values()) {
      if (message.history.every((id) => this.#logged.has(id))) return message;
    }
    return undefined;
  }

  #keep({ messageId, lamport }) {
    const entry = { messageId, lamport };
    if (lamport > this.clock) this.clock = lamport;
    const place = this.#log.findLastIndex((other) => isBefore(other, entry)) + 1;
    this.#log.splice(place, 0, entry);
    this.#logged.add(messageId);
  }

  /** A filter over the newest IDs that were received. */
  #bloom() {
    const bits = Buffer.alloc(BITS / 8);
    for (const id of this.#received) {
      const hash = fnv(Buffer.from(id));
      const [first, step] = [Number(hash >> 32n), Number(hash & 0xffffffffn)];
      for (let n = 0; n < HASHES; n++) {
        const place = (first + n * step) % BITS;
        bits[place >> 3] |= 1 << (place & 7);
      }
    }
    return bits;
  }
}

/** A participant, who joins the given channels when it is created. Times are epoch milliseconds. */
export class Participant {
  #channels;

  constructor(participantId, channels, nowMs) {
    this.#channels = new Map(channels.map((id) => [id, new Channel(participantId, id, nowMs)]));
  }

  /** `{messageId, wire}` of a new message. Throws Refused. */
  send(channelId, content, nowMs) {
    const channel = this.#channels.get(channelId);
    if (channel === undefined) throw new Refused("not a member of this channel");
    return channel.send(content, nowMs);
  }

  /** The messages that are delivered now; messages of other channels are ignored. Throws Refused. */
  receive(wire) {
    const message = decode(wire);
    return this.#channels.get(message.channelId)?.receive(message) ?? [];
  }
}
