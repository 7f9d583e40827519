// Messages on a link, which is a stream of bytes. A message begins with one character and the length of its body in
// ASCII digits; a signed one has the length of the signature, too:
//
//   m27{...}        s27:344{...}\nBASE64\n        !27{...}CHUNKS        $27:344{...}\nBASE64\nCHUNKS
//
// CHUNKS are a binary attachment: chunks of a length, "\n" and that number of bytes, up to a chunk of length 0.
// Messages of the database have no attachment. Messages of other extensions may have attachments, and are skipped.
import { BODY_BYTES, Refused, SIGNATURE_CHARACTERS } from "./limits.mjs";

const BRACE = 0x7b;
const NEWLINE = 0x0a;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Maximum number of digits of a length: as many as BODY_BYTES has. */
const DIGITS = String(BODY_BYTES).length;

/** The bytes of a message. `body` is the text of a JSON object as bytes, `signature` is bytes or null. */
export function frame(body, signature = null) {
  if (body[0] !== BRACE) throw new Refused("a body starts with {");
  if (body.length > BODY_BYTES) throw new Refused(`a body has at most ${BODY_BYTES} bytes`);
  if (!signature) return Buffer.concat([Buffer.from(`m${body.length}`), body]);
  const base64 = signature.toString("base64");
  return Buffer.concat([Buffer.from(`s${body.length}:${base64.length}`), body, Buffer.from(`\n${base64}\n`)]);
}

/** Collects bytes piece by piece, in time that is linear in their number. */
class Collected {
  #bytes = Buffer.alloc(0);
  #length = 0;

  add(piece) {
    const length = this.#length + piece.length;
    if (length > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(length, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    piece.copy(this.#bytes, this.#length);
    this.#length = length;
  }

  get length() {
    return this.#length;
  }

  take() {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#bytes = Buffer.alloc(0);
    this.#length = 0;
    return taken;
  }
}

/**
 * Reads the bytes of one link as they arrive, and yields the messages in them. Each step reads its part of a message
 * from `data`, starting at `at`, and returns the place after it, or undefined if it needs more bytes.
 */
export class Unframer {
  /** Number of bytes that have arrived of an incomplete message. */
  rest = 0;
  #step = this.#kind;
  #collected = new Collected();
  #number = 0;
  #digits = 0;

  /**
   * Yields `{body, signature}`, both as bytes; the signature is null if there is none.
   * @throws {Refused} when the framing is broken. The rest of the link cannot be read then.
   */
  *push(data) {
    let at = 0;
    while (at < data.length) {
      const from = at;
      at = this.#step(data, at);
      this.rest += at - from;
      if (this.#step !== this.#done) continue;
      yield { body: this.body, signature: this.signature };
      this.rest = 0;
      this.#step = this.#kind;
    }
  }

  /** The end of a complete message. This step reads nothing. */
  #done() {}

  #kind(data, at) {
    const kind = String.fromCharCode(data[at]);
    if (!"ms!$".includes(kind)) throw new Refused("a message begins with m, s, ! or $");
    this.signed = kind === "s" || kind === "$";
    this.attached = kind === "!" || kind === "$";
    this.signature = null;
    this.#expectNumber(this.#bodyLength);
    return at + 1;
  }

  #expectNumber(step) {
    [this.#number, this.#digits] = [0, 0];
    this.#step = step;
  }

  /** Reads one digit of a number. Returns false if the number has ended. */
  #digit(data, at, largest) {
    const digit = data[at] - 0x30;
    if (!(digit >= 0 && digit <= 9)) {
      if (this.#digits === 0) throw new Refused("a length is needed");
      return false;
    }
    this.#number = 10 * this.#number + digit;
    this.#digits += 1;
    if (this.#digits > DIGITS || this.#number > largest) throw new Refused(`a length is above ${largest}`);
    return true;
  }

  #bodyLength(data, at) {
    if (this.#digit(data, at, BODY_BYTES)) return at + 1;
    this.bodyLength = this.#number;
    if (this.bodyLength === 0) throw new Refused("a body is empty");
    if (!this.signed) return this.#begin(data, at);
    if (data[at] !== 0x3a) throw new Refused("a signed message has two lengths");
    this.#expectNumber(this.#signatureLength);
    return at + 1;
  }

  #signatureLength(data, at) {
    if (this.#digit(data, at, SIGNATURE_CHARACTERS)) return at + 1;
    this.signatureLength = this.#number;
    return this.#begin(data, at);
  }

  #begin(data, at) {
    if (data[at] !== BRACE) throw new Refused("a body starts with {");
    this.#step = this.#body;
    return at;
  }

  /** Collects up to `length` bytes; returns whether all of them have arrived. */
  #collect(data, at, length) {
    const end = Math.min(data.length, at + length - this.#collected.length);
    this.#collected.add(data.subarray(at, end));
    return [end, this.#collected.length === length];
  }

  #body(data, at) {
    const [end, whole] = this.#collect(data, at, this.bodyLength);
    if (whole) {
      this.body = this.#collected.take();
      if (this.signed) this.#step = this.#signature;
      else this.#end();
    }
    return end;
  }

  #signature(data, at) {
    const length = this.signatureLength + 2;
    const [end, whole] = this.#collect(data, at, length);
    if (whole) {
      const bytes = this.#collected.take();
      const base64 = bytes.toString("latin1", 1, length - 1);
      const ownLine = bytes[0] === NEWLINE && bytes[length - 1] === NEWLINE;
      if (!ownLine) throw new Refused("a signature must be on its own line");
      if (!BASE64.test(base64)) throw new Refused("a signature is base64");
      this.signature = Buffer.from(base64, "base64");
      this.#end();
    }
    return end;
  }

  #end() {
    if (this.attached) this.#expectNumber(this.#chunkLength);
    else this.#step = this.#done;
  }

  #chunkLength(data, at) {
    if (this.#digit(data, at, BODY_BYTES)) return at + 1;
    if (data[at] !== NEWLINE) throw new Refused("the length of a chunk ends with a newline");
    this.#step = this.#number === 0 ? this.#done : this.#chunk;
    return at + 1;
  }

  /** Skips a chunk without storing it. */
  #chunk(data, at) {
    const end = Math.min(data.length, at + this.#number);
    this.#number -= end - at;
    if (this.#number === 0) this.#expectNumber(this.#chunkLength);
    return end;
  }
}
