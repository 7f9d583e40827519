// The adapter: reads commands of clearskies/testee/v1/testee.proto from stdin, one line of ProtoJSON each, passes them
// to peers, and answers on stdout.
import { text } from "./message.mjs";
import { frame, Unframer } from "./framing.mjs";
import { DEPTH, PEERS, Refused } from "./limits.mjs";
import { Peer } from "./peer.mjs";
import { parseRequest, RequestError, serialize, Unsupported } from "./proto-json.mjs";
import { PROFILE, privateKey, publicKey, sign, verify } from "./signing.mjs";
import { before, clock, isId } from "./vector-clock.mjs";

const CAPABILITIES = [
  "VIRTUAL_CLOCK",
  "OBSERVE",
  "STORE",
  "READ_ONLY",
  "RENAME",
  "CHANGED",
  "CONFLICT",
  "RESOLUTION_MERGE",
  "RESOLUTION_SEPARATE",
  "UUID_ACCEPTED",
  "CLOCK_CODEC",
  "MESSAGE_CODEC",
  "SIGNATURE_CODEC",
  "WIDE_INTEGERS",
];

const HELLO = {
  protocolVersion: 1,
  name: "clearskies-js",
  version: "0.1.0",
  language: "JavaScript",
  revisions: ["clearskies-database"],
  capabilities: CAPABILITIES.map((name) => `CAPABILITY_${name}`),
  profiles: { signature: PROFILE },
  limits: { depth: String(DEPTH), clockMembers: String(PEERS) },
};

/** Open peers by handle, and the paths of their stores. */
const peers = new Map();
const stores = new Map();
let lastHandle = 0;

function checkedPeer(peerId, accessLevel) {
  if (!isId(peerId)) throw new Refused("peer_id: 32 lower-case hex digits are needed");
  if (!accessLevel) throw new Refused("access_level: missing");
  return accessLevel === "READ_ONLY";
}

function open({ peerId, accessLevel, keys, configuration: { resolution }, store }) {
  const readOnly = checkedPeer(peerId, accessLevel);
  const used = {
    readWritePrivate: readOnly ? null : privateKey(keys.readWritePrivate, "keys.read_write_private"),
    readWritePublic: publicKey(keys.readWritePublic, "keys.read_write_public"),
  };
  if (store && [...stores.values()].includes(store)) throw new Refused("store: another peer has it open");
  const peer = new Peer({ peerId, readOnly, keys: used, resolution, store });
  const handle = String(++lastHandle);
  peers.set(handle, peer);
  if (store) stores.set(handle, store);
  const inForce = { resolution: `RESOLUTION_${resolution || "UNSPECIFIED"}` };
  return { opened: { handle, configuration: inForce, extensions: ["database"] } };
}

function close(peer, { handle }) {
  peers.delete(handle);
  stores.delete(handle);
  peer.close();
  return {};
}

const recordOf = (peer, record) => ({
  uuid: record.uuid,
  key: record.key,
  value: record.value,
  lastUpdatedBy: record.by,
  lastUpdatedRev: record.rev,
  updateTime: record.time,
  vectorClock: peer.clock(record),
  deleted: record.deleted,
});

const base64 = (bytes) => bytes.toString("base64");

function effects(peer, { sent, events, uuid }) {
  const pieces = sent.map(({ link, data }) => ({ link, data: base64(data) }));
  const told = events.map((event) => (event.changed ? { changed: { record: recordOf(peer, event.changed) } } : event));
  return { effects: { sent: pieces, events: told, uuid } };
}

function observe(peer, { uuids }) {
  const wanted = new Set(uuids);
  const records = peer.records().filter(({ uuid }) => wanted.size === 0 || wanted.has(uuid));
  const shown = records.map((record) => recordOf(peer, record));
  return { state: { records: shown, revision: peer.revision, known: { since: peer.known } } };
}

/** The commands to a peer. They return effects. */
const EFFECTS = {
  close,
  connect: (peer, { link, peerId, accessLevel }) => peer.connect(link, peerId, checkedPeer(peerId, accessLevel)),
  disconnect: (peer, { link }) => peer.disconnect(link),
  receive: (peer, { link, data, nowMs }) => peer.receive(link, data, nowMs),
  put: (peer, { key, value, uuid, nowMs }) => peer.put(key, value, uuid, nowMs),
  rename: (peer, { key, newKey, nowMs }) => peer.rename(key, newKey, nowMs),
  delete: (peer, { key, nowMs }) => peer.delete(key, nowMs),
  tick: (peer) => peer.tick(),
};

/** The commands without a peer. */
const PURE = {
  hello: () => ({ hello: HELLO }),
  open,
  compareClocks({ one, other }) {
    const [first, second] = [clock(text(one), "one"), clock(text(other), "other")];
    return { comparison: { oneBeforeOther: before(first, second), otherBeforeOne: before(second, first) } };
  },
  frame({ body, privateKey: pem }) {
    const signature = pem ? sign(body, privateKey(pem, "private_key")) : null;
    return { framed: { data: base64(frame(body, signature)) } };
  },
  unframe({ data }) {
    const unframer = new Unframer();
    const messages = Array.from(unframer.push(data), ({ body, signature }) => ({
      body: base64(body),
      signature: signature ? base64(signature) : undefined,
    }));
    return { unframed: { messages, rest: String(unframer.rest) } };
  },
  verify: ({ body, signature, publicKey: pem }) => ({
    verified: { valid: verify(body, signature, publicKey(pem, "public_key")) },
  }),
};

function answer(command, fields) {
  if (Object.hasOwn(PURE, command)) return PURE[command](fields);
  const peer = peers.get(fields.handle);
  if (!peer) throw new Refused("no peer has this handle");
  if (command === "observe") return observe(peer, fields);
  const result = EFFECTS[command](peer, fields);
  return effects(peer, { sent: [], events: [], ...result });
}

function reply(line) {
  let id = "0";
  try {
    const { command, fields } = parseRequest(line, (known) => (id = known));
    return serialize({ id, ...answer(command, fields) });
  } catch (error) {
    if (error instanceof Unsupported) return serialize({ id, unsupported: { what: error.message } });
    if (error instanceof Refused) return serialize({ id, rejected: { reason: error.message } });
    if (!(error instanceof RequestError)) process.stderr.write(`${error.stack}\n`);
    return serialize({ id, error: { message: error.message } });
  }
}

/** Lines of a byte stream, without "\n". The last line may have no "\n". */
async function* lines(stream) {
  let parts = [];
  for await (const chunk of stream) {
    let start = 0;
    for (let end; (end = chunk.indexOf(0x0a, start)) !== -1; start = end + 1) {
      parts.push(chunk.subarray(start, end));
      yield Buffer.concat(parts);
      parts = [];
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  }
  if (parts.length) yield Buffer.concat(parts);
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}

const framing = process.env.SDS_TESTEE_FRAMING;
if (framing && framing !== "json") fail("this adapter speaks JSON lines only: SDS_TESTEE_FRAMING must be json");
process.stdout.on("error", (error) => fail(`stdout: ${error.message}`));
for await (const line of lines(process.stdin)) {
  // Wait for a slow reader.
  await new Promise((done) => process.stdout.write(reply(line), done));
}
process.exit(0);
