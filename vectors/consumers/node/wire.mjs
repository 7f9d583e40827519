// Messages on the wire, by protobufjs from a description of the fields.
import protobuf from "protobufjs";

import { NotConfirmed, isAmong, mustBeFirst, plain } from "./files.mjs";

const SDS = `
syntax = "proto3";
message HistoryEntry {
  string message_id = 1;
  optional bytes retrieval_hint = 2;
  optional string sender_id = 3;
}
message Message {
  string sender_id = 1;
  string message_id = 2;
  string channel_id = 3;
  optional uint64 lamport_timestamp = 10;
  repeated HistoryEntry causal_history = 11;
  optional bytes bloom_filter = 12;
  repeated HistoryEntry repair_request = 13;
  optional bytes content = 20;
}`;

const Message = protobuf.parse(SDS, { keepCase: true }).root.lookupType("Message");

// ---- Bytes and fields ----------------------------------------------------------------------------------------------

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const bytes = (text) => Buffer.from(text, "hex");

/** Fields that the text gives presence are there only if they were set. */
function optional(of, name, convert) {
  return Object.hasOwn(of, name) ? { [name]: convert(of[name]) } : {};
}

function entryOf(entry) {
  return {
    message_id: entry.message_id,
    ...optional(entry, "retrieval_hint", hex),
    ...optional(entry, "sender_id", String),
  };
}

/** A decoded message as it stands in vectors. */
function fieldsOf(message) {
  return {
    sender_id: message.sender_id,
    message_id: message.message_id,
    channel_id: message.channel_id,
    ...optional(message, "lamport_timestamp", String),
    causal_history: message.causal_history.map(entryOf),
    ...optional(message, "bloom_filter", hex),
    repair_request: message.repair_request.map(entryOf),
    ...optional(message, "content", hex),
  };
}

/** The message of a vector for protobufjs, which writes any string that is set, also one of no length. */
function messageOf(fields) {
  const { lamport_timestamp: lamport, bloom_filter: filter, content } = fields;
  return Message.create({
    ...strings(fields, "sender_id", "message_id", "channel_id"),
    ...(lamport !== undefined && { lamport_timestamp: protobuf.util.Long.fromString(lamport, true) }),
    causal_history: fields.causal_history.map(entryFor),
    ...(filter !== undefined && { bloom_filter: bytes(filter) }),
    repair_request: fields.repair_request.map(entryFor),
    ...(content !== undefined && { content: bytes(content) }),
  });
}

function entryFor({ retrieval_hint: hint, sender_id, ...entry }) {
  return {
    ...strings(entry, "message_id"),
    ...(hint !== undefined && { retrieval_hint: bytes(hint) }),
    ...(sender_id !== undefined && { sender_id }),
  };
}

const strings = (fields, ...names) =>
  Object.fromEntries(names.filter((name) => fields[name] !== "").map((name) => [name, fields[name]]));

/** The fields of the message in the bytes, or undefined. */
export function fieldsIn(wire) {
  try {
    return fieldsOf(Message.decode(bytes(wire)));
  } catch {
    return undefined;
  }
}

// ---- Checks --------------------------------------------------------------------------------------------------------

function onlySds({ revisions }) {
  if (!revisions.some((revision) => revision.startsWith("sds-"))) {
    throw new NotConfirmed("the wire format of another revision is not described here");
  }
}

export function* decodes(test, header) {
  onlySds(header);
  const message = fieldsIn(test.wire);
  const got = message === undefined ? { rejected: true } : { message };
  const accepted = message !== undefined && isAmong({ accepted: true }, test.outcomes);
  if (accepted || isAmong(got, test.outcomes)) return;
  yield `protobufjs makes ${plain(got)} of ${test.wire}, the vector has ${test.outcomes.map(plain).join(" or ")}`;
}

export function* encodes(test, header) {
  onlySds(header);
  yield* mustBeFirst({ wire: hex(Message.encode(messageOf(test.message)).finish()) }, test);
}

export function* classifies(test, header) {
  onlySds(header);
  const { lamport_timestamp: lamport, content = "" } = fieldsIn(test.wire);
  const withoutContent = lamport === undefined ? "undefined" : "sync";
  const withContent = lamport === undefined ? "ephemeral" : "content";
  yield* mustBeFirst({ kind: content === "" ? withoutContent : withContent }, test);
}
