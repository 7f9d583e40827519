// The codec operations: pure functions of the library, without a participant.
import { Rejected, Unsupported } from "../javascript/kit.mjs";
import { countsInBigInts, hasRepairs, library } from "./library.mjs";

const { ContentMessage, EphemeralMessage, Message, MessageChannel, SyncMessage } = library;

// ---- Filters -------------------------------------------------------------------------------------------------------

/** The class of a channel's filter, and its arguments. The library does not export this class with its hash function.
 * */
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

/** Reads a filter as the library does when it receives a message. */
export function queryFilter({ bloomFilter, messageIds, ...size }) {
  const { constructor, options } = filterClass(size);
  const filter = refusing("fromBytes", () => constructor.fromBytes(bloomFilter, options));
  return messageIds.map((messageId) => filter.lookup(messageId));
}

// ---- Messages ------------------------------------------------------------------------------------------------------

/** Encodes a message of any kind as a Message: Message.encode writes the same fields for every kind. */
export function encode({ messageId, channelId, senderId, causalHistory, lamportTimestamp, ...rest }) {
  const { bloomFilter, content, repairRequest } = rest;
  if (repairRequest.length > 0 && !hasRepairs) throw new Unsupported("repair_request: this release has no such field");
  // In a release without SDS-R, the last parameter of the constructor means something else and is not encoded.
  const requests = hasRepairs ? repairRequest : undefined;
  const lamport = lamportTimestamp === undefined ? undefined : counted(lamportTimestamp);
  const message = refusing(
    "Message",
    () => new Message(messageId, channelId, senderId, causalHistory, lamport, bloomFilter, content, requests),
  );
  return refusing("Message.encode", () => message.encode());
}

/** A Lamport timestamp in the number type of the release. */
const counted = (digits) => (countsInBigInts ? BigInt(digits) : toNumber(digits));

const KINDS = [
  [ContentMessage, "MESSAGE_KIND_CONTENT"],
  [SyncMessage, "MESSAGE_KIND_SYNC"],
  [EphemeralMessage, "MESSAGE_KIND_EPHEMERAL"],
];

/** Decodes bytes as the library does when they arrive from the network. */
export function decodeMessage(wire) {
  const message = refusing("Message.decode", () => Message.decode(wire));
  if (message === undefined) throw new Rejected("Message.decode rejects these bytes");
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

/** The answer to RepairTimes, by the library's RepairManager. It reads the clock, which shows `now`. */
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

/** An error that the library throws counts as a refusal. */
function refusing(what, call) {
  try {
    return call();
  } catch (error) {
    throw new Rejected(`${what} threw: ${error.message}`);
  }
}
