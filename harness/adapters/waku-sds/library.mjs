// Which release of @waku/sds is driven, and what it lacks. One process drives one release: choose() comes first, and
// the other modules find there what they would import.
import { readFileSync } from "node:fs";

const NAME = "@waku/sds";

/** The folder in node_modules of each release, by version: package.json has one under its name, others as aliases. */
const FOLDERS = new Map(
  Object.entries(read("package.json").dependencies).map(([folder, version]) => [
    version.replace(`npm:${NAME}@`, ""),
    folder,
  ]),
);

export const RELEASES = [...FOLDERS.keys()];

/** The release that is driven unless another is asked for. */
export const NEWEST = RELEASES.find((version) => FOLDERS.get(version) === NAME);

/** What the release exports. */
export let library;
/** Its name and version, as it states them. */
export let identity;
/** Does it have SDS-R: repair buffers, field 13, senders in history entries? */
export let hasRepairs;
/** Are its Lamport timestamps BigInts? Those of old releases are Numbers, and 32 bits wide on the wire. */
export let countsInBigInts;

/** Load a release. The import says what is missing. */
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
