"""Changes that the tests of the native kits make in a template before they build it, the same in every language.

The changed adapter prints a line with each message that it sends, fails if the content is "boom", and crashes if it is
"crash". It declares ephemeral messages and filters, but has no methods for them. Observe reports the largest Lamport
timestamp, and for each ID whether it is not empty. RepairTimes rejects with the number of response groups. Decode
returns the bytes themselves as content, after an entry "a" with an empty hint.
"""

from __future__ import annotations

MORE = (
    "CAPABILITY_DELIVERED",
    "CAPABILITY_EPHEMERAL",
    "CAPABILITY_OBSERVE",
    "CAPABILITY_FILTER_CODEC",
    "CAPABILITY_MESSAGE_CODEC",
    "CAPABILITY_REPAIR_TIMES",
)
DECLARED, DECLARES = '"CAPABILITY_DELIVERED"', ", ".join(f'"{capability}"' for capability in MORE)

GO_SEND = "func (p participant) Send(in Send) (Effects, error) {\n"
GO = {
    DECLARED: DECLARES,
    "package main\n": 'package main\n\nimport (\n"errors"\n"fmt"\n"math"\n)\n',
    GO_SEND: GO_SEND
    + """
	fmt.Println("noise, Ж字🦊")
	if string(in.Content) == "boom" {
		return Effects{}, errors.New("no memory, Ж字🦊")
	}
	if string(in.Content) == "crash" {
		panic("a defect, Ж字🦊")
	}
""",
    "// participant maps the ID of each channel that it joined to the channel.\n": """
func (p participant) Observe(in Observe) (State, error) {
	largest := uint64(math.MaxUint64)
	state := State{LamportTimestamp: &largest}
	for _, id := range in.FilterIDs {
		state.FilterHits = append(state.FilterHits, id != "")
	}
	return state, nil
}
func (adapter) Encode(in Encode) (Encoded, error) { return Encoded{}, Unsupported("so far") }
func (adapter) Decode(in Decode) (Decoded, error) {
	message := Message{CausalHistory: []HistoryEntry{{MessageID: "a", RetrievalHint: &[]byte{}}}, Content: &in.Wire}
	return Decoded{message, "MESSAGE_KIND_CONTENT"}, nil
}
func (adapter) RepairTimes(in RepairTimes) (RepairOffsets, error) {
	return RepairOffsets{}, Rejected(fmt.Sprint(in.NumResponseGroups, " groups"))
}
""",
}

RUST_SEND = "fn send(&mut self, who: &mut Participant, given: &Json) -> Answer {\n"
RUST_TICK = "    fn tick(&mut self"
RUST = {
    DECLARED: DECLARES,
    RUST_SEND: RUST_SEND
    + """
        println!("noise, Ж字🦊");
        if given.bytes("content")? == b"boom" {
            return Err(Refusal::Error("no memory, Ж字🦊".to_string()));
        }
        if given.bytes("content")? == b"crash" {
            panic!("a defect, {}", "Ж字🦊");
        }
""",
    RUST_TICK: """
    fn observe(&mut self, _who: &mut Participant, given: &Json) -> Answer {
        let hits = given.texts("filterIds")?.into_iter().map(|id| !id.is_empty());
        Ok(Json::object([("lamportTimestamp", u64::MAX.into()), ("filterHits", Json::list(hits))]))
    }
    fn encode(&mut self, _given: &Json) -> Answer {
        Err(Refusal::Unsupported("so far".to_string()))
    }
    fn decode(&mut self, given: &Json) -> Answer {
        let entry = Json::object([("messageId", "a".into()), ("retrievalHint", [].as_slice().into())]);
        let content = given.bytes("wire")?.as_slice().into();
        let message = Json::object([("causalHistory", Json::list([entry])), ("content", content)]);
        Ok(Json::object([("message", message), ("kind", "MESSAGE_KIND_CONTENT".into())]))
    }
    fn repair_times(&mut self, given: &Json) -> Answer {
        Err(Refusal::Rejected(format!("{} groups", given.integer("numResponseGroups")?)))
    }
"""
    + RUST_TICK,
}

