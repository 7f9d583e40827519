#!/usr/bin/env node
// Testee adapter for @waku/sds: answers the testee protocol on stdin and stdout with the library.
//
//   harness  --line-->  adapter.mjs (pump)  -->  protocol.mjs (ProtoJSON)  -->  testee.mjs (one command, one answer)
//            <--line--                                                            |
//                                                     participant.mjs (a set of MessageChannels) --> @waku/sds
//
// Rules: it adds no behaviour of its own and hides none; stdout carries replies and nothing else; the library sees no
// time but now_ms; the process ends when stdin does.
import { lines, parseRequest, RequestError, serialize } from "./protocol.mjs";

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}

async function loadTestee() {
  try {
    const { Testee } = await import("./testee.mjs");
    return new Testee();
  } catch (error) {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
    return fail(`@waku/sds is not installed (${error.message}): run npm ci in the folder of adapter.mjs`);
  }
}

/** The reply to one line: an object whose keys are those of Reply. */
async function answer(testee, line) {
  let id = "0";
  try {
    const request = parseRequest(line, (known) => (id = known));
    return { id, ...(await testee.handle(request)) };
  } catch (error) {
    if (!(error instanceof RequestError)) {
      process.stderr.write(`${String(error.stack).replace(/\s*\n\s*/g, " | ")}\n`);
    }
    return { id, error: { message: error.message } };
  }
}

/** Resolves when the line has left the process, so that a slow reader is waited for. */
function write(line) {
  return new Promise((resolve, reject) => {
    process.stdout.write(line, (error) => (error ? reject(error) : resolve()));
  });
}

const framing = process.env.SDS_TESTEE_FRAMING;
if (framing && framing !== "json") {
  fail("this adapter speaks JSON lines only: run sds-conformance with --framing json");
}
const [unknown] = process.argv.slice(2);
if (unknown !== undefined) fail(`unknown argument ${unknown}: there are no options`);

process.stdout.on("error", (error) => fail(`stdout: ${error.message}`));
const testee = await loadTestee();
for await (const line of lines(process.stdin)) {
  await write(serialize(await answer(testee, line)));
}
// Should the library ever hold a timer, it must not outlive stdin.
process.exit(0);
