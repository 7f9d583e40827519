// What a peer must not forget, in a file: a journal of lines, each a JSON object that is one change as a whole. A line
// is written before the command that brought it about is answered, so the end of the process at any moment loses
// nothing that was answered. A last line without its newline was never answered for, and is cut off.
//
// The operating system holds what is written from then on; only a new journal, which takes the place of the old one, is
// also forced to the disk. A machine that loses power may lose the last changes, a process that is killed loses none.
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync } from "node:fs";
import { renameSync, rmSync, writeSync } from "node:fs";
import { Refused } from "./limits.mjs";

const CHUNK = 1 << 20;
/** A journal is written anew when it has more than that, in bytes, and four times what is needed of it. */
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
   * @throws {Refused} if the file cannot be used, or a whole line in it is not what a peer writes.
   */
  constructor(path, onLine) {
    this.#path = path;
    try {
      // Of a compaction that did not come to its end.
      rmSync(`${path}.new`, { force: true });
      this.#file = openSync(path, "a+", 0o600);
      if (!fstatSync(this.#file).isFile()) throw new Refused("no ordinary file");
      this.#bytes = this.#read(onLine);
      ftruncateSync(this.#file, this.#bytes);
    } catch (error) {
      this.close();
      throw new Refused(`store: ${error.message}`);
    }
  }

  /** Reads all whole lines; how many bytes they have. */
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

  /** Adds a line. An error of the file is thrown as it is: what was to be written is not safe. */
  append(line) {
    this.#bytes += writeAll(this.#file, `${line}\n`);
  }

  /** Is the journal much larger than the `needed` bytes? */
  isWasteful(needed) {
    return this.#bytes > COMPACT_FROM && this.#bytes > 4 * needed;
  }

  /** Puts these lines in the place of all that there are. */
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
