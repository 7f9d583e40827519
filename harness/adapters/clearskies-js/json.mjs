// JSON without loss: a scanner that checks a whole text (RFC 8259, no duplicate names, bounded depth) and returns the
// members of an object as their original text. Nothing is converted, so no number loses digits, and a value stays
// unchanged. One pass, no recursion.
import { DEPTH, NUMBER_CHARACTERS, Refused, UINT64 } from "./limits.mjs";

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const UNSIGNED = /^(?:0|[1-9]\d{0,19})$/;
const WORDS = ["true", "false", "null"];
const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Reads a text from left to right; `at` is the index of the next character. */
class Scanner {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  fail(what) {
    throw new Refused(`JSON: ${what} at character ${this.at}`);
  }

  /** Skips whitespace; returns the code of the next character, NaN at the end. */
  next() {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code;
      this.at += 1;
    }
  }

  /** Skips a string, and returns its content. */
  string() {
    const start = this.at;
    if (this.next() !== QUOTE) this.fail("a string is needed");
    let escaped = false;
    for (this.at += 1; ; this.at += 1) {
      const code = this.text.charCodeAt(this.at);
      if (code === QUOTE) break;
      if (!(code >= 0x20)) this.fail("a string does not end, or has a control character");
      if (code !== BACKSLASH) continue;
      escaped = true;
      this.at += 1;
    }
    this.at += 1;
    const literal = this.text.slice(start, this.at);
    if (!escaped) return literal.slice(1, -1);
    try {
      return JSON.parse(literal);
    } catch {
      return this.fail("a string has an unknown escape");
    }
  }

  /** Skips the name of a member and its colon. */
  name(names) {
    this.next();
    const name = this.string();
    if (names.has(name)) this.fail("a name is there twice");
    names.add(name);
    if (this.next() !== COLON) this.fail("a colon is needed");
    this.at += 1;
    return name;
  }

  /** Skips a number, true, false or null. */
  scalar() {
    const start = this.at;
    while (/[-+.\w]/.test(this.text.charAt(this.at))) {
      this.at += 1;
      if (this.at - start > NUMBER_CHARACTERS) this.fail("a number is too long");
    }
    const literal = this.text.slice(start, this.at);
    if (!WORDS.includes(literal) && !NUMBER.test(literal)) this.fail("a value is needed");
  }
}

/**
 * Checks that a text is one JSON value, and calls `onMember(name, text)` for each member of it, if it is an object.
 * @throws {Refused} if it is not JSON, if an object has a name twice, or if it is deeper than `depth`.
 */
function scan(text, depth, onMember) {
  const scanner = new Scanner(text);
  /** One item per open container: the set of names seen so far in an object, null for an array. */
  const open = [];
  let member;
  let start = 0;
  for (;;) {
    // Here a value begins.
    const code = scanner.next();
    if (open.length === 1) start = scanner.at;
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      if (open.length === depth) scanner.fail("too deep");
      const names = code === OPEN_OBJECT ? new Set() : null;
      open.push(names);
      scanner.at += 1;
      if (scanner.next() !== (names ? CLOSE_OBJECT : CLOSE_ARRAY)) {
        const name = names && scanner.name(names);
        if (open.length === 1) member = name;
        continue;
      }
      scanner.at += 1;
      open.pop();
    } else if (code === QUOTE) scanner.string();
    else scanner.scalar();
    // A value has ended here. The containers that enclose it may end here, too.
    for (;;) {
      if (open.length === 0) {
        if (!Number.isNaN(scanner.next())) scanner.fail("something follows the value");
        return;
      }
      const names = open.at(-1);
      if (open.length === 1 && names) onMember(member, text.slice(start, scanner.at));
      const after = scanner.next();
      if (after !== COMMA && after !== (names ? CLOSE_OBJECT : CLOSE_ARRAY)) scanner.fail("a comma is needed");
      scanner.at += 1;
      if (after === COMMA) {
        const name = names && scanner.name(names);
        if (open.length === 1) member = name;
        break;
      }
      open.pop();
    }
  }
}

/** The members of a JSON object: a Map from each name to the text of its value. */
export function members(text, depth = DEPTH) {
  const result = new Map();
  if (!/^[\t\n\r ]*\{/.test(text)) throw new Refused("JSON: an object is needed");
  scan(text, depth, (name, value) => result.set(name, value));
  return result;
}

/** The text of a JSON value without the whitespace around it. */
export function value(text, depth = DEPTH) {
  scan(text, depth, () => {});
  return text.trim();
}


/** The string in a checked JSON text. */
export function string(text, what) {
  if (text?.charCodeAt(0) !== QUOTE) throw new Refused(`${what}: a string is needed`);
  return JSON.parse(text);
}

/** The integer from 0 to 2^64 - 1 in a checked JSON text, as a BigInt. A number with a fraction or an exponent is not
 * an integer. */
export function integer(text, what) {
  const number = UNSIGNED.test(text ?? "") ? BigInt(text) : undefined;
  if (number === undefined || number > UINT64) throw new Refused(`${what}: an integer from 0 to 2^64 - 1 is needed`);
  return number;
}

/** The boolean in a checked JSON text. */
export function boolean(text, what) {
  if (text !== "true" && text !== "false") throw new Refused(`${what}: true or false is needed`);
  return text === "true";
}

/** The text of an object, from pairs of a name and the text of its value. */
export function object(pairs) {
  return `{${Array.from(pairs, ([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;
}
