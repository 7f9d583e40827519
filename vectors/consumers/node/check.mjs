#!/usr/bin/env node
// Checks the golden vectors with libraries that their generator does not use.
//
//   node check.mjs [FOLDER]      FOLDER holds manifest.json, schema/, sds/ and clearskies/; by default the folder of this program
//
//   files.mjs    reads files: manifest, digests, schemas, canonical form, IDs
//   wire.mjs     messages: protobufjs                 filters.mjs  filters: @waku/sds, and two more hashes
//   hashes.mjs   SHA-256, FarmHash and Murmur3        repairs.mjs  T_req, T_resp, response groups
//   rules.mjs    Lamport timestamps, logs, causal histories, acknowledgements; buffers.mjs the buffers of SDS-R
//   transcripts.mjs   is a conversation consistent?
//   messages.mjs and records.mjs   ClearSkies: clocks, framing, signatures; the records and answers of a peer
//
// Exit code 0: all vectors are confirmed. 1: some are not; their lines begin with FAIL. 2: nothing could be read.
import { fileURLToPath } from "node:url";

import { tracksRepairs } from "./buffers.mjs";
import { Unreadable, readFiles } from "./files.mjs";
import { buildsFilter, queriesFilter } from "./filters.mjs";
import { hashes } from "./hashes.mjs";
import { compares, frames, signs, unframes, verifies } from "./messages.mjs";
import { admits, answers, plays, settles } from "./records.mjs";
import { repairTimes } from "./repairs.mjs";
import { acknowledges, keepsTime, namesHistory, ordersLog } from "./rules.mjs";
import { holdsTogether } from "./transcripts.mjs";
import { classifies, decodes, encodes } from "./wire.mjs";

/**
 * By shape: what another implementation makes of a test. `check(test, header)` yields a sentence for each thing that is
 * not as the test says; it throws a NotConfirmed where it has nothing to say about the test.
 */
const CHECKS = {
  decode: { by: "protobufjs", check: decodes },
  encode: { by: "protobufjs", check: encodes },
  "message-kind": { by: "protobufjs", check: classifies },
  hash: { by: "Node's SHA-256, farmhash, murmurhash3js-revisited", check: hashes },
  "repair-times": { by: "the formulas over these hashes", check: repairTimes },
  "bloom-build": { by: "@waku/sds, or these hashes", check: buildsFilter },
  "bloom-query": { by: "@waku/sds, or these hashes", check: queriesFilter },
  lamport: { by: "the rules in JavaScript", check: keepsTime },
  "log-order": { by: "the rules in JavaScript", check: ordersLog },
  "causal-history": { by: "the rules in JavaScript", check: namesHistory },
  "repair-buffers": { by: "the rules in JavaScript", check: tracksRepairs },
  "ack-review": { by: "the rules in JavaScript", check: acknowledges },
  "clock-comparison": { by: "the rules in JavaScript", check: compares },
  unframe: { by: "the rules in JavaScript", check: unframes },
  frame: { by: "the rules in JavaScript", check: frames },
  verify: { by: "Node's crypto", check: verifies },
  sign: { by: "Node's crypto", check: signs },
  admission: { by: "the rules in JavaScript", check: admits },
  answer: { by: "the rules in JavaScript", check: answers },
  settlement: { by: "the rules in JavaScript", check: settles },
  "club-transcript": { by: "the rules in JavaScript", check: plays },
};

/** Checks by shape, for tests whose results this program does not compute. */
const PARTIAL = {
  transcript: { by: "wire bytes, contents, causal order and logs hold together", check: holdsTogether },
};

/** The result of a file: its problems, and the tests that could not be confirmed, with the reasons. */
function checkFile({ name, header, problems }) {
  const known = CHECKS[header?.shape] ?? PARTIAL[header?.shape];
  const found = problems.map((problem) => `${name}: ${problem}`);
  const open = [];
  let confirmed = 0;
  for (const test of header?.tests ?? []) {
    if (known === undefined) break;
    try {
      const wrong = [...known.check(test, header)];
      found.push(...wrong.map((sentence) => `${name}: ${test.id}: ${sentence}`));
      if (wrong.length === 0) confirmed += 1;
    } catch (error) {
      if (error.name === "NotConfirmed") open.push(`${test.id}: ${error.message}`);
      // A test that violates its schema can break any check, so it is not checked.
      else found.push(`${name}: ${test.id}: ${error.stack.split("\n").slice(0, 2).join(" ")}`);
    }
  }
  return { found, confirmed, open, by: known?.by, partial: !Object.hasOwn(CHECKS, header?.shape) };
}

function main(folder) {
  let files;
  try {
    files = readFiles(folder);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
  const failures = [...files.problems];
  let total = 0;
  for (const file of files.vectors) {
    const { found, confirmed, open, by = "held to its schema alone", partial } = checkFile(file);
    const number = file.header?.tests?.length ?? 0;
    total += partial ? 0 : confirmed;
    failures.push(...found);
    const how = partial ? `not computed: ${by}` : `confirmed by ${by}`;
    console.log(`${file.name}: ${confirmed} of ${number} ${how}`);
    for (const line of open) console.log(`  not confirmed: ${line}`);
  }
  for (const failure of failures) console.log(`FAIL ${failure}`);
  console.log(`${files.vectors.length} files, ${total} tests confirmed, ${failures.length} failures`);
  return failures.length === 0 && files.vectors.length > 0 ? 0 : 1;
}

const [folder = fileURLToPath(new URL("../../", import.meta.url)), ...more] = process.argv.slice(2);
if (more.length > 0 || folder.startsWith("-")) {
  process.stderr.write("usage: node check.mjs [FOLDER]\n");
  process.exitCode = 2;
} else {
  process.exitCode = main(folder);
}
