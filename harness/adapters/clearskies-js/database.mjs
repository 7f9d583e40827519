// Changes of records: by the application, by other peers, and to resolve conflicts between these changes.
//
// A read-write peer resolves a conflict by writing a record and sending it. A read-only peer cannot sign anything: it
// keeps the message of the winner, merges the clocks, and waits for the resolution of a read-write peer.
import { randomBytes } from "node:crypto";
import { value as jsonValue } from "./json.mjs";
import { DEPTH, PEERS, Refused, UINT64 } from "./limits.mjs";
import { checkedKey, merged, timeOf, updateBody, wins } from "./message.mjs";
import { Records } from "./records.mjs";
import { before, isId, join, tick } from "./vector-clock.mjs";

const larger = (one, other) => (one > other ? one : other);

/** A record as the application sees it. */
const seen = ({ key, value, by, rev, time, deleted }) => [key, value, by, rev, time, deleted].join("\n");

export class Database {
  #peerId;
  #readOnly;
  #resolution;

  /** @param resolution "MERGE", "SEPARATE" or "" for the default. */
  constructor({ peerId, readOnly, resolution, store }) {
    this.#peerId = peerId;
    this.#readOnly = readOnly;
    this.#resolution = resolution;
    this.records = new Records(peerId, store);
  }

  // ---- Changes of the application ----------------------------------------------------------------------------------

  /** Creates a record with this key, or changes the value of the record that has it. Returns the record's uuid. */
  put(key, value, uuid, nowMs) {
    this.#checkWriter();
    const text = jsonValue(value, DEPTH - 1);
    const current = this.records.owner(checkedKey(key));
    if (current) return this.#write({ ...current, value: text }, nowMs).uuid;
    if (uuid && !isId(uuid)) throw new Refused("uuid: 32 lower-case hex digits are needed");
    if (uuid && this.records.get(uuid)) throw new Refused("uuid: another record has it");
    return this.#create(key, text, uuid || randomBytes(16).toString("hex"), nowMs).uuid;
  }

  /** Gives the record with this key another key. */
  rename(key, newKey, nowMs) {
    this.#checkWriter();
    const record = this.#live(key);
    const other = this.records.owner(checkedKey(newKey));
    if (other && other !== record) throw new Refused("another record has the new key");
    return this.#write({ ...record, key: newKey }, nowMs).uuid;
  }

  delete(key, nowMs) {
    this.#checkWriter();
    return this.#write({ ...this.#live(key), value: "null", deleted: true }, nowMs).uuid;
  }

  #checkWriter() {
    if (this.#readOnly) throw new Refused("a read-only peer cannot change data");
  }

