// A small peer of ClearSkies: its records, its requests and its answers.
import { mustBeAmong, mustBeFirst, onlyKnown, plain } from "./files.mjs";
import { before } from "./messages.mjs";

const FRACTION = /\.(\d+)/;

/** Nanoseconds since 1970. */
function nanoseconds(time) {
  const [, digits = ""] = FRACTION.exec(time) ?? [];
  return BigInt(Date.parse(time.replace(FRACTION, ""))) * 1_000_000n + BigInt(digits.padEnd(9, "0"));
}

const clockOf = ({ vector_clock: clock }) =>
  new Map(Object.entries(clock).map(([peer, number]) => [peer, BigInt(number)]));

class Peer {
  records = new Map();
  known = new Map();

  /** An update arrives (section "Conflicts"). */
  take(update) {
    const { uuid, last_updated_by: by } = update;
    const rev = BigInt(update.last_updated_rev);
    if (rev > (this.known.get(by) ?? 0n)) this.known.set(by, rev);
    const current = this.records.get(uuid);
    const incoming = { update, clock: clockOf(update), time: nanoseconds(update.update_time) };
    if (current === undefined) this.records.set(uuid, incoming);
    else if (!before(incoming.clock, current.clock)) this.records.set(uuid, this.#settled(current, incoming));
  }

  /** The update that replaces it or wins a conflict with it: the largest update_time; among equal ones the first to arrive. */
  #settled(current, incoming) {
    const clock = new Map(current.clock);
    for (const [peer, number] of incoming.clock) if (number > (clock.get(peer) ?? 0n)) clock.set(peer, number);
    const wins = before(current.clock, incoming.clock) || incoming.time > current.time;
    return { ...(wins ? incoming : current), clock };
  }

  /** The record that the application finds under a key: of several, the one with the largest update_time. */
  find(key) {
    const having = [...this.records.values()].filter(({ update }) => update.key === key && !update.deleted);
    return having.toSorted((one, other) => (one.time > other.time ? -1 : 1))[0]?.update.value;
  }

  /** The updates that a peer with this knowledge lacks, sorted by revision (section "Requesting Updates"). */
  missing(since) {
    const lacks = ({ last_updated_by: by, last_updated_rev: rev }) =>
      since[by] === undefined || BigInt(rev) > BigInt(since[by]);
    const updates = [...this.records.values()].map(({ update }) => update).filter(lacks);
    return updates.toSorted((one, other) => Number(BigInt(one.last_updated_rev) - BigInt(other.last_updated_rev)));
  }
}

/** The records under the keys that an outcome names. */
function found(peer, { keys, gone }) {
  const values = [...Object.keys(keys), ...gone].map((key) => [key, peer.find(key)]);
  return {
    keys: Object.fromEntries(values.filter(([, value]) => value !== undefined)),
    gone: values.filter(([, value]) => value === undefined).map(([key]) => key),
  };
}

export function* answers(test, header) {
  onlyKnown(header);
  const peer = new Peer();
  for (const update of test.updates) peer.take(update);
  const sent = peer.missing(test.since).map((update) => test.updates.indexOf(update));
  const signed = test.access_level === "read_only" || test.client === "read_only";
  const got = { sent, ...(signed && sent.length > 0 ? { signed: true } : {}) };
  // Equal revisions have no order.
  yield* sent.length === 2 ? mustBeAmong(got, test) : mustBeFirst(got, test);
}

export function* settles(test, header) {
  onlyKnown(header);
  const outcome = test.outcomes.find(({ keys }) => keys !== undefined) ?? { keys: {}, gone: [] };
  const seen = test.orders.map((order) => {
    const peer = new Peer();
    for (const number of order) peer.take(test.updates[number]);
    return found(peer, outcome);
  });
  const same = seen.every((each) => plain(each) === plain(seen[0]));
  yield* mustBeAmong(same ? seen[0] : { depends_on_order: true }, test);
}

export function* admits(test, header) {
  onlyKnown(header);
  const { access_level: own, from, signed_by: level, spoilt, update } = test;
  const unsigned = level === undefined && own === "read_write" && from === "read_write";
  const genuine = level === "read_write" && spoilt === undefined;
  const peer = new Peer();
  if (unsigned || genuine) peer.take(update);
  yield* mustBeFirst(found(peer, test.outcomes[0]), test);
}

// ---- Transcripts ---------------------------------------------------------------------------------------------------

const OWN = "0".repeat(32);

/** Plays the steps. The result of each must be exactly what its outcome names. */
class Player extends Peer {
  subscribed = new Set();
  bound = new Map();

  /** The updates and requests that are sent in a step. */
  play(step) {
    const sent = {};
    switch (step.do) {
      case "connect":
        return { since: Object.fromEntries([...this.known].filter(([peer]) => peer !== OWN).map(texts)), updates: sent };
      case "disconnect":
        this.subscribed.delete(step.link);
        break;
      case "ask":
        this.subscribed.add(step.link);
        sent[step.link] = this.missing(step.since);
        break;
      case "update":
        this.take(step.update);
        break;
      case "repeat":
        this.take(this.bound.get(step.update));
        break;
      case "put":
      case "delete":
        this.#change(step, sent);
        break;
    }
    return { updates: sent };
  }

  #change({ key, value = "null", do: command, binds }, sent) {
    const rev = (this.known.get(OWN) ?? 1n) + 1n;
    const update = {
      key,
      value,
      uuid: OWN,
      last_updated_by: OWN,
      last_updated_rev: String(rev),
      update_time: new Date(Number(rev) * 1000).toISOString(),
      vector_clock: { [OWN]: String(rev) },
      deleted: command === "delete",
    };
    this.take(update);
    if (binds !== undefined) this.bound.set(binds, update);
    for (const link of this.subscribed) sent[link] = [update];
  }
}

const texts = ([name, number]) => [name, String(number)];

export function* plays(test, header) {
  onlyKnown(header);
  const player = new Player();
  for (const [index, step] of test.steps.entries()) {
    const [outcome] = step.outcomes;
    const got = { ...player.play(step), ...(outcome.keys && outcome.gone ? found(player, outcome) : {}) };
    for (const sentence of unlike(got, outcome)) yield `step ${index + 1}: ${sentence}`;
  }
}

/** The fields of an outcome that differ. */
function* unlike(got, { updates = {}, ...outcome }) {
  for (const [name, value] of Object.entries(outcome)) {
    if (plain(got[name]) !== plain(value)) yield `${name}: got ${plain(got[name])}, the vector has ${plain(value)}`;
  }
  for (const [link, wanted] of Object.entries(updates)) {
    const sent = (got.updates[link] ?? []).map(({ deleted = false, ...update }) => ({ ...update, deleted }));
    const fits = (told, one) => Object.entries(told).every(([name, value]) => plain(one?.[name]) === plain(value));
    if (sent.length !== wanted.length || !wanted.every((told, place) => fits(told, sent[place]))) {
      yield `${link}: sent ${plain(sent)}, the vector has ${plain(wanted)}`;
    }
  }
}
