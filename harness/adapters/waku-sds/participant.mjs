// One participant: a MessageChannel of @waku/sds for each of its channels.
import { Rejected } from "../javascript/kit.mjs";
import { decodeMessage } from "./codec.mjs";
import { hasRepairs, library } from "./library.mjs";

const { MessageChannel, MessageChannelEvent: Event } = library;

// Maximum number of entries in a repair request: a constant that the library does not export.
const MAX_REPAIR_REQUESTS = 3;

/** The channel options for a Configuration; settings without an option in the library are left out. */
function channelOptions(configuration) {
  const { causalHistorySize, lostTimeoutMs, possibleAckThreshold } = configuration;
  // SDS-R is off unless it is requested, although the library enables it by default.
  const options = { enableRepair: configuration.sdsR ?? false, repairConfig: repairConfig(configuration) };
  if (causalHistorySize !== undefined) options.causalHistorySize = causalHistorySize;
  if (lostTimeoutMs !== undefined) options.timeoutForLostMessagesMs = lostTimeoutMs;
  if (possibleAckThreshold !== undefined) {
    // In the testee protocol, a threshold of 0 means never; in the library it would mean immediately.
    options.possibleAcksThreshold = possibleAckThreshold || Number.MAX_SAFE_INTEGER;
  }
  return options;
}

/** The repair options that the Configuration sets: an undefined option would replace the library's default. */
function repairConfig({ tMinMs, tMaxMs, numResponseGroups }) {
  const config = {};
  if (tMinMs !== undefined) config.tMin = tMinMs;
  if (tMaxMs !== undefined) config.tMax = tMaxMs;
  if (numResponseGroups !== undefined) config.numResponseGroups = numResponseGroups;
  return config;
}

/** A channel with this configuration. */
function makeChannel(channelId, participantId, configuration) {
  try {
    const channel = new MessageChannel(channelId, participantId, channelOptions(configuration));
    if (derivesGroups(configuration)) channel.repairManager.updateResponseGroups(configuration.numParticipants);
    return channel;
  } catch (error) {
    throw new Rejected(`the library refuses the configuration: ${error.message}`);
  }
}

/** Whether the library derives the number of response groups. A given number has priority. */
function derivesGroups({ sdsR, numResponseGroups, numParticipants }) {
  return hasRepairs && sdsR && numResponseGroups === undefined && numParticipants !== undefined;
}

/** The effective Configuration, read back from a channel that was made with the requested one. */
function configurationInForce(configuration) {
  const channel = makeChannel("", "", configuration);
  const { possibleAcksThreshold, repairManager } = channel;
  return {
    causalHistorySize: channel.causalHistorySize,
    bloomCapacity: channel.filter.options.capacity,
    bloomErrorRate: channel.filter.options.errorRate,
    // The library has no timer: it never syncs by itself, and sweeps only when it is called.
    syncIntervalMs: "0",
    incomingSweepMs: "0",
    lostTimeoutMs: String(channel.timeoutForLostMessagesMs ?? 0),
    possibleAckThreshold: possibleAcksThreshold === Number.MAX_SAFE_INTEGER ? 0 : possibleAcksThreshold,
    sdsR: repairManager !== undefined,
    ...(repairManager && repairInForce(repairManager.config)),
    // The library does not store the number of participants.
    numParticipants: derivesGroups(configuration) ? configuration.numParticipants : undefined,
  };
}

function repairInForce({ tMin, tMax, numResponseGroups }) {
  return {
    tMinMs: String(tMin),
    tMaxMs: String(tMax),
    numResponseGroups,
    maxRepairRequests: MAX_REPAIR_REQUESTS,
  };
}

export class Participant {
  #channels = new Map();
  // The library's output since the last answer.
  #broadcasts = [];
  #events = [];
  #taskErrors = [];

  constructor(participantId, channelIds, configuration) {
    this.configuration = configurationInForce(configuration);
    for (const channelId of new Set(channelIds)) {
      const channel = makeChannel(channelId, participantId, configuration);
      this.#listen(channel);
      this.#channels.set(channelId, channel);
    }
  }

  // ---- Commands ----------------------------------------------------------------------------------------------------

