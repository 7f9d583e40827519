// A peer of the database extension: its links, what it asks, answers and repeats on them.
//
// A link is closed by the peer when what comes on it cannot be trusted any more: "it is imperative that records are
// sent and processed in order, with no records skipped, or they will never be synced".
import { Database } from "./database.mjs";
import { frame, Unframer } from "./framing.mjs";
import { Refused, REQUESTS } from "./limits.mjs";
import { getUpdatesBody, parse, since, update } from "./message.mjs";
import { sign, verify } from "./signing.mjs";

/** One connection to another peer. */
class Link {
  unframer = new Unframer();
  /** This peer has sent a database.get_updates, and is subscribed to what comes after it. */
  asked = false;
  /** The other end has. */
  subscribed = false;
  /** How many it has sent in one piece. */
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
   * @param keys `{readWritePrivate, readWritePublic}`, the first for a read-write peer alone.
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

  /** Nothing is ever due. */
  tick() {
    return this.#command(() => {});
  }

  close() {
    this.#links.clear();
    this.#database.records.close();
  }

  // ---- What can be seen --------------------------------------------------------------------------------------------

  /** The records that are there for the application, those that are deleted among them. */
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

  /** Does something, and has it in the store before it is answered. */
  #command(work) {
    if (this.#failure) throw this.#failure;
    [this.#sent, this.#events] = [[], []];
    const uuid = work();
    try {
      this.#database.records.commit();
    } catch (error) {
      // What is in memory is no longer what is in the store. Nothing can be promised from here on.
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

  /** Asks for updates, once for each peer: only one link to it is to be subscribed. */
  #ask(link) {
    for (const other of this.#links.values()) if (other.asked && other.peerId === link.peerId) return;
    link.asked = true;
    this.#sent.push({ link: link.number, data: frame(getUpdatesBody(this.known)) });
  }

  #close(link, reason) {
    this.#events.push({ linkClosed: { link: link.number, reason } });
    this.#drop(link.number);
  }

  /** A link is gone. If it was the one that was asked on, another one to the same peer takes over. */
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

  /** Who may have written this? Between two read-write peers no signature is needed; one that is there has to fit. */
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

  /** Sends a record's message, signed where the other end could not trust it otherwise. */
  #send(link, record) {
    if (this.#readOnly || link.readOnly) record.signature ??= sign(record.body, this.#keys.readWritePrivate);
    const signature = this.#readOnly || link.readOnly ? record.signature : null;
    this.#sent.push({ link: link.number, data: frame(record.body, signature) });
  }
}
