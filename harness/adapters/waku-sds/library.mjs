// The release of @waku/sds that is driven, and its missing features. One process drives one release: call choose()
// first; then the other modules find the library's exports here.
import { readFileSync } from "node:fs";

const NAME = "@waku/sds";

/** The folder of each release in node_modules, by version: package.json has one release under its own name and the
 * others as aliases. */
const FOLDERS = new Map(
  Object.entries(read("package.json").dependencies).map(([folder, version]) => [
    version.replace(`npm:${NAME}@`, ""),
    folder,
  ]),
);

export const RELEASES = [...FOLDERS.keys()];

/** The default release. */
export const NEWEST = RELEASES.find((version) => FOLDERS.get(version) === NAME);

/** What the release exports. */
export let library;
/** Name and version of the release, from its package.json. */
export let identity;
/** Whether the release has SDS-R: repair buffers, field 13, senders in history entries. */
export let hasRepairs;
/** Whether Lamport timestamps are BigInts. Those of old releases are Numbers, and have 32 bits on the wire. */
export let countsInBigInts;

/** Load a release. If a module is missing, the error of the import names it. */
export async function choose(version) {
  const folder = FOLDERS.get(version);
  library = await import(folder);
  identity = read(`node_modules/${folder}/package.json`);
  const { lamportTimestamp, repairManager } = new library.MessageChannel("", "", { enableRepair: true });
  hasRepairs = repairManager !== undefined;
  countsInBigInts = typeof lamportTimestamp === "bigint";
}

function read(file) {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8"));
}