  send(channelId, content, retrievalHint) {
    return this.#sending(
      channelId,
      (channel, handOver) => channel.pushOutgoingMessage(content, handOver),
      { success: true, retrievalHint },
    );
  }

  sendEphemeral(channelId, content) {
    return this.#sending(
      channelId,
      (channel, handOver) => channel.pushOutgoingEphemeralMessage(content, handOver),
      true,
    );
  }

  async sendSync(channelId) {
    await this.channel(channelId).pushOutgoingSyncMessage(async (message) => this.#broadcast(message));
    return this.#effects();
  }

  async receive(wire, retrievalHint) {
    const message = decodeMessage(wire);
    // The library itself drops messages for other channels.
    for (const channel of this.#channels.values()) {
      channel.pushIncomingMessage(message, retrievalHint);
      await channel.processTasks();
    }
    return this.#effects();
  }

  async tick() {
    for (const channel of this.#channels.values()) {
      channel.sweepIncomingBuffer();
      const { unacknowledged, possiblyAcknowledged } = channel.sweepOutgoingBuffer();
      for (const message of [...unacknowledged, ...possiblyAcknowledged]) this.#broadcast(message);
      // Sends nothing if SDS-R is off.
      if (hasRepairs) await channel.sweepRepairIncomingBuffer(async (message) => this.#broadcast(message));
    }
    return this.#effects();
  }

  channel(channelId) {
    const channel = this.#channels.get(channelId);
    if (channel === undefined) throw new Rejected(`not a member of channel ${JSON.stringify(channelId)}`);
    return channel;
  }

  // ---- Effects -----------------------------------------------------------------------------------------------------

  /** Queue a message with `push`, let the library process it, and answer with the effects and the ID of
   * the message that the library passed to the callback. */
  async #sending(channelId, push, outcome) {
    const channel = this.channel(channelId);
    let messageId = "";
    try {
      await push(channel, async (message) => {
        messageId = message.messageId;
        this.#broadcast(message);
        return outcome;
      });
    } catch (error) {
      throw new Rejected(error.message);
    }
    await channel.processTasks();
    // The library sent no message and gave a reason: it refuses an empty ephemeral message in this way.
    const [refusal] = this.#taskErrors;
    if (!messageId && refusal !== undefined) {
      this.#taskErrors = [];
      throw new Rejected(refusal.message);
    }
    return this.#effects(messageId);
  }

  #broadcast(message) {
    this.#broadcasts.push(message.encode());
    return true;
  }

  #effects(messageId = "") {
    const effects = { broadcasts: this.#broadcasts, events: this.#events, messageId };
    this.#broadcasts = [];
    this.#events = [];
    this.#taskErrors = [];
    return effects;
  }

  /** Convert the library's signals to events, in its order. No listener may throw: Node would end the process. */
  #listen(channel) {
    const { channelId } = channel;
    // The signal has the ID of the delivered message; the content was in the InMessageReceived for that ID.
    const received = new Map();
    const signal = (name, toEvent) => {
      channel.addEventListener(name, ({ detail }) => this.#events.push({ channelId, ...toEvent(detail) }));
    };
    channel.addEventListener(Event.InMessageReceived, ({ detail }) => received.set(detail.messageId, detail));
    signal(Event.InMessageDelivered, (messageId) => {
      const content = received.get(messageId)?.content ?? new Uint8Array();
      return { delivered: { messageId, content } };
    });
    signal(Event.OutMessageAcknowledged, (messageId) => ({ acknowledged: { messageId } }));
    signal(Event.OutMessagePossiblyAcknowledged, ({ messageId }) => ({ possiblyAcknowledged: { messageId } }));
    signal(Event.InMessageMissing, (entries) => ({ missing: { entries: entries.map(missingEntry) } }));
    signal(Event.InMessageLost, (entries) => ({ lost: { messageIds: entries.map(({ messageId }) => messageId) } }));
    // The library catches errors of its tasks and reports them only by this signal.
    channel.addEventListener(Event.ErrorTask, ({ detail: { command, error } }) => {
      this.#taskErrors.push(error);
      const where = `channel ${JSON.stringify(channelId)}, task ${command}`;
      process.stderr.write(`${where}: ${String(error).replace(/\s+/g, " ")}\n`);
    });
  }
}

const missingEntry = ({ messageId, retrievalHint }) => ({ messageId, retrievalHint });
