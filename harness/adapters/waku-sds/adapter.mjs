#!/usr/bin/env node
// Testee adapter for @waku/sds: answers the testee protocol on stdin and stdout with the library.
//
//   harness  --line-->  ../javascript/kit.mjs (the loop, ProtoJSON)  -->  testee.mjs (one command, one answer)
//            <--line--                                                      |
//                                               participant.mjs (a set of MessageChannels) --> @waku/sds
//
//   node adapter.mjs [--release VERSION]           the releases are those of package.json; library.mjs picks one
//
// Rules: the adapter adds no behaviour and hides none; stdout carries only replies; the library sees no time except
// now_ms; the process ends when stdin ends.

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}

/** The result of an import. If the module or one of its imports is missing, `next` says what to do. */
async function load(importing, next) {
  try {
    return await importing();
  } catch (error) {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
    return fail(`${next} (${error.message})`);
  }
}

/** The release that the arguments name. */
function asked([option, version, ...rest], { RELEASES, NEWEST }) {
  if (option === undefined) return NEWEST;
  if (option !== "--release" || rest.length > 0) {
    const unknown = option === "--release" ? rest[0] : option;
    return fail(`unknown argument ${unknown}: the only option is --release VERSION`);
  }
  if (RELEASES.includes(version)) return version;
  const what = version === undefined ? "--release needs a version" : `there is no release ${version} of @waku/sds here`;
  return fail(`${what}: give one of ${RELEASES.join(", ")}`);
}

const { serve } = await load(
  () => import("../javascript/kit.mjs"),
  "the kit is missing: copy the folder javascript of harness/adapters as well, next to the folder of adapter.mjs",
);
const releases = await import("./library.mjs");
const release = asked(process.argv.slice(2), releases);
const install = `@waku/sds ${release} is not installed: run npm ci in the folder of adapter.mjs`;
await load(() => releases.choose(release), install);
const { Testee } = await import("./testee.mjs");
await serve(new Testee());
