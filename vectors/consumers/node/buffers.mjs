// The repair request buffers of a participant, message by message (section "SDS-R receive message").
import { mustBeFirst } from "./files.mjs";
import { INTEGERS } from "./hashes.mjs";
import { compute } from "./repairs.mjs";

/** The participant of a test: its log, its waiting messages, and both repair buffers. Each entry has a time for each hash. */
class Buffers {
  #logged = new Map();
  #waiting = new Map();
  outgoing = new Map();
  incoming = new Map();

  constructor(test, requestsAgain) {
    this.test = test;
    this.requestsAgain = requestsAgain;
  }

  receive(message, at) {
    if (message.sender_id === this.test.participant_id) return;
    const isContent = Boolean(message.content) && message.lamport_timestamp !== undefined;
    if (isContent) {
      this.outgoing.delete(message.message_id);
      this.incoming.delete(message.message_id);
    }
    this.#track(message, at);
    if (isContent && !this.#logged.has(message.message_id)) this.#waiting.set(message.message_id, message);
    this.#deliver();
    for (const entry of message.repair_request) this.#heed(entry, at);
  }

  /** The amended text examines all waiting messages; the other text examines only the message that has just arrived. */
  #track(message, at) {
    const of = [...(this.requestsAgain ? this.#waiting.values() : []), message];
    for (const { message_id: id } of of.flatMap(({ causal_history: history }) => history)) {
      const here = this.#logged.has(id) || this.#waiting.has(id) || id === message.message_id;
      if (!here && !this.outgoing.has(id)) this.outgoing.set(id, this.#times("t-req", id, "", at));
    }
  }

  #deliver() {
    const isMet = ({ message_id: id }) => this.#logged.has(id);
    for (let before = -1; before !== this.#logged.size; ) {
      before = this.#logged.size;
      for (const [id, message] of this.#waiting) {
        if (!message.causal_history.every(isMet)) continue;
        this.#waiting.delete(id);
        this.#logged.set(id, message);
      }
    }
  }

  #heed({ message_id: id, sender_id: author }, at) {
    this.outgoing.delete(id);
    const message = this.#logged.get(id);
    if (message === undefined || this.incoming.has(id)) return;
    this.incoming.set(id, this.#times("t-resp", id, author || message.sender_id, at));
  }

  #times(name, messageId, senderId, at) {
    const asked = { ...this.test, message_id: messageId, sender_id: senderId };
    const due = Object.keys(INTEGERS).map((profile) => [profile, at + compute(name, profile, asked).offset_ms]);
    return Object.fromEntries(due);
  }
}

const entries = (buffer) => [...buffer].sort().map(([id, due]) => ({ message_id: id, due_ms: due }));

export function* tracksRepairs(test, { revisions }) {
  // With more than one group, the hash decides who answers. No test covers that.
  if (test.num_response_groups !== 1) yield "it has more than one response group";
  for (const revision of revisions) {
    const buffers = new Buffers(test, revision === "sds-2025-10-amended");
    for (const [index, { at_ms: at, receive, outcomes }] of test.steps.entries()) {
      buffers.receive(receive, at);
      const got = { outgoing: entries(buffers.outgoing), incoming: entries(buffers.incoming) };
      for (const sentence of mustBeFirst(got, { outcomes })) yield `step ${index + 1} by ${revision}: ${sentence}`;
    }
  }
}