JAVA_SEND = "public Map<String, Object> send(Map<String, Toy> who, Json.Fields given) {\n"
JAVA_MAIN = "    public static void main("
JAVA = {
    DECLARED: DECLARES,
    JAVA_SEND: JAVA_SEND
    + """
        System.out.println("noise, Ж字🦊");
        String content = new String(given.bytes("content"), java.nio.charset.StandardCharsets.UTF_8);
        if (content.equals("boom")) {
            throw new IllegalStateException("no memory, Ж字🦊");
        }
        if (content.equals("crash")) {
            new Thread(() -> java.util.concurrent.locks.LockSupport.parkNanos(Long.MAX_VALUE)).start();
            throw new AssertionError("a defect, Ж字🦊");
        }
""",
    JAVA_MAIN: """
    @Override
    public Map<String, Object> observe(Map<String, Toy> who, Json.Fields given) {
        var hits = given.texts("filterIds").stream().map(id -> !id.isEmpty()).toList();
        return Json.object("lamportTimestamp", -1L, "filterHits", hits, "log", null);
    }
    @Override
    public Map<String, Object> encode(Json.Fields given) {
        throw new Kit.Unsupported("so far");
    }
    @Override
    public Map<String, Object> decode(Json.Fields given) {
        var entry = Json.object("messageId", "a", "retrievalHint", new byte[0]);
        var message = Json.object("causalHistory", List.of(entry), "content", given.bytes("wire"));
        return Json.object("message", message, "kind", "MESSAGE_KIND_CONTENT");
    }
    @Override
    public Map<String, Object> repairTimes(Json.Fields given) {
        throw new Kit.Rejected(given.integer("numResponseGroups") + " groups");
    }
"""
    + JAVA_MAIN,
}

C_SEND = "static void on_send(void *who, const kit_json *given) {\n"
C = {
    DECLARED: DECLARES,
    "#include <stdlib.h>\n": "#include <stdio.h>\n#include <stdlib.h>\n",
    C_SEND: C_SEND
    + """
    puts("noise, Ж字🦊");
    if (kit_same(kit_get_bytes(given, "content"), kit_string("boom"))) kit_fail("no memory, %s", "Ж字🦊");
    if (kit_same(kit_get_bytes(given, "content"), kit_string("crash"))) {
        fputs("a defect, Ж字🦊", stderr);
        abort();
    }
""",
    "int main(void) {\n": """
static void observe(void *who, const kit_json *given) {
    (void)who;
    kit_put_uint64("lamportTimestamp", UINT64_MAX);
    kit_begin_list("filterHits");
    for (const kit_json *id = kit_first(given, "filterIds"); id != NULL; id = kit_next(id))
        kit_put_bool(NULL, kit_as_text(id).size > 0);
    kit_end_list();
}
static void encode(void *none, const kit_json *given) { (void)none, (void)given; kit_unsupported("so far"); }
static void repair_times(void *none, const kit_json *given) {
    (void)none;
    char *reason = kit_alloc(40);
    snprintf(reason, 40, "%ld groups", (long)kit_get_integer(given, "numResponseGroups"));
    kit_reject(reason);
}
static void decode(void *none, const kit_json *given) {
    (void)none;
    kit_begin_object("message");
    kit_begin_list("causalHistory");
    kit_begin_object(NULL);
    kit_put_text("messageId", kit_string("a"));
    kit_put_bytes("retrievalHint", kit_string(""));
    kit_end_object();
    kit_end_list();
    kit_put_bytes("content", kit_get_bytes(given, "wire"));
    kit_end_object();
    kit_put_text("kind", kit_string("MESSAGE_KIND_CONTENT"));
}
int main(void) {
""",
    "        .tick = on_tick,\n": """
        .tick = on_tick,
        .observe = observe,
        .encode = encode,
        .decode = decode,
        .repair_times = repair_times,
""",
}

NIM_SEND = "method send(who: Member, given: JsonNode): JsonNode =\n"
NIM_SERVE = "serve(Adapter())\n"
NIM = {
    DECLARED: DECLARES,
    NIM_SEND: NIM_SEND
    + """
  echo "noise, Ж字🦊"
  if given.bytes("content") == "boom":
    raise newException(IOError, "no memory, Ж字🦊")
  if given.bytes("content") == "crash":
    raise newException(AssertionDefect, "a defect, Ж字🦊")
""",
    NIM_SERVE: """
method observe(who: Member, given: JsonNode): JsonNode =
  result = %*{"lamportTimestamp": uint64Json(high(uint64)), "filterHits": []}
  for id in given.texts("filterIds"):
    result["filterHits"].add %(id.len > 0)
method encode(mine: Adapter, given: JsonNode): JsonNode =
  raise newException(Unsupported, "so far")
method decode(mine: Adapter, given: JsonNode): JsonNode =
  let entry = %*{"messageId": "a", "retrievalHint": bytesJson("")}
  let message = %*{"causalHistory": [entry], "content": bytesJson(given.bytes("wire"))}
  %*{"message": message, "kind": "MESSAGE_KIND_CONTENT"}
method repairTimes(mine: Adapter, given: JsonNode): JsonNode =
  raise newException(Rejected, $given.integer("numResponseGroups") & " groups")
"""
    + NIM_SERVE,
}

CHANGES: dict[str, dict[str, dict[str, str]]] = {
    "go": {"adapter.go": GO},
    "rust": {"adapter.rs": RUST},
    "java": {"Adapter.java": JAVA},
    "c": {"adapter.c": C},
    "nim": {"adapter.nim": NIM},
}
"""For each language and file: texts that occur once in the file, with their replacements."""
