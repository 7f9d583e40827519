// Transcripts are not played here. This module checks that they are consistent.
import { ofProposal, plain } from "./files.mjs";
import { fieldsIn } from "./wire.mjs";

/** "T+10" is ten milliseconds after the base, "T" the base, and anything else a plain number. */
function timestamp(text, base) {
  const [, relative, offset] = /^(T)?([+-]?\d*)$/.exec(text) ?? [];
  return String((relative ? BigInt(base) : 0n) + BigInt(offset || 0));
}

const absolute = (message, base) =>
  message.lamport_timestamp === undefined
    ? message
    : { ...message, lamport_timestamp: timestamp(message.lamport_timestamp, base) };

/** The bytes of a step must encode the message of the step. */
function* sameMessage({ wire, message }, header) {
  if (wire === undefined || message === undefined) return;
  const got = fieldsIn(wire, header);
  const told = absolute(message, header.base_ms);
  if (plain(got) !== plain(told)) yield `the wire says ${plain(got)}, the message beside it ${plain(told)}`;
}

/** A log ascends by timestamp, and among equal ones by ID; names of own IDs are not compared. */
function* ordered(log, base) {
  for (const [index, { message_id: id, lamport_timestamp: text }] of log.entries()) {
    if (index === 0) continue;
    const before = log[index - 1];
    const [first, second] = [before.lamport_timestamp, text].map((lamport) => BigInt(timestamp(lamport, base)));
    const literal = !id.startsWith("$") && !before.message_id.startsWith("$");
    const descends = literal && Buffer.compare(Buffer.from(before.message_id), Buffer.from(id)) >= 0;
    if (first > second || (first === second && descends)) yield `${before.message_id} stands before ${id} in the log`;
  }
}

/** The state so far, according to the recommended outcomes. */
class Story {
  #received = new Map();
  #done = new Set();
  #own = new Set();

  /** In texts that log sync messages, a sync message whose dependencies are met can meet those of others. */
  constructor(syncsAreLogged) {
    this.syncsAreLogged = syncsAreLogged;
  }

  #met(id) {
    if (this.#done.has(id)) return true;
    const message = this.#received.get(id);
    if (!this.syncsAreLogged || message === undefined || message.content || !message.lamport_timestamp) return false;
    this.#received.delete(id); // a message that names itself can never meet that dependency
    const met = message.causal_history.every(({ message_id: dependency }) => this.#met(dependency));
    this.#received.set(id, message);
    return met;
  }

  /** Own messages and messages that were given up as lost are no open dependencies. */
  *step({ do: command, message, binds, outcomes: [outcome] }) {
    if (command === "receive" && message !== undefined) this.#received.set(message.message_id, message);
    if (binds !== undefined) this.#own.add(binds).forEach((id) => this.#done.add(id));
    for (const event of outcome.events ?? []) {
      if (event.acknowledged !== undefined) yield* this.#isOwn(event.acknowledged);
      if (event.possibly_acknowledged !== undefined) yield* this.#isOwn(event.possibly_acknowledged);
      for (const id of event.lost ?? []) this.#done.add(id);
      if (event.delivered !== undefined) yield* this.#delivered(event);
    }
  }

  *#isOwn(id) {
    if (!this.#own.has(id)) yield `${id} is acknowledged and was never sent`;
  }

  *#delivered({ delivered: id, content }) {
    const message = this.#received.get(id);
    if (message === undefined) return; // its message is given as bytes only
    if (content !== undefined && content !== message.content) yield `${id} is delivered with ${content}`;
    const unmet = message.causal_history.filter(({ message_id: dependency }) => !this.#met(dependency));
    // An ephemeral message never waits.
    if (message.lamport_timestamp !== undefined) {
      for (const { message_id: dependency } of unmet) yield `${id} is delivered before ${dependency}`;
    }
    this.#done.add(id);
  }
}

export function* holdsTogether(test, header) {
  const { base_ms: base } = header;
  const story = new Story(ofProposal(header));
  for (const [index, step] of test.steps.entries()) {
    const wrong = [...sameMessage(step, header), ...story.step(step)];
    for (const { state } of step.outcomes) wrong.push(...ordered(state?.log ?? [], base));
    for (const sentence of wrong) yield `step ${index + 1}: ${sentence}`;
  }
}
