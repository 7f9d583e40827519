// Checks of the files themselves: manifest, digests, schemas, canonical form, IDs.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import Ajv2020 from "ajv/dist/2020.js";

/** There is nothing to check. */
export class Unreadable extends Error {}

/** This program cannot compute the result of a test. */
export class NotConfirmed extends Error {
  name = "NotConfirmed";
}

/** Do the tests of a file belong to the proposal of 2024? It has rules of its own; some files have those of SDS as well. */
export const ofProposal = ({ revisions }) => revisions.every((revision) => revision === "forum-2024");

const KNOWN = /^(sds-2026-01|sds-2025-10-amended|forum-2024|clearskies-database)$/;
/** The folders of the vectors, by protocol. */
const PLACES = ["sds", "clearskies"];

/** Vectors of a text that this program does not implement cannot be confirmed. */
export function onlyKnown({ revisions }) {
  const strange = revisions.find((revision) => !KNOWN.test(revision));
  if (strange !== undefined) throw new NotConfirmed(`nothing is known here of ${strange}`);
}

/** All vectors of a folder, and the errors in their files. */
export function readFiles(folder) {
  const manifest = parse(read(folder, "manifest.json"), "manifest.json");
  const schemas = compileSchemas(folder);
  const problems = [...manifestProblems(folder, manifest, schemas)];
  // IDs are never reused for another test.
  const seen = new Map((manifest.retired ?? []).map((id) => [id, "the list of retired ids"]));
  const vectors = Object.keys(manifest.files ?? {})
    .filter((name) => PLACES.some((place) => name.startsWith(`${place}/`)))
    .map((name) => readVectors(folder, name, manifest, schemas, seen));
  return { vectors, problems };
}

function read(folder, name) {
  try {
    return readFileSync(join(folder, name));
  } catch (error) {
    throw new Unreadable(`${name} cannot be read: ${error.message}`);
  }
}

function parse(content, name) {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(content));
  } catch (error) {
    throw new Unreadable(`${name} is not JSON: ${error.message}`);
  }
}

/** File name of a schema: its validator. Strict: a keyword that is unknown or has no effect is an error. */
function compileSchemas(folder) {
  const names = list(folder, "schema");
  return new Map(
    names.map((name) => {
      const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true });
      try {
        return [name, ajv.compile(parse(read(folder, `schema/${name}`), `schema/${name}`))];
      } catch (error) {
        throw new Unreadable(`schema/${name} is not a JSON Schema: ${error.message}`);
      }
    }),
  );
}

function list(folder, under) {
  try {
    return readdirSync(join(folder, under)).filter((name) => name.endsWith(".json"));
  } catch (error) {
    throw new Unreadable(`${under} cannot be read: ${error.message}`);
  }
}

function* manifestProblems(folder, manifest, schemas) {
  const validate = schemas.get("manifest.schema.json");
  if (validate && !validate(manifest)) yield* validate.errors.slice(0, 5).map(inWords("manifest.json"));
  const listed = new Set(Object.keys(manifest.files ?? {}));
  for (const name of PLACES.flatMap((place) => list(folder, place).map((file) => `${place}/${file}`))) {
    if (!listed.has(name)) yield `${name} is not in the manifest`;
  }
}

const inWords = (name) => (error) => `${name}: ${error.instancePath || "/"} ${error.message}`;

// ---- One file ------------------------------------------------------------------------------------------------------

function readVectors(folder, name, manifest, schemas, seen) {
  const content = read(folder, name);
  const header = parse(content, name);
  return { name, header, problems: [...fileProblems(name, content, header, manifest, schemas, seen)] };
}

function* fileProblems(name, content, header, manifest, schemas, seen) {
  if (sha256(content) !== manifest.files[name]) yield "its SHA-256 is not that of the manifest";
  if (canonical(header) !== content.toString("latin1")) yield "it is not in canonical form";
  const validate = schemas.get(header.$schema?.split("/").pop());
  if (validate === undefined) yield `it names the schema ${header.$schema}, which is not there`;
  else if (!validate(header)) yield* validate.errors.slice(0, 5).map(inWords("schema"));
  if (!Array.isArray(header.tests)) return;
  if (header.numberOfTests !== header.tests.length) yield "numberOfTests is not the number of tests";
  if (header.digest !== digest(header.tests)) yield "digest is not that of the tests";
  const used = new Set();
  for (const test of header.tests) {
    if (seen.has(test.id)) yield `the id ${test.id} is that of ${seen.get(test.id)}, too`;
    seen.set(test.id, name);
    for (const flag of test.flags ?? []) {
      used.add(flag);
      if (!Object.hasOwn(header.notes ?? {}, flag)) yield `${test.id}: no note explains the flag ${flag}`;
    }
    if (test.outcomes && test.result !== resultOf(test.outcomes)) {
      yield `${test.id}: its result is ${test.result}, by its outcomes it is ${resultOf(test.outcomes)}`;
    }
  }
  for (const flag of Object.keys(header.notes ?? {})) if (!used.has(flag)) yield `no test has the flag ${flag}`;
}

function resultOf(outcomes) {
  if (outcomes.length !== 1) return "acceptable";
  return outcomes[0].rejected ? "invalid" : "valid";
}

const sha256 = (data) => createHash("sha256").update(data).digest("hex");

/** JSON in ASCII. */
const escaped = (json) =>
  json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

const canonical = (value) => `${escaped(JSON.stringify(value, null, 2))}\n`;

function digest(tests) {
  const sorted = (_, value) =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, value[key]]))
      : value;
  return sha256(escaped(JSON.stringify(tests, sorted)));
}

// ---- Outcomes ------------------------------------------------------------------------------------------------------

/** A value as text. Equal values have equal texts; the order of keys does not matter. */
export function plain(value) {
  if (Array.isArray(value)) return `[${value.map(plain).join()}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "nothing";
  const keys = Object.keys(value).filter((key) => value[key] !== undefined).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${plain(value[key])}`).join()}}`;
}

/** Is `got` one of the outcomes? The fields for positions and warnings are not compared. */
export function isAmong(got, outcomes) {
  return outcomes.some(({ position, warned, ...outcome }) => plain(outcome) === plain(got));
}

/** A sentence if `got` is not the recommended outcome. */
export function* mustBeFirst(got, { outcomes }) {
  if (!isAmong(got, outcomes.slice(0, 1))) yield `got ${plain(got)}, the vector has ${plain(outcomes[0])}`;
}

/** A sentence if `got` is not one of the outcomes. */
export function* mustBeAmong(got, { outcomes }) {
  if (!isAmong(got, outcomes)) yield `got ${plain(got)}, the vector has ${outcomes.map(plain).join(" or ")}`;
}
