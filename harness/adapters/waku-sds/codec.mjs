// The codec operations: pure functions of the library, without a participant.
import { Rejected, Unsupported } from "../javascript/kit.mjs";
import { countsInBigInts, hasRepairs, library } from "./library.mjs";

const { ContentMessage, EphemeralMessage, Message, MessageChannel, SyncMessage } = library;

// ---- Filters -------------------------------------------------------------------------------------------------------

/** The class of a channel's filter, which is not exported with the library's hash in it, and what it is made with. */
function filterClass({ bloomCapacity, bloomErrorRate }) {
  const { constructor, options } = new MessageChannel("", "", { enableRepair: false }).filter;
  const { capacity = options.capacity, errorRate = options.errorRate } = {
    capacity: bloomCapacity,
    errorRate: bloomErrorRate,
  };
  return { constructor, options: { ...options, capacity, errorRate } };
}

export function buildFilter({ messageIds, ...size }) {
  const { constructor, options } = filterClass(size);
  const filter = refusing("DefaultBloomFilter", () => new constructor(options));
  for (const messageId of messageIds) filter.insert(messageId);
  return filter.toBytes();
}

/** As the library reads the filter of a message that it receives. */
export function queryFilter({ bloomFilter, messageIds, ...size }) {
  const { constructor, options } = filterClass(size);
  const filter = refusing("fromBytes", () => constructor.fromBytes(bloomFilter, options));
  return messageIds.map((messageId) => filter.lookup(messageId));
}

// ---- Messages ------------------------------------------------------------------------------------------------------

/** The message's own class decides nothing: whatever it is, it is written by the method of Message. */
export function encode({ messageId, channelId, senderId, causalHistory, lamportTimestamp, ...rest }) {
  const { bloomFilter, content, repairRequest } = rest;
  if (repairRequest.length > 0 && !hasRepairs) throw new Unsupported("repair_request: this release has no such field");
  // Without the field the constructor has another one in its place, which is not encoded.
  const requests = hasRepairs ? repairRequest : undefined;
  const lamport = lamportTimestamp === undefined ? undefined : counted(lamportTimestamp);
  const message = refusing(
    "Message",
    () => new Message(messageId, channelId, senderId, causalHistory, lamport, bloomFilter, content, requests),
  );
  return refusing("Message.encode", () => message.encode());
}

/** A Lamport timestamp as the release counts it. */
const counted = (digits) => (countsInBigInts ? BigInt(digits) : toNumber(digits));

const KINDS = [
  [ContentMessage, "MESSAGE_KIND_CONTENT"],
  [SyncMessage, "MESSAGE_KIND_SYNC"],
  [EphemeralMessage, "MESSAGE_KIND_EPHEMERAL"],
];

/** As the library reads what arrives from the network. */
export function decodeMessage(wire) {
  const message = refusing("Message.decode", () => Message.decode(wire));
  if (message === undefined) throw new Rejected("Message.decode made no message of these bytes");
  return message;
}

export function decode(wire) {
  const message = decodeMessage(wire);
  const { senderId, messageId, channelId, lamportTimestamp, causalHistory, bloomFilter, repairRequest } = message;
  return {
    message: {
      senderId,
      messageId,
      channelId,
      lamportTimestamp: lamportTimestamp === undefined ? undefined : String(lamportTimestamp),
      causalHistory: causalHistory.map(historyEntry),
      bloomFilter,
      repairRequest: repairRequest?.map(historyEntry),
      content: message.content,
    },
    kind: KINDS.find(([kind]) => message instanceof kind)?.[1],
  };
}

function historyEntry({ messageId, retrievalHint, senderId }) {
  return { messageId, retrievalHint, senderId };
}

// ---- Repair times --------------------------------------------------------------------------------------------------

/** By the library's RepairManager, which computes with the clock: `now` is what that shows. */
export function repairTimes({ participantId, messageId, senderId, tMinMs, tMaxMs, numResponseGroups }, now) {
  const repairConfig = { tMin: toNumber(tMinMs), tMax: toNumber(tMaxMs), numResponseGroups };
  const { repairManager } = new MessageChannel("", participantId, { enableRepair: true, repairConfig });
  return refusing("RepairManager", () => ({
    tReqMs: offset(repairManager.calculateTReq(messageId), now),
    tRespMs: offset(repairManager.calculateTResp(senderId, messageId), now),
    inResponseGroup: repairManager.isInResponseGroup(senderId, messageId),
  }));
}

/** The library counts milliseconds in Numbers, which are not exact above 2^53 - 1. */
function toNumber(digits) {
  const number = Number(digits);
  if (!Number.isSafeInteger(number)) throw new Rejected(`${digits} is more than a Number counts`);
  return number;
}

const offset = (time, now) => String(toNumber(time) - now);

/** What the library throws at its input is its refusal. */
function refusing(what, call) {
  try {
    return call();
  } catch (error) {
    throw new Rejected(`${what} threw: ${error.message}`);
  }
}
