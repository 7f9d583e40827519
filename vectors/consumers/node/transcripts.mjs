// Transcripts: nothing here plays them, but what they tell has to hold together.
import { plain } from "./files.mjs";
import { fieldsIn } from "./wire.mjs";

/** "T+10" is ten milliseconds after the base, "T" the base, and all else a plain number. */
function timestamp(text, base) {
  const [, relative, offset] = /^(T)?([+-]?\d*)$/.exec(text) ?? [];
  return String((relative ? BigInt(base) : 0n) + BigInt(offset || 0));
}

const absolute = (message, base) =>
  message.lamport_timestamp === undefined
    ? message
    : { ...message, lamport_timestamp: timestamp(message.lamport_timestamp, base) };

/** The bytes of a step are the message that stands beside them. */
function* sameMessage({ wire, message }, base) {
  if (wire === undefined || message === undefined) return;
  const got = fieldsIn(wire);
  const told = absolute(message, base);
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

/** What happened so far, by the recommended outcomes. */
class Story {
  #received = new Map();
  #done = new Set();
  #own = new Set();

  /** Own messages, and what is given up for lost, is waited for by nobody. */
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
    if (message === undefined) return; // its message stands there as bytes alone
    if (content !== undefined && content !== message.content) yield `${id} is delivered with ${content}`;
    const unmet = message.causal_history.filter(({ message_id: dependency }) => !this.#done.has(dependency));
    // An ephemeral message waits for nothing.
    if (message.lamport_timestamp !== undefined) {
      for (const { message_id: dependency } of unmet) yield `${id} is delivered before ${dependency}`;
    }
    this.#done.add(id);
  }
}

export function* holdsTogether(test, { base_ms: base }) {
  const story = new Story();
  for (const [index, step] of test.steps.entries()) {
    const wrong = [...sameMessage(step, base), ...story.step(step)];
    for (const { state } of step.outcomes) wrong.push(...ordered(state?.log ?? [], base));
    for (const sentence of wrong) yield `step ${index + 1}: ${sentence}`;
  }
}
