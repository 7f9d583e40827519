// The limits of all input, and the error for input that exceeds a limit or breaks a rule.

/** Refused input: bytes, a message, a command or a store that breaks a rule. Nothing has changed. */
export class Refused extends Error {}

/** Largest body of a message, in bytes: the core protocol's own bound. */
export const BODY_BYTES = 16_777_216;

/** Deepest nesting of objects and arrays in a body. The message is the outermost level. */
export const DEPTH = 500;

/** Largest number of members of a vector clock or of `since`, and of peers whose revisions are known. */
export const PEERS = 65_536;

/** Longest number in JSON, in characters. Longer ones are useless, and slow to read. */
export const NUMBER_CHARACTERS = 4_096;

/** Longest signature in base64: that of an RSA key of 4096 bits has 684 characters. */
export const SIGNATURE_CHARACTERS = 1_024;

/** Largest revision and clock number: "a 64-bit integer", taken as unsigned. */
export const UINT64 = (1n << 64n) - 1n;

/** Maximum number of records with the same key that a read-only peer keeps hidden until a read-write peer resolves the
 * conflict. */
export const HIDDEN = 1_024;

/** Maximum number of database.get_updates that arrive in one Receive. Each answer can be the whole database. */
export const REQUESTS = 16;
