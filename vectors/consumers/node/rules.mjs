// The rules of the text: Lamport timestamps, the order of the log, causal histories, acknowledgements.
import { NotConfirmed, mustBeFirst, ofProposal, onlyKnown, plain } from "./files.mjs";

const LARGEST = 2n ** 64n - 1n;
const LARGEST_OF_PROPOSAL = 2n ** 31n - 1n;
/** How far a timestamp of the proposal may be above the necessary value. */
const PLAUSIBLE = 1_000n;

// ---- Lamport timestamps --------------------------------------------------------------------------------------------

/** max(now, timestamp + 1), in section "Send Message" and, for a sync message, "Periodic Sync Message". */
function send(local, now) {
  const next = now > local ? now : local + 1n;
  return next > LARGEST ? { rejected: true, local } : { local: next, sent: next };
}

const KEEPS = (local) => ({ local });
const TAKES_OVER = (local, _, received) => ({ local: received > local ? received : local });
const OPERATIONS = {
  send,
  "send-sync": send,
  deliver: TAKES_OVER,
  "send-ephemeral": KEEPS,
  "receive-sync": KEEPS,
  "receive-ephemeral": KEEPS,
  "receive-waiting": KEEPS,
  "receive-own": KEEPS,
};

/** In the proposal, timestamps count from 0. A sync message has the current one; a received one counts like any message. */
const OPERATIONS_OF_PROPOSAL = {
  ...OPERATIONS,
  send: (local) =>
    local + 1n > LARGEST_OF_PROPOSAL ? { rejected: true, local } : { local: local + 1n, sent: local + 1n },
  "send-sync": (local) => ({ local, sent: local }),
  "receive-sync": TAKES_OVER,
};

export function* keepsTime(test, header) {
  onlyKnown(header);
  const operations = ofProposal(header) ? OPERATIONS_OF_PROPOSAL : OPERATIONS;
  const { operation, local, now_ms: now, received = "0" } = test;
  if (!Object.hasOwn(operations, operation)) throw new NotConfirmed(`no operation called ${operation}`);
  const got = operations[operation](BigInt(local), BigInt(now), BigInt(received));
  const texts = Object.entries(got).map(([name, value]) => [name, typeof value === "bigint" ? String(value) : value]);
  yield* mustBeFirst(Object.fromEntries(texts), test);
  for (const { local: least, up_to: most } of test.outcomes) {
    const furthest = BigInt(least) + PLAUSIBLE < LARGEST_OF_PROPOSAL ? BigInt(least) + PLAUSIBLE : LARGEST_OF_PROPOSAL;
    if (most !== undefined && BigInt(most) !== furthest) yield `up to ${most} is not up to ${furthest}`;
  }
}

// ---- The log -------------------------------------------------------------------------------------------------------

/** Ascending by timestamp, then by ID, compared byte by byte in UTF-8. */
function logOf(arrivals) {
  const order = (a, b) => {
    const [first, second] = [a, b].map(({ lamport_timestamp: lamport }) => BigInt(lamport));
    if (first !== second) return first < second ? -1 : 1;
    return Buffer.compare(Buffer.from(a.message_id), Buffer.from(b.message_id));
  };
  return arrivals.toSorted(order).map(({ message_id: id }) => id);
}

export function* ordersLog(test, header) {
  onlyKnown(header);
  yield* mustBeFirst({ log: logOf(test.arrivals) }, test);
}

export function* namesHistory(test, header) {
  onlyKnown(header);
  yield* mustBeFirst({ causal_history: test.size > 0 ? logOf(test.arrivals).slice(-test.size) : [] }, test);
}

// ---- Acknowledgements ----------------------------------------------------------------------------------------------

/**
 * Section "Review ACK Status": named in a causal history is acknowledged, in a filter possibly acknowledged. What comes
 * back under the own ID, copies and ephemeral messages say nothing, and filters that are given as bytes are foreign.
 */
export function* acknowledges(test, header) {
  onlyKnown(header);
  const states = new Map(test.own.map((id) => [id, "unacknowledged"]));
  const known = new Set();
  for (const [index, { received, outcomes }] of test.steps.entries()) {
    const { sender_id: sender, message_id: messageId, kind } = received;
    const counts = sender !== test.participant_id && kind !== "ephemeral" && !known.has(messageId);
    // In the proposal a sync message is received like any other, and can come twice.
    if (kind === "content" || (kind === "sync" && ofProposal(header))) known.add(messageId);
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
