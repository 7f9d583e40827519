// Types of kit.mjs. Names are those of the testee protocol; fields that are optional here may be left out.

/** A 64-bit number in an answer; a BigInt or its digits if a Number cannot represent it. */
export type Uint64 = number | bigint | string;
type Now = { nowMs: number };
type InChannel = Now & { channelId: string };
type Maybe<T> = T | void | Promise<T | void>;

/** The requested configuration, and in the answer the effective one; unset means unknown. */
export interface Configuration {
  causalHistorySize?: number;
  bloomCapacity?: number;
  bloomErrorRate?: number;
  resendUnacknowledgedMs?: number;
  resendPossiblyAcknowledgedMs?: number;
  syncIntervalMs?: number;
  lostTimeoutMs?: number;
  incomingSweepMs?: number;
  possibleAckThreshold?: number;
  sdsR?: boolean;
  tMinMs?: number;
  tMaxMs?: number;
  numResponseGroups?: number;
  numParticipants?: number;
  maxRepairRequests?: number;
}

export interface HistoryEntry {
  messageId: string;
  retrievalHint?: Uint8Array;
  senderId?: string;
}

export interface Message {
  senderId?: string;
  messageId?: string;
  channelId?: string;
  lamportTimestamp?: Uint64;
  causalHistory?: HistoryEntry[];
  bloomFilter?: Uint8Array;
  repairRequest?: HistoryEntry[];
  content?: Uint8Array;
}

export type Event = { channelId: string } & (
  | { delivered: { messageId: string; content: Uint8Array } }
  | { acknowledged: { messageId: string } }
  | { possiblyAcknowledged: { messageId: string } }
  | { missing: { entries: { messageId: string; retrievalHint?: Uint8Array }[] } }
  | { lost: { messageIds: string[] } }
);

export interface Effects {
  /** Messages for the network, in order. */
  broadcasts?: Uint8Array[];
  /** The implementation's own signals, in order. */
  events?: Event[];
  /** The ID of a message that was sent. */
  messageId?: string;
}

export interface State {
  lamportTimestamp?: Uint64;
  log?: { entries: { messageId: string; lamportTimestamp: Uint64 }[] };
  outgoing?: { entries: { messageId: string; state: string }[] };
  incoming?: { messageIds: string[] };
  filterHits?: boolean[];
  outgoingRepairs?: { entries: { messageId: string; dueMs: Uint64 }[] };
  incomingRepairs?: { entries: { messageId: string; dueMs: Uint64 }[] };
}

export interface Hello {
  name: string;
  version: string;
  language?: string;
  homepage?: string;
  alone?: boolean;
  revisions: string[];
  profiles?: { bloom?: string; hash?: string; idOrder?: string; dialect?: string };
  limits?: {
    contentBytes?: Uint64;
    lamportAheadMs?: Uint64;
    logEntries?: Uint64;
    repairClockMs?: Uint64;
    waitingMessages?: Uint64;
    cascadeMessages?: Uint64;
    latePlaces?: Uint64;
    outstandingMessages?: Uint64;
    historyEntries?: Uint64;
    messageIdBytes?: Uint64;
    hintBytes?: Uint64;
    repairRequestEntries?: Uint64;
    repairAnswers?: Uint64;
    repairRequests?: Uint64;
    channels?: Uint64;
    participants?: Uint64;
  };
}

type FilterSize = { bloomCapacity?: number; bloomErrorRate?: number };

/** Throw this, with the reason, for input that the implementation refuses. */
export class Rejected extends Error {}

/** The adapter or the implementation does not support this. */
export class Unsupported extends Error {}

/** `Who` is a participant, as returned by `open`. */
export class Implementation<Who = any> {
  hello: Hello;
  /** Names of the protocol's Capability. */
  capabilities: string[];
  /** Called before each command that has a time. */
  setClock(nowMs: number): void;
  open(
    asked: Now & { participantId: string; channels: string[]; configuration: Configuration },
  ): { who: Who; configuration?: Configuration } | Promise<{ who: Who; configuration?: Configuration }>;
  close(who: Who, asked: Now): Maybe<{}>;
  send(
    who: Who,
    asked: InChannel & { content: Uint8Array; messageId: string; retrievalHint?: Uint8Array },
  ): Maybe<Effects>;
  sendEphemeral(who: Who, asked: InChannel & { content: Uint8Array; messageId: string }): Maybe<Effects>;
  sendSync(who: Who, asked: InChannel): Maybe<Effects>;
  receive(who: Who, asked: Now & { wire: Uint8Array; retrievalHint?: Uint8Array }): Maybe<Effects>;
  tick(who: Who, asked: Now): Maybe<Effects>;
  observe(who: Who, asked: InChannel & { filterIds: string[] }): Maybe<State>;
  buildFilter(asked: { messageIds: string[] } & FilterSize): Maybe<{ bloomFilter: Uint8Array }>;
  queryFilter(asked: { bloomFilter: Uint8Array; messageIds: string[] } & FilterSize): Maybe<{ hits: boolean[] }>;
  encode(asked: { message: Message }): Maybe<{ wire: Uint8Array }>;
  decode(asked: { wire: Uint8Array }): Maybe<{ message: Message; kind?: string }>;
  repairTimes(
    asked: Now & {
      participantId: string;
      messageId: string;
      senderId: string;
      tMinMs: string;
      tMaxMs: string;
      numResponseGroups: number;
    },
  ): Maybe<{ tReqMs?: Uint64; tRespMs?: Uint64; inResponseGroup?: boolean }>;
}

/** Answer every line of stdin with the implementation, one after the other, until it ends. */
export function serve(implementation: Implementation): Promise<never>;
