// Bloom filters: those of @waku/sds by its own class, those of nim-sds by their layout and other hash libraries.
import { MessageChannel } from "@waku/sds";
import protobuf from "protobufjs";

import { NotConfirmed, mustBeAmong, mustBeFirst } from "./files.mjs";
import { abs, farmhash64, murmur32 } from "./hashes.mjs";

const ENVELOPE = `
syntax = "proto3";
message BloomFilter {
  bytes bits = 1;
  uint64 capacity = 2;
  uint64 error_rate_millionths = 3;
  uint64 hash_count = 4;
  uint64 bit_count = 5;
}`;
const Envelope = protobuf.parse(ENVELOPE, { keepCase: true }).root.lookupType("BloomFilter");

const hex = (bytes) => Buffer.from(bytes).toString("hex");

// ---- @waku/sds -----------------------------------------------------------------------------------------------------

/** The class of the filter of a channel; it is exported only without the library's hash in it. */
const LibraryFilter = new MessageChannel("", "", { enableRepair: false }).filter.constructor;

const libraryOptions = (test) => ({ capacity: test.capacity, errorRate: test.error_rate_millionths / 1e6 });

const waku = {
  build(test) {
    const filter = new LibraryFilter(libraryOptions(test));
    if (filter.totalBits !== test.bits || filter.kHashes !== test.hashes) {
      throw new Error(`the library makes ${filter.totalBits} bits and ${filter.kHashes} hashes`);
    }
    for (const id of test.message_ids) filter.insert(id);
    return { bytes: filter.toBytes(), holds: (id) => filter.lookup(id) };
  },
  query(test) {
    const options = libraryOptions(test);
    const wire = Buffer.from(test.bloom_filter, "hex");
    // A filter that is too long is foreign, too.
    if (wire.length > new LibraryFilter(options).toBytes().length) {
      throw new NotConfirmed("@waku/sds reads as many bytes as it needs, and leaves the rest");
    }
    const filter = LibraryFilter.fromBytes(wire, options);
    return (id) => filter.lookup(id);
  },
};

// ---- nim-sds -------------------------------------------------------------------------------------------------------

/** A bound, so that a foreign filter cannot cause unlimited work. */
const MOST_HASHES = 64;

/** Double hashing over whole 64-bit words, little-endian, in an envelope. */
function nim(integer) {
  const positions = (id, { bits, hashes }) => {
    const [first, step] = [id, `${id} b`].map((text) => abs(integer(text)) % BigInt(bits));
    return Array.from({ length: hashes }, (_, n) => Number((first + BigInt(n) * step) % BigInt(bits)));
  };
  const has = (bytes, index) => (bytes[index >> 3] & (1 << (index & 7))) !== 0;
  const length = (bits) => 8 * (1 + Math.floor(bits / 64));
  return {
    build(test) {
      const bytes = Buffer.alloc(length(test.bits));
      for (const id of test.message_ids) {
        for (const index of positions(id, test)) bytes[index >> 3] |= 1 << (index & 7);
      }
      const envelope = {
        bits: bytes,
        capacity: test.capacity,
        error_rate_millionths: test.error_rate_millionths,
        hash_count: test.hashes,
        bit_count: test.bits,
      };
      const holds = (id) => positions(id, test).every((index) => has(bytes, index));
      return { bytes: Envelope.encode(Envelope.create(envelope)).finish(), holds };
    },
    query(test) {
      const { bits, hash_count, bit_count } = Envelope.decode(Buffer.from(test.bloom_filter, "hex"));
      const size = { bits: Number(bit_count), hashes: Number(hash_count) };
      const sane = size.bits >= 1 && size.hashes >= 1 && size.hashes <= MOST_HASHES;
      if (!sane || bits.length !== length(size.bits)) throw new RangeError("no such filter");
      return (id) => positions(id, size).every((index) => has(bits, index));
    },
  };
}

const PROFILES = { "waku-sds-js": waku, "nim-sds": nim(farmhash64), "nim-sds-murmur3": nim(murmur32) };

function profileOf({ profile }) {
  if (!Object.hasOwn(PROFILES, profile)) throw new NotConfirmed(`no filter of the name ${profile} is known here`);
  return PROFILES[profile];
}

// ---- Checks --------------------------------------------------------------------------------------------------------

export function* buildsFilter(test) {
  const [{ holds }] = test.outcomes;
  if (holds !== undefined) throw new NotConfirmed("no library here rolls a full filter over");
  yield* mustBeFirst({ bloom_filter: hex(profileOf(test).build(test).bytes) }, test);
}

export function* queriesFilter(test) {
  let holds;
  try {
    holds = profileOf(test).query(test);
  } catch (error) {
    // The libraries throw these errors for bytes that are not a filter.
    if (!(error instanceof RangeError) && !/^invalid wire type|^index out of range/.test(error.message)) throw error;
    yield* mustBeAmong({ rejected: true }, test);
    return;
  }
  yield* mustBeAmong({ hits: test.message_ids.map(holds) }, test);
}
