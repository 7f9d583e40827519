// What the text says in rules: Lamport timestamps, the order of the log, causal histories, acknowledgements.
import { NotConfirmed, mustBeFirst, plain } from "./files.mjs";

const LARGEST = 2n ** 64n - 1n;

function onlySds({ revisions }) {
  if (!revisions.some((revision) => revision.startsWith("sds-"))) throw new NotConfirmed("rules of another revision");
}

// ---- Lamport timestamps --------------------------------------------------------------------------------------------

/** max(now, timestamp + 1), in section "Send Message" and, for a sync message, "Periodic Sync Message". */
function send(local, now) {
  const next = now > local ? now : local + 1n;
  return next > LARGEST ? { rejected: true, local } : { local: next, sent: next };
}

const KEEPS = (local) => ({ local });
const OPERATIONS = {
  send,
  "send-sync": send,
  deliver: (local, _, received) => ({ local: received > local ? received : local }),
  "send-ephemeral": KEEPS,
  "receive-sync": KEEPS,
  "receive-ephemeral": KEEPS,
  "receive-waiting": KEEPS,
  "receive-own": KEEPS,
};

export function* keepsTime(test, header) {
  onlySds(header);
  const { operation, local, now_ms: now, received = "0" } = test;
  if (!Object.hasOwn(OPERATIONS, operation)) throw new NotConfirmed(`no operation called ${operation}`);
  const got = OPERATIONS[operation](BigInt(local), BigInt(now), BigInt(received));
  const texts = Object.entries(got).map(([name, value]) => [name, typeof value === "bigint" ? String(value) : value]);
  yield* mustBeFirst(Object.fromEntries(texts), test);
}

// ---- The log -------------------------------------------------------------------------------------------------------

/** Ascending timestamps, and among equal ones ascending IDs, compared byte by byte in UTF-8. */
function logOf(arrivals) {
  const order = (a, b) => {
    const [first, second] = [a, b].map(({ lamport_timestamp: lamport }) => BigInt(lamport));
    if (first !== second) return first < second ? -1 : 1;
    return Buffer.compare(Buffer.from(a.message_id), Buffer.from(b.message_id));
  };
  return arrivals.toSorted(order).map(({ message_id: id }) => id);
}

export function* ordersLog(test) {
  yield* mustBeFirst({ log: logOf(test.arrivals) }, test);
}

export function* namesHistory(test) {
  yield* mustBeFirst({ causal_history: test.size > 0 ? logOf(test.arrivals).slice(-test.size) : [] }, test);
}

// ---- Acknowledgements ----------------------------------------------------------------------------------------------

/**
 * Section "Review ACK Status": named in a causal history is acknowledged, in a filter possibly acknowledged. What comes
 * back under the own ID, copies and ephemeral messages say nothing, and filters that are given as bytes are foreign.
 */
export function* acknowledges(test, header) {
  onlySds(header);
  const states = new Map(test.own.map((id) => [id, "unacknowledged"]));
  const known = new Set();
  for (const [index, { received, outcomes }] of test.steps.entries()) {
    const { sender_id: sender, message_id: messageId, kind } = received;
    const counts = sender !== test.participant_id && kind !== "ephemeral" && !known.has(messageId);
    if (kind === "content") known.add(messageId);
    for (const id of (counts && received.filter_over) || []) {
      if (states.get(id) === "unacknowledged") states.set(id, "possibly_acknowledged");
    }
    for (const id of counts ? received.causal_history : []) if (states.has(id)) states.set(id, "acknowledged");
    const got = { unacknowledged: [], possibly_acknowledged: [], acknowledged: [] };
    for (const [id, state] of states) got[state].push(id);
    for (const sentence of mustBeFirst(got, { outcomes })) yield `step ${index + 1}: ${sentence}`;
  }
  if (test.steps.length === 0) yield `it has no step: ${plain(test)}`;
}
