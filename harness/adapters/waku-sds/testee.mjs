// The commands of the testee protocol, and the declaration.
import { Implementation } from "../javascript/kit.mjs";
import { buildFilter, decode, encode, queryFilter, repairTimes } from "./codec.mjs";
import { hasRepairs, identity } from "./library.mjs";
import { Participant } from "./participant.mjs";

const CAPABILITIES = [
  "CAPABILITY_VIRTUAL_CLOCK",
  "CAPABILITY_OBSERVE",
  "CAPABILITY_SYNC",
  "CAPABILITY_EPHEMERAL",
  "CAPABILITY_CHANNELS",
  "CAPABILITY_DELIVERED",
  "CAPABILITY_ACKNOWLEDGED",
  "CAPABILITY_POSSIBLY_ACKNOWLEDGED",
  "CAPABILITY_MISSING",
  "CAPABILITY_LOST",
  "CAPABILITY_RESEND",
  "CAPABILITY_RETRIEVAL_HINTS",
  "CAPABILITY_FILTER_CODEC",
  "CAPABILITY_MESSAGE_CODEC",
  "CAPABILITY_FILTER_SIZES",
  ...(hasRepairs ? ["CAPABILITY_SDS_R", "CAPABILITY_REPAIR_TIMES"] : []),
];

// The only clock that the library reads. A command that has a now_ms sets it, see setClock.
let now = 0;
Date.now = () => now;

export class Testee extends Implementation {
  hello = hello();
  capabilities = CAPABILITIES;

  setClock(nowMs) {
    now = nowMs;
  }

  open({ participantId, channels, configuration }) {
    const who = new Participant(participantId, channels, configuration);
    return { who, configuration: who.configuration };
  }

  close() {}

  send(who, { channelId, content, retrievalHint }) {
    return who.send(channelId, content, retrievalHint);
  }

  sendEphemeral(who, { channelId, content }) {
    return who.sendEphemeral(channelId, content);
  }

  sendSync(who, { channelId }) {
    return who.sendSync(channelId);
  }

  receive(who, { wire, retrievalHint }) {
    return who.receive(wire, retrievalHint);
  }

  tick(who) {
    return who.tick();
  }

  observe(who, { channelId, filterIds }) {
    return observe(who.channel(channelId), filterIds);
  }

  buildFilter(asked) {
    return { bloomFilter: buildFilter(asked) };
  }

  queryFilter(asked) {
    return { hits: queryFilter(asked) };
  }

  encode({ message }) {
    return { wire: encode(message) };
  }

  decode({ wire }) {
    return decode(wire);
  }

  repairTimes(asked) {
    return repairTimes(asked, now);
  }
}

function hello() {
  return {
    name: identity.name,
    version: identity.version,
    language: "JavaScript",
    homepage: "https://github.com/waku-org/js-waku",
    revisions: ["sds-2026-01"],
    profiles: { bloom: "waku-sds-js", hash: hasRepairs ? "sha256-be64" : undefined, idOrder: "localeCompare" },
  };
}

/**
 * Whether a State can contain this Lamport timestamp. The library counts in integers of any size, and old releases in
 * Numbers, which wrap at 32 bits on the wire. A State cannot contain a timestamp above 2^64 - 1 or below 0.
 */
const isUint64 = (timestamp) => BigInt.asUintN(64, BigInt(timestamp)) === BigInt(timestamp);

/** State of a channel. Most of it is in fields that only TypeScript treats as private: they are read, never written. */
function observe(channel, filterIds) {
  const { lamportTimestamp, localHistory, repairManager } = channel;
  const { unacknowledged, possiblyAcknowledged } = channel.sweepOutgoingBuffer();
  const log = localHistory.slice(0);
  const outgoing = (messages, state) => messages.map(({ messageId }) => ({ messageId, state }));
  return {
    lamportTimestamp: isUint64(lamportTimestamp) ? String(lamportTimestamp) : undefined,
    log: log.every((entry) => isUint64(entry.lamportTimestamp)) ? { entries: log.map(logEntry) } : undefined,
    outgoing: {
      entries: [
        ...outgoing(unacknowledged, "ACK_STATE_UNACKNOWLEDGED"),
        ...outgoing(possiblyAcknowledged, "ACK_STATE_POSSIBLY_ACKNOWLEDGED"),
      ],
    },
    incoming: { messageIds: channel.incomingBuffer.map(({ messageId }) => messageId) },
    filterHits: filterIds.map((messageId) => channel.filter.lookup(messageId)),
    // Without SDS-R the library has no repair buffers: the two fields stay unset.
    outgoingRepairs: repairManager && repairs(repairManager.outgoingBuffer, "tReq"),
    incomingRepairs: repairManager && repairs(repairManager.incomingBuffer, "tResp"),
  };
}

/** A repair request buffer; `due` names the time of its items. */
function repairs(buffer, due) {
  const entries = buffer.getItems().map((item) => ({ messageId: item.entry.messageId, dueMs: String(item[due]) }));
  return { entries };
}

function logEntry({ messageId, lamportTimestamp }) {
  return { messageId, lamportTimestamp: String(lamportTimestamp) };
}
