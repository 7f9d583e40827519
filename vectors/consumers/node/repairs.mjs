// T_req, T_resp and response groups: the formulas of the text in integers of any size.
import { NotConfirmed, isAmong, plain } from "./files.mjs";
import { INTEGERS, abs, hash } from "./hashes.mjs";

const big = (number) => BigInt(number);

/** By name of the function. A division by zero throws a RangeError, which counts as a rejection. */
const FUNCTIONS = {
  "t-req": (profile, test) => {
    const width = big(test.t_max_ms) - big(test.t_min_ms);
    if (width <= 0n) throw new RangeError("T_max is not greater than T_min");
    return { offset_ms: Number(hash(profile, test.participant_id, test.message_id) % width) + test.t_min_ms };
  },
  "t-resp": (profile, test) => {
    const integer = INTEGERS[profile];
    const distance = abs(integer(test.participant_id) ^ integer(test.sender_id));
    return { offset_ms: Number((distance * hash(profile, test.message_id)) % big(test.t_max_ms)) };
  },
  "response-group": (profile, test) => {
    const groups = big(test.num_response_groups);
    if (groups <= 0n) throw new RangeError("no response group");
    const groupOf = (participant) => hash(profile, participant, test.message_id) % groups;
    return { member: groupOf(test.participant_id) === groupOf(test.sender_id) };
  },
  "default-response-groups": (_, { num_participants }) => ({
    num_response_groups: Math.floor(num_participants / 128) + 1,
  }),
};

/** The result of a function with a hash. */
export function compute(name, profile, test) {
  try {
    return FUNCTIONS[name](profile, test);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { rejected: true };
  }
}

/** Is it one of the outcomes, or inside an outcome that is a range? */
function isLegal(got, outcomes) {
  const within = ({ from_ms: from, to_ms: to }) => from <= got.offset_ms && got.offset_ms <= to;
  return isAmong(got, outcomes) || outcomes.some(within);
}

export function* repairTimes(test) {
  const { function: name, hash_profile: named = "any" } = test;
  if (!Object.hasOwn(FUNCTIONS, name)) throw new NotConfirmed(`no function called ${name} is known here`);
  for (const profile of named === "any" ? Object.keys(INTEGERS) : [named]) {
    const got = compute(name, profile, test);
    if (!isLegal(got, test.outcomes)) yield `with ${profile} got ${plain(got)}, the vector has ${plain(test.outcomes)}`;
  }
}
