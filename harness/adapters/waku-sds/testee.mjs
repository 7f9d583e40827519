// Which answer belongs to which command.
import { readFileSync } from "node:fs";

import { buildFilter, decode, encode, queryFilter, repairTimes } from "./codec.mjs";
import { Participant } from "./participant.mjs";
import { Rejected, Unsupported } from "./protocol.mjs";

const PACKAGE = new URL("node_modules/@waku/sds/package.json", import.meta.url);

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
  "CAPABILITY_SDS_R",
  "CAPABILITY_MESSAGE_CODEC",
  "CAPABILITY_REPAIR_TIMES",
  "CAPABILITY_FILTER_SIZES",
];

// The only clock that the library reads. A command that has a now_ms sets it.
let now = 0;
Date.now = () => now;

export class Testee {
  #participants = new Map();
  #lastHandle = 0;

  /** The answer to a request of parseRequest: an object with the one key of Reply.answer. */
  async handle(request) {
    try {
      const fields = request.fields();
      now = fields.nowMs ?? now;
      return await this.#commands[request.command](fields);
    } catch (error) {
      if (error instanceof Unsupported) return { unsupported: { what: error.message } };
      if (error instanceof Rejected) return { rejected: { reason: error.message } };
      throw error;
    }
  }

  #commands = {
    hello: () => ({ hello: this.#hello() }),
    open: (fields) => ({ opened: this.#open(fields) }),
    close: ({ handle }) => {
      this.#participant(handle);
      this.#participants.delete(handle);
      return { effects: {} };
    },
    send: async ({ handle, channelId, content, retrievalHint }) => ({
      effects: await this.#participant(handle).send(channelId, content, retrievalHint),
    }),
    sendEphemeral: async ({ handle, channelId, content }) => ({
      effects: await this.#participant(handle).sendEphemeral(channelId, content),
    }),
    sendSync: async ({ handle, channelId }) => ({ effects: await this.#participant(handle).sendSync(channelId) }),
    receive: async ({ handle, wire, retrievalHint }) => ({
      effects: await this.#participant(handle).receive(wire, retrievalHint),
    }),
    tick: async ({ handle }) => ({ effects: await this.#participant(handle).tick() }),
    observe: ({ handle, channelId, filterIds }) => ({
      state: observe(this.#participant(handle).channel(channelId), filterIds),
    }),
    buildFilter: (fields) => ({ filter: { bloomFilter: buildFilter(fields) } }),
    queryFilter: (fields) => ({ membership: { hits: queryFilter(fields) } }),
    encode: ({ message }) => ({ encoded: { wire: encode(message) } }),
    decode: ({ wire }) => ({ decoded: decode(wire) }),
    repairTimes: (fields) => ({ repairOffsets: repairTimes(fields, now) }),
  };

  #hello() {
    const { name, version } = JSON.parse(readFileSync(PACKAGE, "utf8"));
    return {
      protocolVersion: 1,
      name,
      version,
      language: "JavaScript",
      homepage: "https://github.com/waku-org/js-waku",
      revisions: ["sds-2026-01"],
      capabilities: CAPABILITIES,
      profiles: { bloom: "waku-sds-js", hash: "sha256-be64", idOrder: "localeCompare" },
    };
  }

  #open({ participantId, channels, configuration }) {
    const participant = new Participant(participantId, channels, configuration);
    const handle = String(++this.#lastHandle);
    this.#participants.set(handle, participant);
    return { handle, configuration: participant.configuration };
  }

  #participant(handle) {
    const participant = this.#participants.get(handle);
    if (participant === undefined) throw new Rejected(`no participant has handle ${handle}`);
    return participant;
  }
}

/** The library counts with integers of any size: a clock driven past 2^64 - 1 has no place in a State. */
const isUint64 = (timestamp) => BigInt.asUintN(64, timestamp) === timestamp;

/** State of a channel. Most of it is in fields that are private in TypeScript only: they are read, never written. */
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
    // Without SDS-R the library has no such buffers: they stay unset.
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