  #live(key) {
    const record = this.records.owner(key);
    if (!record) throw new Refused("no record has this key");
    return record;
  }

  #create(key, value, uuid, nowMs) {
    return this.#write({ uuid, key, value, deleted: false, version: new Map(), own: 0n }, nowMs);
  }

  /** A local change: the revision counter and the peer's member of the vector clock go up by one (rule 2). */
  #write(record, nowMs) {
    const rev = this.records.revision + 1n;
    const own = record.own + 1n;
    if (larger(rev, own) > UINT64) throw new Refused("the 64 bits of a counter are used up");
    const by = this.#peerId;
    const version = new Map(record.version).set(by, own);
    if (version.size > PEERS) throw new Refused(`vector_clock: more than ${PEERS} members`);
    const written = { ...record, by, rev, time: timeOf(nowMs), version, own, signature: null };
    Object.assign(written, { unsent: true, provisional: false });
    written.body = updateBody(written);
    this.records.note(by, rev);
    this.records.place(written);
    return written;
  }

  /**
   * The record as it is sent to other peers. When a change is sent for the first time, the peer's member of the vector
   * clock increases by one (rule 3). Later, the same message is repeated: if the clock increased each time, two
   * messages of one change would look like two changes.
   */
  outgoing(uuid) {
    const record = this.records.get(uuid);
    if (!record.unsent) return record;
    const own = tick(record.own);
    const version = new Map(record.version).set(this.#peerId, own);
    const sent = this.#remade({ ...record, version, own }) ?? record;
    this.records.place({ ...sent, unsent: false });
    return this.records.get(uuid);
  }

  /** The record's vector clock, with this peer's member as it is after reception: rule 4 increases it then. */
  clock({ version, own }) {
    return own > 0n ? new Map(version).set(this.#peerId, own) : version;
  }

  // ---- Changes of others -------------------------------------------------------------------------------------------

  /**
   * A database.update arrived: `incoming` is its record, with its body and signature.
   * @returns what to do: `repeat`, a message to relay unchanged to all other peers, or null; `send`, the uuids of
   * records to send to all peers, in this order; `events`, for the application.
   * @throws {Refused} if the record cannot be stored. Nothing has changed then.
   */
  receive(incoming, nowMs) {
    this.records.checkRoom(incoming);
    const outcome = { repeat: null, send: new Set(), events: [], touched: new Map() };
    const current = this.records.get(incoming.uuid);
    const descends = current && before(current.version, incoming.version);
    // The clock of the message includes the merged clock of the provisional version: a read-write peer resolved the
    // conflict.
    const resolves = descends && current.provisional;
    if (current && !resolves && before(incoming.version, current.version)) {
      this.records.note(incoming.by, incoming.rev);
      return outcome;
    }
    // Rule 4: the own member increases by one at reception; the received member replaces it if that is larger.
    const own = larger(tick(current?.own ?? 0n), incoming.version.get(this.#peerId) ?? 0n);
    const arrived = { ...incoming, own, unsent: false, provisional: false };
    if (current && !descends) this.#sameUuid(current, arrived, nowMs, outcome);
    else {
      this.#place(arrived, nowMs, outcome);
      outcome.repeat = arrived;
    }
    this.records.note(incoming.by, incoming.rev);
    for (const [uuid, old] of outcome.touched) {
      const record = this.records.get(uuid);
      if (this.records.isVisible(record) && (!old || seen(old) !== seen(record))) {
        outcome.events.push({ changed: record });
      }
    }
    return outcome;
  }

  /** Stores a record, and resolves a conflict about its key. */
  #place(record, nowMs, outcome) {
    const old = this.#touch(record.uuid, outcome);
    const rival = this.records.place(record);
    const wasThere = old && !old.deleted && old.key === record.key;
    if (rival && !wasThere) this.#sameKey(rival, record, nowMs, outcome);
  }

  #touch(uuid, outcome) {
    const old = this.records.get(uuid);
    if (!outcome.touched.has(uuid)) outcome.touched.set(uuid, old);
    return old;
  }

  /** Makes a change that resolves a conflict. Returns false, without the change, if it would exceed a limit. */
  #change(record, nowMs, outcome) {
    try {
      this.#touch(record.uuid, outcome);
      this.#write(record, nowMs);
      // The record that is written last is sent last, so that revisions are sent in order.
      outcome.send.delete(record.uuid);
      outcome.send.add(record.uuid);
      return true;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (!this.records.get(record.uuid)) outcome.touched.delete(record.uuid);
      return false;
    }
  }

  /** Resolves a conflict of two versions of one record: neither descends from the other. */
  #sameUuid(current, arrived, nowMs, outcome) {
    const version = join(current.version, arrived.version);
    if (version.size > PEERS) throw new Refused(`vector_clock: more than ${PEERS} members`);
    outcome.events.push({ conflict: { uuid: current.uuid, incomingUuid: arrived.uuid } });
    const [winner, loser] = wins(arrived, current) ? [arrived, current] : [current, arrived];
    const result = { ...winner, version, own: arrived.own, provisional: true };
    if (this.#readOnly) {
      this.#place(result, nowMs, outcome);
      outcome.repeat = arrived;
      return;
    }
    const value = this.#mergedValue(winner, loser);
    this.#place(this.#remade(result) ?? result, nowMs, outcome);
    const live = this.records.get(result.uuid);
    const merges = value !== undefined && !live.deleted && this.#change({ ...live, value }, nowMs, outcome);
    if (!merges) outcome.send.add(result.uuid);
    this.#separate(winner, loser, nowMs, outcome);
  }

  /** Resolves a conflict of two records with the same key: only one can keep it. */
  #sameKey(rival, record, nowMs, outcome) {
    outcome.events.push({ conflict: { uuid: rival.uuid, incomingUuid: record.uuid } });
    if (this.#readOnly) return;
    const winner = this.records.owner(record.key);
    const loser = winner === record ? rival : record;
    const value = this.#mergedValue(winner, loser);
    this.#separate(winner, loser, nowMs, outcome);
    // The loser stays as a deleted record, so that no older message restores it, and others receive the deletion.
    this.#change({ ...loser, value: "null", deleted: true }, nowMs, outcome);
    if (value !== undefined) this.#change({ ...winner, value }, nowMs, outcome);
  }

  /** The record with a new message body, made from its fields; null if the body would exceed a limit. */
  #remade(record) {
    try {
      return { ...record, body: updateBody(record), signature: null, provisional: false };
    } catch (error) {
      if (error instanceof Refused) return null;
      throw error;
    }
  }

  /** The merged value of two records; undefined if the application does not merge or the winner has this value. */
  #mergedValue(winner, loser) {
    if (this.#resolution !== "MERGE" || winner.deleted || loser.deleted) return undefined;
    const value = merged(winner.value, loser.value);
    return value === winner.value ? undefined : value;
  }

  /**
   * Stores the loser under a new uuid and key, if the application keeps both. Other peers may do the same: the key is
   * the same on all peers, so the copies are in conflict, and one of them remains.
   */
  #separate(winner, loser, nowMs, outcome) {
    if (this.#resolution !== "SEPARATE" || loser.deleted) return;
    if (!winner.deleted && winner.value === loser.value) return;
    const key = `${loser.key} (conflict ${loser.by.slice(0, 8)} ${loser.rev})`;
    if (this.records.owner(key)) return;
    const uuid = randomBytes(16).toString("hex");
    const fresh = { uuid, key, value: loser.value, deleted: false, version: new Map(), own: 0n };
    this.#change(fresh, nowMs, outcome);
  }
}
