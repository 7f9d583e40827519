#!/usr/bin/env node
// Testee adapter for @waku/sds: answers the testee protocol on stdin and stdout with the library.
//
//   harness  --line-->  ../javascript/kit.mjs (the loop, ProtoJSON)  -->  testee.mjs (one command, one answer)
//            <--line--                                                      |
//                                               participant.mjs (a set of MessageChannels) --> @waku/sds
//
// Rules: it adds no behaviour of its own and hides none; stdout carries replies and nothing else; the library sees no
// time but now_ms; the process ends when stdin does.

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}

/** What a module exports. If it, or what it imports, is not there, `next` says what to do. */
async function load(module, next) {
  try {
    return await import(module);
  } catch (error) {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
    return fail(`${next} (${error.message})`);
  }
}

const [unknown] = process.argv.slice(2);
if (unknown !== undefined) fail(`unknown argument ${unknown}: there are no options`);

const { serve } = await load(
  "../javascript/kit.mjs",
  "the kit is missing: copy the folder javascript of harness/adapters as well, beside the folder of adapter.mjs",
);
const { Testee } = await load("./testee.mjs", "@waku/sds is not installed: run npm ci in the folder of adapter.mjs");
await serve(new Testee());
