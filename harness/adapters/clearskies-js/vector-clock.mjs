// Vector clocks (section "Conflicts"): Maps from peer IDs to BigInts. Members that are 0 are not in the Map: "at first
// all values are zero".
import { integer, members, object } from "./json.mjs";
import { PEERS, Refused, UINT64 } from "./limits.mjs";

const ID = /^[0-9a-f]{32}$/;

/** Whether the value is an ID: 128 bits as 32 lower-case hex digits. */
export const isId = (text) => ID.test(text);

/** The numbers by peer ID in a JSON object: a vector clock, or `since`. */
export function numbers(text, what) {
  const result = new Map();
  if (text === undefined) throw new Refused(`${what}: missing`);
  for (const [peer, number] of members(text)) {
    if (!isId(peer)) throw new Refused(`${what}: ${JSON.stringify(peer.slice(0, 40))} is no peer ID`);
    result.set(peer, integer(number, what));
    if (result.size > PEERS) throw new Refused(`${what}: more than ${PEERS} members`);
  }
  return result;
}

/** The vector clock in a JSON object. */
export function clock(text, what = "vector_clock") {
  const result = numbers(text, what);
  for (const [peer, number] of result) if (number === 0n) result.delete(peer);
  return result;
}

/** A Map of numbers by peer ID as the text of a JSON object. */
export const toJson = (map) => object(Array.from(map, ([peer, number]) => [peer, String(number)]));

/** Whether each member of `other` is at least as large as in `one`. If this holds in both directions, they are equal.
*/
export function before(one, other) {
  for (const [peer, number] of one) if (number > (other.get(peer) ?? 0n)) return false;
  return true;
}

/** The merged clock: each member is the larger of the two. */
export function join(one, other) {
  const result = new Map(one);
  for (const [peer, number] of other) if (number > (result.get(peer) ?? 0n)) result.set(peer, number);
  return result;
}

/** The next number, at most 2^64 - 1. */
export const tick = (number) => (number < UINT64 ? number + 1n : number);
