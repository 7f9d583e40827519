// Records what the bloom filter of @waku/sds 0.0.8 makes of given message IDs, as the data of test_bloom_profiles.py.
//
//   mkdir recorder && cd recorder && npm install @waku/sds@0.0.8
//   node PATH/TO/record_waku_sds.mjs > PATH/TO/waku_sds_filters.json
//
// Run it in the folder of the npm install: the library is taken from ./node_modules, with Node 20 or newer.
// Output: the library's filter options, and for each set of IDs the SHA-256 of the whole filter over the set
// ("sha256") and for each ID the indices of the bits that a filter over it alone has set ("bits", ascending).
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = join(process.cwd(), "node_modules", "@waku", "sds");
const { MessageChannel } = await import(pathToFileURL(join(folder, "dist", "index.js")).href);
const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

// The class of the library's default filter is not exported; a channel holds one.
const { filter } = new MessageChannel("channel", "sender");
const newFilter = () => new filter.constructor(filter.options);

const sets = {
  none: [],
  hex: Array.from({ length: 40 }, (_, n) => createHash("sha256").update(`message ${n}`).digest("hex")),
  "ascii of length 0 to 20": Array.from({ length: 21 }, (_, n) => "abcdefghijklmnopqrst".slice(0, n)),
  "latin-1": ["é", "éa", "aé", "ÿ", "\u0080", "naïve", "Ärger über Öl", "ÿþýüûúùø", "\u00a0"],
  greek: ["α", "αβ", "αβγ", "αβγδ", "αβγδε", "Ωμέγα και άλφα", "Ā", "Āā"],
  cjk: ["漢", "漢字", "漢字漢", "漢字漢字", "日本語のメッセージ", "한국어 메시지", "\uffff\ue000\ufffd"],
  supplementary: ["😀", "😀😃", "😀😃😄", "😀😃😄😁", "😀😃😄😁😆", "👩‍👩‍👧‍👦", "𝔘𝔫𝔦", "\u{10ffff}", "\u{10000}"],
  mixed: ["a😀", "😀a", "a\u00e9α漢😀", "abcα", "abcdα", "αabcd", "id-😀-漢字-é-0", "e\u0301", "0\u0000b", " b", "b b"],
};

const setBits = (bytes) => {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const bits = [];
  for (let at = 0; at < bytes.byteLength; at += 8)
    for (let word = words.getBigUint64(at), bit = 0; word > 0n; word >>= 1n, bit++)
      if (word & 1n) bits.push(at * 8 + bit);
  return bits;
};

const record = (ids) => {
  const whole = newFilter();
  const alone = ids.map((id) => {
    const single = newFilter();
    single.insert(id);
    whole.insert(id);
    return { id, bits: setBits(single.toBytes()) };
  });
  const bytes = whole.toBytes();
  return { byte_length: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex"), ids: alone };
};

const { capacity, errorRate } = filter.options;
const header = { library: `@waku/sds ${version}`, capacity, error_rate: errorRate };
const rows = Object.entries(sets).map(([name, ids]) => [name, record(ids)]);
const line = ({ id, bits }) => `        ${JSON.stringify({ id, bits })}`;
const block = ([name, { ids, ...rest }]) =>
  `    ${JSON.stringify(name)}: {\n      "byte_length": ${rest.byte_length},\n      "sha256": "${rest.sha256}",\n` +
  `      "ids": [${ids.length ? `\n${ids.map(line).join(",\n")}\n      ` : ""}]\n    }`;
const head = Object.entries(header).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},`);
process.stdout.write(`{\n${head.join("\n")}\n  "sets": {\n${rows.map(block).join(",\n")}\n  }\n}\n`);
