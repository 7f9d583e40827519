// A peer of the database extension: its links, and its requests, answers and relayed messages on them.
//
// The peer closes a link when it cannot trust the input on it any more: "it is imperative that records are
// sent and processed in order, with no records skipped, or they will never be synced".
import { Database } from "./database.mjs";
import { frame, Unframer } from "./framing.mjs";
import { Refused, REQUESTS } from "./limits.mjs";
import { getUpdatesBody, parse, since, update } from "./message.mjs";
import { sign, verify } from "./signing.mjs";

/** One connection to another peer. */
class Link {
  unframer = new Unframer();
  /** Whether this peer has sent a database.get_updates, and so receives later changes. */
  asked = false;
  /** The other end has sent a database.get_updates, so later changes are sent to it. */
  subscribed = false;
  /** Number of database.get_updates in the current Receive. */
  requests = 0;

  constructor(number, peerId, readOnly) {
    this.number = number;
    this.peerId = peerId;
    this.readOnly = readOnly;
  }
}

export class Peer {
  #readOnly;
  #keys;
  #database;
  #links = new Map();
  #used = new Set();
  #sent = [];
  #events = [];
  #failure = null;

  /**
   * @param keys `{readWritePrivate, readWritePublic}`; only a read-write peer has `readWritePrivate`.
   * @param store the path of a file, "" for none.
   */
  constructor({ peerId, readOnly, keys, resolution, store }) {
    this.#readOnly = readOnly;
    this.#keys = keys;
    this.#database = new Database({ peerId, readOnly, resolution, store });
  }

  // ---- Commands ----------------------------------------------------------------------------------------------------
  // Each returns `{sent: [{link, data}], events: [{conflict} | {changed} | {linkClosed}]}`.

  connect(number, peerId, readOnly) {
    return this.#command(() => {
      if (this.#used.has(number)) throw new Refused("there was a link of that number");
      this.#used.add(number);
      const link = new Link(number, peerId, readOnly);
      this.#links.set(number, link);
      this.#ask(link);
    });
  }

  disconnect(number) {
    return this.#command(() => this.#drop(number));
  }

  receive(number, data, nowMs) {
    return this.#command(() => {
      const link = this.#links.get(number);
      if (!link) throw new Refused("there is no link of that number");
      link.requests = 0;
      try {
        for (const message of link.unframer.push(data)) this.#message(link, message, nowMs);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        this.#close(link, error.message);
      }
    });
  }

  put(key, value, uuid, nowMs) {
    return this.#write(() => this.#database.put(key, value, uuid, nowMs));
  }

  rename(key, newKey, nowMs) {
    return this.#write(() => this.#database.rename(key, newKey, nowMs));
  }

  delete(key, nowMs) {
    return this.#write(() => this.#database.delete(key, nowMs));
  }

  /** There is no periodic work. */
  tick() {
    return this.#command(() => {});
  }

  close() {
    this.#links.clear();
    this.#database.records.close();
  }

  // ---- Visible state -----------------------------------------------------------------------------------------------

  /** The records that the application sees, including deleted ones. */
  records() {
    const { records } = this.#database;
    return [...records.values()].filter((record) => records.isVisible(record));
  }

  get revision() {
    return this.#database.records.revision;
  }

  get known() {
    return this.#database.records.known;
  }

  clock(record) {
    return this.#database.clock(record);
  }

  // ---- Inside ------------------------------------------------------------------------------------------------------

  /** Executes a change, and writes it to the store before the answer. */
  #command(work) {
    if (this.#failure) throw this.#failure;
    [this.#sent, this.#events] = [[], []];
    const uuid = work();
    try {
      this.#database.records.commit();
    } catch (error) {
      // Memory and store differ now. All later commands fail, because their changes could be lost.
      this.#failure = error;
      throw error;
    }
    return { sent: this.#sent, events: this.#events, uuid };
  }

  #write(change) {
    return this.#command(() => {
      const uuid = change();
      this.#sendToAll(uuid);
      return uuid;
    });
  }

  /** Requests updates, once for each peer: only one link to a peer should be subscribed. */
  #ask(link) {
    for (const other of this.#links.values()) if (other.asked && other.peerId === link.peerId) return;
    link.asked = true;
    this.#sent.push({ link: link.number, data: frame(getUpdatesBody(this.known)) });
  }

  #close(link, reason) {
    this.#events.push({ linkClosed: { link: link.number, reason } });
    this.#drop(link.number);
  }

  /** Removes a link. If updates were requested on it, they are requested on another link to the same peer. */
  #drop(number) {
    const gone = this.#links.get(number);
    this.#links.delete(number);
    if (!gone?.asked) return;
    const heir = [...this.#links.values()].find((link) => link.peerId === gone.peerId);
    if (heir) this.#ask(heir);
  }

  #message(link, { body, signature }, nowMs) {
    const { fields, type } = parse(body);
    if (type === "database.get_updates") this.#answer(link, since(fields));
    if (type === "database.update") {
      this.#check(link, body, signature);
      this.#update(link, { ...update(fields), body, signature }, nowMs);
    }
  }

  /** Checks the author of an update. Between two read-write peers no signature is needed, but an existing one must be
   * valid. */
  #check(link, body, signature) {
    if (!signature && !this.#readOnly && !link.readOnly) return;
    if (!signature) throw new Refused("an update without a signature");
    if (!verify(body, signature, this.#keys.readWritePublic)) throw new Refused("an update with a wrong signature");
  }

  #answer(link, revisions) {
    link.requests += 1;
    if (link.requests > REQUESTS) throw new Refused("too many database.get_updates at once");
    link.subscribed = true;
    for (const { uuid } of this.#database.records.since(revisions)) this.#send(link, this.#database.outgoing(uuid));
  }

  #update(link, incoming, nowMs) {
    const { repeat, send, events } = this.#database.receive(incoming, nowMs);
    this.#events.push(...events);
    if (repeat) {
      for (const other of this.#links.values()) {
        if (other.subscribed && other.peerId !== link.peerId) this.#send(other, repeat);
      }
    }
    for (const uuid of send) this.#sendToAll(uuid);
  }

  #sendToAll(uuid) {
    for (const link of this.#links.values()) if (link.subscribed) this.#send(link, this.#database.outgoing(uuid));
  }

  /** Sends a record's message, with a signature if the other end needs one. */
  #send(link, record) {
    if (this.#readOnly || link.readOnly) record.signature ??= sign(record.body, this.#keys.readWritePrivate);
    const signature = this.#readOnly || link.readOnly ? record.signature : null;
    this.#sent.push({ link: link.number, data: frame(record.body, signature) });
  }
}
