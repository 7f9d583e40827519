// The receiving side of against_waku_sds.py: @waku/sds by itself, no adapter and no testee protocol.
//
//   node model_waku.mjs FOLDER < messages        FOLDER/node_modules has @waku/sds
//
// stdin: messages, each after its length in 4 bytes, big-endian. stdout: one line of JSON, with the seconds spent in
// the library, without the time to read the messages.
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** The ES module and the version of a package in FOLDER; its package.json has no entry for `require`. */
function locate(folder, name) {
  const require = createRequire(resolve(folder, "package.json"));
  const [modules] = require.resolve.paths(name);
  const manifest = require(resolve(modules, name, "package.json"));
  return { url: pathToFileURL(resolve(modules, name, manifest.exports["."].import)), version: manifest.version };
}

async function* frames(stream) {
  let rest = Buffer.alloc(0);
  for await (const chunk of stream) {
    rest = rest.length ? Buffer.concat([rest, chunk]) : chunk;
    let start = 0;
    while (rest.length - start >= 4) {
      const end = start + 4 + rest.readUInt32BE(start);
      if (end > rest.length) break;
      yield rest.subarray(start + 4, end);
      start = end;
    }
    rest = rest.subarray(start);
  }
}

const [folder, channelId] = process.argv.slice(2);
const { url, version } = locate(folder, "@waku/sds");
const { Message, MessageChannel, MessageChannelEvent } = await import(url);
const channel = new MessageChannel(channelId, "alice", { enableRepair: false, causalHistorySize: 2 });
let delivered = 0;
channel.addEventListener(MessageChannelEvent.InMessageDelivered, () => (delivered += 1));

let nanoseconds = 0n;
for await (const wire of frames(process.stdin)) {
  const started = process.hrtime.bigint();
  channel.pushIncomingMessage(Message.decode(wire));
  await channel.processTasks();
  nanoseconds += process.hrtime.bigint() - started;
}
console.log(JSON.stringify({ version, delivered, seconds: Number(nanoseconds) / 1e9 }));
