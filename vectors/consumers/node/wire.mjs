// Messages on the wire, by protobufjs from a description of the fields.
import protobuf from "protobufjs";

import { isAmong, mustBeFirst, ofProposal, onlyKnown, plain } from "./files.mjs";

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

/** The proposal calls the causal history "optional repeated", which no version of proto3 has. */
const PROPOSAL = `
syntax = "proto3";
message Message {
  string sender_id = 1;
  string message_id = 2;
  optional int32 lamport_timestamp = 3;
  repeated string causal_history = 4;
  string channel_id = 5;
  optional bytes bloom_filter = 6;
  string content = 7;
}`;

const typeOf = (text) => protobuf.parse(text, { keepCase: true }).root.lookupType("Message");

// ---- Bytes and fields ----------------------------------------------------------------------------------------------

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const bytes = (text) => Buffer.from(text, "hex");

/** Fields with presence exist only if they were set. */
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

/** A decoded message in the form of the vectors. */
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

/** The message of a vector for protobufjs, which writes every string that is set, even an empty one. */
function messageOf(fields) {
  const { lamport_timestamp: lamport, bloom_filter: filter, content } = fields;
  return {
    ...strings(fields, "sender_id", "message_id", "channel_id"),
    ...(lamport !== undefined && { lamport_timestamp: protobuf.util.Long.fromString(lamport, true) }),
    causal_history: fields.causal_history.map(entryFor),
    ...(filter !== undefined && { bloom_filter: bytes(filter) }),
    repair_request: fields.repair_request.map(entryFor),
    ...(content !== undefined && { content: bytes(content) }),
  };
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

// ---- The proposal of 2024 ------------------------------------------------------------------------------------------

/** Content has no presence there, and there are neither hints nor repair requests. */
function fieldsOfProposal(message) {
  return {
    sender_id: message.sender_id,
    message_id: message.message_id,
    channel_id: message.channel_id,
    ...optional(message, "lamport_timestamp", String),
    causal_history: message.causal_history.map((id) => ({ message_id: id })),
    ...optional(message, "bloom_filter", hex),
    repair_request: [],
    ...(message.content !== "" && { content: hex(Buffer.from(message.content, "utf-8")) }),
  };
}

function messageOfProposal(fields) {
  const { lamport_timestamp: lamport, bloom_filter: filter, content = "" } = fields;
  return {
    ...strings(fields, "sender_id", "message_id", "channel_id"),
    ...(lamport !== undefined && { lamport_timestamp: Number(lamport) }),
    causal_history: fields.causal_history.map(({ message_id: id }) => id),
    ...(filter !== undefined && { bloom_filter: bytes(filter) }),
    ...(content !== "" && { content: bytes(content).toString("utf-8") }),
  };
}

// ---- Both ----------------------------------------------------------------------------------------------------------

const LAYOUTS = {
  sds: { type: typeOf(SDS), read: fieldsOf, write: messageOf },
  proposal: { type: typeOf(PROPOSAL), read: fieldsOfProposal, write: messageOfProposal },
};

const layoutOf = (header) => LAYOUTS[ofProposal(header) ? "proposal" : "sds"];

/** The fields of the message in the bytes, or undefined. */
export function fieldsIn(wire, header) {
  const { type, read } = layoutOf(header);
  try {
    return read(type.decode(bytes(wire)));
  } catch {
    return undefined;
  }
}

function bytesOf(message, header) {
  const { type, write } = layoutOf(header);
  return type.encode(type.create(write(message))).finish();
}

// ---- Checks --------------------------------------------------------------------------------------------------------

export function* decodes(test, header) {
  onlyKnown(header);
  const message = fieldsIn(test.wire, header);
  const got = message === undefined ? { rejected: true } : { message };
  const accepted = message !== undefined && isAmong({ accepted: true }, test.outcomes);
  if (accepted || isAmong(got, test.outcomes) || (message && isReadBut(message, test.outcomes))) return;
  yield `protobufjs makes ${plain(got)} of ${test.wire}, the vector has ${test.outcomes.map(plain).join(" or ")}`;
}

/** Is it the message of an outcome, but for the fields that this leaves open? */
function isReadBut(message, outcomes) {
  const open = outcomes.filter(({ except }) => Array.isArray(except));
  return open.some(({ message: expected, except }) => {
    const compared = (fields) => plain(Object.fromEntries(Object.entries(fields).filter(([n]) => !except.includes(n))));
    return compared(message) === compared(expected);
  });
}

export function* encodes(test, header) {
  onlyKnown(header);
  yield* mustBeFirst({ wire: hex(bytesOf(test.message, header)) }, test);
}

export function* classifies(test, header) {
  onlyKnown(header);
  const { lamport_timestamp: lamport, content = "" } = fieldsIn(test.wire, header);
  const withoutContent = lamport === undefined ? "undefined" : "sync";
  const withContent = lamport === undefined ? "ephemeral" : "content";
  yield* mustBeFirst({ kind: content === "" ? withoutContent : withContent }, test);
}
