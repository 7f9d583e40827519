// Your adapter: passes each command to the implementation, and returns the result. As delivered, the implementation is
// a toy.
import { Implementation, Rejected, serve } from "./kit.mjs";
import { CAPACITY, HISTORY, Participant, Refused } from "./toy.mjs";

class Adapter extends Implementation {
  hello = { name: "toy-sds", version: "0.1.0", language: "JavaScript", revisions: ["sds-2026-01"] };
  // Declare only what works: tests of undeclared capabilities are skipped, and do not fail.
  capabilities = ["CAPABILITY_VIRTUAL_CLOCK", "CAPABILITY_CHANNELS", "CAPABILITY_DELIVERED"];

  open({ nowMs, participantId, channels }) {
    // The toy has nothing to configure. Still report the configuration in force.
    const configuration = { causalHistorySize: HISTORY, bloomCapacity: CAPACITY, bloomErrorRate: 0.01, sdsR: false };
    return { who: new Participant(participantId, channels, nowMs), configuration };
  }

  close() {}

  send(who, { nowMs, channelId, content }) {
    const { messageId, wire } = refusing(() => who.send(channelId, content, nowMs));
    return { broadcasts: [wire], messageId };
  }

  receive(who, { wire }) {
    const messages = refusing(() => who.receive(wire));
    const delivered = ({ channelId, messageId, content }) => ({ channelId, delivered: { messageId, content } });
    return { events: messages.map(delivered) };
  }

  tick() {
    // The toy has no periodic work.
  }
}

/** A refusal of the implementation is answered `rejected`; any other exception is a fault. */
function refusing(call) {
  try {
    return call();
  } catch (error) {
    throw error instanceof Refused ? new Rejected(error.message) : error;
  }
}

await serve(new Adapter());
