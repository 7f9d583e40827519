// The hashes of SDS-R, by libraries that the generator does not use.
import { createHash } from "node:crypto";

import farmhash from "farmhash";
import { fingerprint64 as fingerprintOfAnother } from "farmhash-modern";
import murmur from "murmurhash3js-revisited";

import { NotConfirmed, mustBeFirst } from "./files.mjs";

const utf8 = (text) => Buffer.from(text, "utf-8");
export const abs = (value) => (value < 0n ? -value : value);

export const murmur32 = (text) => BigInt(murmur.x86.hash32(utf8(text)));

/** FarmHash's fingerprint as a signed integer, as on the platform. Two libraries must agree on it. */
export function farmhash64(text) {
  const bytes = utf8(text);
  const value = farmhash.fingerprint64(bytes);
  // farmhash-modern computes wrong hashes for inputs of several whole blocks of 64 bytes.
  const whole = bytes.length > 64 && bytes.length % 64 === 0;
  const other = fingerprintOfAnother(bytes);
  if (!whole && value !== other) throw new Error(`farmhash has ${value} for ${text}, farmhash-modern ${other}`);
  return BigInt.asIntN(64, value);
}

/** By profile: the platform's integer of a string, which may be negative. */
export const INTEGERS = {
  "sha256-be64": (text) => createHash("sha256").update(utf8(text)).digest().readBigUInt64BE(0),
  "farmhash64-nim": farmhash64,
  "murmur3-32-nim": murmur32,
};

/** hash(a) or hash(a, b): the arguments one after the other, and never negative. */
export const hash = (profile, ...parts) => abs(INTEGERS[profile](parts.join("")));

export function* hashes(test) {
  if (!Object.hasOwn(INTEGERS, test.profile)) throw new NotConfirmed(`no hash called ${test.profile} is known here`);
  yield* mustBeFirst({ hash: String(hash(test.profile, ...test.parts)) }, test);
}
