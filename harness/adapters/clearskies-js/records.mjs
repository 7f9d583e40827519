// The records of one peer, in memory and in its store: found by uuid and by key, with the peer's own revision and the
// highest known revision of each peer.
//
// A record is never changed but replaced. In addition to the fields of `update` in message.mjs it has
//   own          the peer's own member of the record's vector clock, which also increases when a record arrives (rule 4);
//   body         its message, in bytes, as it was received or made here;
//   signature    its received or own signature; null if there is none yet;
//   unsent       it was written here, and has not been sent yet;
//   provisional  its version was merged here, and there is no message with that version yet.
// `version` is the vector clock that peers compare: the clock of the message, merged with the clocks of messages that
// were in conflict with it.
import { boolean, integer, members, object, string } from "./json.mjs";
import { HIDDEN, PEERS, Refused } from "./limits.mjs";
import { parse, update, wins } from "./message.mjs";
import { before, clock, numbers, toJson } from "./vector-clock.mjs";
import { Store } from "./store.mjs";

const FORMAT = "clearskies-js 1";

export class Records {
  /** The peer's revision counter, which "starts with one". */
  revision = 1n;
  /** The highest known revision of each peer that has written something. */
  known = new Map();
  #peerId;
  #records = new Map();
  /** By key: the uuid of the record that has the key. */
  #owners = new Map();
  /** By key: the uuids of the other records with that key, which the application does not see. */
  #hidden = new Map();
  #store = null;
  /** Changes that are not in the store yet: uuids, and peers in `known`. */
  #dirty = new Set();
  #dirtyKnown = new Set();
  /** By uuid: the number of bytes that the record needs in the store. */
  #sizes = new Map();
  #needed = 0;

  /** @param {string} path of the store, "" for none. */
  constructor(peerId, path) {
    this.#peerId = peerId;
    if (!path) return;
    let lines = 0;
    this.#store = new Store(path, (line) => this.#restore(members(line), lines++));
    if (lines === 0) this.#store.append(this.#head());
  }

  get(uuid) {
    return this.#records.get(uuid);
  }

  values() {
    return this.#records.values();
  }

  /** The record that has the key; a deleted record has no key. */
  owner(key) {
    return this.#records.get(this.#owners.get(key));
  }

  /** Whether the application sees the record. It never sees two records with the same key. */
  isVisible(record) {
    return record.deleted || this.#owners.get(record.key) === record.uuid;
  }

