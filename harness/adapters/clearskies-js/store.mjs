// The durable data of a peer in a file: a journal of lines. Each line is a JSON object with all changes of one command.
// The line is written before the command is answered, so the end of the process at any moment loses no answered change.
// A last line without its newline belongs to a command that was not answered, and is removed.
//
// Lines are written to the operating system; only a new journal, which replaces the old one, is also forced to the
// disk. A power failure may lose the last changes, a killed process loses none.
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync } from "node:fs";
import { renameSync, rmSync, writeSync } from "node:fs";
import { Refused } from "./limits.mjs";

const CHUNK = 1 << 20;
/** A journal is rewritten when it has more bytes than this and more than four times the bytes that its records need. */
const COMPACT_FROM = 1 << 22;

function writeAll(file, text) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  return bytes.length;
}

export class Store {
  #path;
  #file;
  #bytes = 0;

  /**
   * Opens the journal, makes it if it is not there, and calls `onLine(text)` for each line of it.
   * @throws {Refused} if the file cannot be used, or if a complete line in it was not written by a peer.
   */
  constructor(path, onLine) {
    this.#path = path;
    try {
      // An interrupted rewrite of the journal may have left this file.
      rmSync(`${path}.new`, { force: true });
      this.#file = openSync(path, "a+", 0o600);
      if (!fstatSync(this.#file).isFile()) throw new Refused("not a regular file");
      this.#bytes = this.#read(onLine);
      ftruncateSync(this.#file, this.#bytes);
    } catch (error) {
      this.close();
      throw new Refused(`store: ${error.message}`);
    }
  }

  /** Reads all complete lines; returns their number of bytes. */
  #read(onLine) {
    const chunk = Buffer.alloc(CHUNK);
    let parts = [];
    let whole = 0;
    let read = 0;
    for (let count; (count = readSync(this.#file, chunk, 0, CHUNK, read)) > 0; read += count) {
      let start = 0;
      for (let end; (end = chunk.subarray(0, count).indexOf(0x0a, start)) !== -1; start = end + 1) {
        parts.push(chunk.subarray(start, end));
        onLine(Buffer.concat(parts).toString());
        parts = [];
        whole = read + end + 1;
      }
      parts.push(Buffer.from(chunk.subarray(start, count)));
    }
    return whole;
  }

  /** Adds a line. Throws the error of the file system; the line may then be missing in the file. */
  append(line) {
    this.#bytes += writeAll(this.#file, `${line}\n`);
  }

  /** Is the journal much larger than the `needed` bytes? */
  isWasteful(needed) {
    return this.#bytes > COMPACT_FROM && this.#bytes > 4 * needed;
  }

  /** Replaces all lines by these. */
  rewrite(lines) {
    const path = `${this.#path}.new`;
    const file = openSync(path, "w", 0o600);
    let bytes = 0;
    try {
      for (const line of lines) bytes += writeAll(file, `${line}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(path, this.#path);
    const old = this.#file;
    this.#file = openSync(this.#path, "a", 0o600);
    closeSync(old);
    this.#bytes = bytes;
  }

  close() {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}