  /** @throws {Refused} if a received record would exceed the limits HIDDEN or PEERS. */
  checkRoom({ key, by }) {
    if (this.#hidden.get(key)?.size >= HIDDEN) throw new Refused(`more than ${HIDDEN} records with one key`);
    if (this.known.size >= PEERS && !this.known.has(by)) throw new Refused(`more than ${PEERS} peers`);
  }

  /**
   * Notes a revision of a peer. If this peer has lost its store, the messages of others raise its revision counter
   * again.
   */
  note(by, rev) {
    if (rev > (this.known.get(by) ?? -1n)) {
      this.known.set(by, rev);
      this.#dirtyKnown.add(by);
    }
    if (by === this.#peerId && rev > this.revision) this.revision = rev;
  }

  /**
   * Stores a record in place of the record with the same uuid. If another record had the key of the new one, returns
   * that other record. The winner of these two records has the key now, and the loser is hidden.
   */
  place(record) {
    const old = this.#records.get(record.uuid);
    this.#records.set(record.uuid, record);
    this.#dirty.add(record.uuid);
    if (old && !old.deleted) this.#release(old);
    return record.deleted ? undefined : this.#claim(record);
  }

  #release({ key, uuid }) {
    const hidden = this.#hidden.get(key) ?? new Set();
    hidden.delete(uuid);
    if (this.#owners.get(key) === uuid) {
      this.#owners.delete(key);
      const heir = [...hidden].map((other) => this.#records.get(other)).reduce(winner, undefined);
      if (heir) {
        this.#owners.set(key, heir.uuid);
        hidden.delete(heir.uuid);
      }
    }
    if (hidden.size === 0) this.#hidden.delete(key);
  }

  #claim(record) {
    const rival = this.owner(record.key);
    const owner = winner(rival, record);
    this.#owners.set(record.key, owner.uuid);
    if (!rival) return undefined;
    if (!this.#hidden.has(record.key)) this.#hidden.set(record.key, new Set());
    this.#hidden.get(record.key).add(owner === record ? rival.uuid : record.uuid);
    return rival;
  }

  /** The records that a peer with these known revisions lacks, sorted by last_updated_rev. */
  since(revisions) {
    const unknown = [...this.values()].filter(({ by, rev }) => rev > (revisions.get(by) ?? -1n));
    return unknown.sort((one, other) => compare(one.rev, other.rev) || compare(one.by, other.by));
  }

  // ---- The store ---------------------------------------------------------------------------------------------------

  /** Writes all changes to the store, or none. */
  commit() {
    if (this.#dirty.size + this.#dirtyKnown.size === 0) return;
    if (this.#store) {
      const texts = [...this.#dirty].map((uuid) => this.#entry(this.#records.get(uuid)));
      const known = new Map([...this.#dirtyKnown].map((by) => [by, this.known.get(by)]));
      this.#store.append(this.#line(texts, known));
      if (this.#store.isWasteful(this.#needed + 64 * this.known.size)) this.#store.rewrite(this.#all());
    }
    this.#dirty.clear();
    this.#dirtyKnown.clear();
  }

  close() {
    this.#store?.close();
  }

  *#all() {
    yield this.#head();
    yield this.#line([], this.known);
    for (const record of this.values()) yield this.#line([this.#entry(record)], new Map());
  }

  #head() {
    return object([["format", JSON.stringify(FORMAT)], ["peer", JSON.stringify(this.#peerId)]]);
  }

  #line(entries, known) {
    const records = entries.map((entry, index) => [String(index), entry]);
    return object([["revision", String(this.revision)], ["known", toJson(known)], ["records", object(records)]]);
  }

  #entry({ uuid, body, signature, version, own, unsent }) {
    const entry = object([
      ["body", JSON.stringify(body.toString())],
      ["signature", JSON.stringify(signature?.toString("base64") ?? "")],
      ["version", toJson(version)],
      ["own", String(own)],
      ["unsent", String(unsent)],
    ]);
    this.#measure(uuid, entry);
    return entry;
  }

  #measure(uuid, entry) {
    this.#needed += entry.length - (this.#sizes.get(uuid) ?? 0);
    this.#sizes.set(uuid, entry.length);
  }

  /** Restores the changes in a line of the store. */
  #restore(line, index) {
    if (index === 0) {
      if (string(line.get("format"), "format") !== FORMAT) throw new Refused("of another format");
      if (string(line.get("peer"), "peer") !== this.#peerId) throw new Refused("of another peer");
      return;
    }
    this.revision = integer(line.get("revision"), "revision");
    for (const [by, rev] of numbers(line.get("known"), "known")) this.known.set(by, rev);
    for (const entry of members(line.get("records") ?? "").values()) {
      const fields = members(entry);
      const body = Buffer.from(string(fields.get("body"), "body"));
      const signature = Buffer.from(string(fields.get("signature"), "signature"), "base64");
      const written = update(parse(body).fields);
      const version = clock(fields.get("version"));
      const record = {
        ...written,
        version,
        provisional: !before(version, written.version),
        own: integer(fields.get("own"), "own"),
        body,
        signature: signature.length ? signature : null,
        unsent: boolean(fields.get("unsent"), "unsent"),
      };
      this.place(record);
      this.#measure(record.uuid, entry);
    }
    this.#dirty.clear();
  }
}

const compare = (one, other) => (one < other ? -1 : Number(one > other));

/** The winner of two records; the first may be missing. */
const winner = (one, other) => (one && wins(one, other) ? one : other);
