import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The kit: the testee protocol on stdin and stdout, one JSON object per line. Do not change this file; it needs only
 * Java 17 or newer. Fill in Adapter.java.
 */
final class Kit {
    /** Throw this for input that your implementation rejects without a change of its state. */
    static final class Rejected extends RuntimeException {
        Rejected(String reason) {
            super(reason);
        }
    }

    /** Throw this for commands and fields that your implementation does not support. */
    static final class Unsupported extends RuntimeException {
        Unsupported(String what) {
            super(what);
        }
    }

    /** A new participant and its effective configuration. */
    record Opened<P>(P participant, Map<String, Object> configuration) {}

    /**
     * Your implementation. P is your class of participants. {@code given} has the fields of the command, as
     * testee.proto names them in lowerCamelCase. An answer is a {@link Json#object} with the fields of its message.
     */
    interface Implementation<P> {
        /** HelloReply: the name and version of the implementation. */
        Map<String, Object> hello(String revision);

        /** The supported capabilities, for example CAPABILITY_SYNC. Commands that need other capabilities are answered
         * `unsupported`. */
        List<String> capabilities();

        /** Makes a participant that is a member of `channels`. */
        Opened<P> open(Json.Fields given) throws Exception;

        /** Frees a participant; returns effects, as the next three methods do. */
        Map<String, Object> close(P who, Json.Fields given) throws Exception;

        Map<String, Object> send(P who, Json.Fields given) throws Exception;

        Map<String, Object> receive(P who, Json.Fields given) throws Exception;

        Map<String, Object> tick(P who, Json.Fields given) throws Exception;

        /** Required by CAPABILITY_SYNC; returns effects. */
        default Map<String, Object> sendSync(P who, Json.Fields given) throws Exception {
            throw missing("sendSync");
        }

        /** Required by CAPABILITY_EPHEMERAL; returns effects. */
        default Map<String, Object> sendEphemeral(P who, Json.Fields given) throws Exception {
            throw missing("sendEphemeral");
        }

        /** Required by CAPABILITY_OBSERVE; returns a State. */
        default Map<String, Object> observe(P who, Json.Fields given) throws Exception {
            throw missing("observe");
        }

        /** Required by CAPABILITY_FILTER_CODEC; returns a Filter. */
        default Map<String, Object> buildFilter(Json.Fields given) throws Exception {
            throw missing("buildFilter");
        }

        /** Required by CAPABILITY_FILTER_CODEC; returns a Membership. */
        default Map<String, Object> queryFilter(Json.Fields given) throws Exception {
            throw missing("queryFilter");
        }

        /** Required by CAPABILITY_MESSAGE_CODEC; returns Encoded. */
        default Map<String, Object> encode(Json.Fields given) throws Exception {
            throw missing("encode");
        }

        /** Required by CAPABILITY_MESSAGE_CODEC; returns Decoded. */
        default Map<String, Object> decode(Json.Fields given) throws Exception {
            throw missing("decode");
        }

        /** Required by CAPABILITY_REPAIR_TIMES; returns RepairOffsets. */
        default Map<String, Object> repairTimes(Json.Fields given) throws Exception {
            throw missing("repairTimes");
        }
    }

    private static UnsupportedOperationException missing(String method) {
        return new UnsupportedOperationException("its capability is declared, but there is no method " + method);
    }

    // ---- The loop ----------------------------------------------------------------------------------------------

    /** Answers every line of stdin until it ends. */
    static <P> void serve(Implementation<P> mine) throws IOException {
        // Output that is printed by mistake must not mix with the replies. Write UTF-8 in every locale.
        var errors = new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        System.setOut(errors);
        System.setErr(errors);
        if (!System.getenv().getOrDefault("SDS_TESTEE_FRAMING", "json").equals("json")) {
            System.err.println("this adapter speaks JSON lines only");
            System.exit(1);
        }
        var kit = new Server<>(mine);
        var replies = new FileOutputStream(FileDescriptor.out);
        var requests = new BufferedInputStream(System.in, 1 << 16);
        for (byte[] line = line(requests); line != null; line = line(requests)) {
            replies.write(kit.reply(line).getBytes(StandardCharsets.UTF_8));
        }
    }

    private static byte[] line(InputStream from) throws IOException {
        var line = new ByteArrayOutputStream();
        int next = from.read();
        if (next < 0) {
            return null;
        }
        for (; next >= 0 && next != '\n'; next = from.read()) {
            line.write(next);
        }
        return line.toByteArray();
    }

    private static final class Server<P> {
        private final Implementation<P> mine;
        private final Map<Long, P> participants = new HashMap<>();
        private long last;
        private long id;

        Server(Implementation<P> mine) {
            this.mine = mine;
        }

        String reply(byte[] line) {
            id = 0;
            try {
                return told(request(line));
            } catch (Rejected refusal) {
                return told(Json.object("rejected", Json.object("reason", refusal.getMessage())));
            } catch (Unsupported refusal) {
                return told(Json.object("unsupported", Json.object("what", refusal.getMessage())));
            } catch (Exception fault) { // The suite quotes it, and the process goes on.
                fault.printStackTrace();
                return told(Json.object("error", Json.object("message", fault.toString())));
            } catch (Error fault) { // A crash. Threads of the implementation must not keep the process alive.
                fault.printStackTrace();
                Runtime.getRuntime().halt(1);
                throw fault;
            }
        }

        private String told(Map<String, Object> answer) {
            var reply = Json.object("id", id);
            reply.putAll(answer);
            var out = new StringBuilder();
            Json.write(reply, out);
            return out.append('\n').toString();
        }

        /** The answer to a line. */
        @SuppressWarnings("unchecked")
        private Map<String, Object> request(byte[] line) throws Exception {
            Map<String, Object> request;
            try {
                request = (Map<String, Object>) Json.parse(Json.utf8(line));
            } catch (CharacterCodingException | ClassCastException fault) {
                throw new Json.Fault("not a request: no object in UTF-8");
            }
            id = new Json.Fields(request).number("id");
            request.remove("id");
            if (request.size() > 1) {
                throw new Json.Fault("more than one command in a request");
            }
            String name = request.keySet().stream().findFirst().orElseThrow(() -> new Unsupported("no command"));
            Command command = COMMANDS.get(name);
            if (command == null) {
                throw new Unsupported(name);
            }
            Json.Fields given = new Json.Fields(request).message(name);
            check(name, command, (Map<String, Object>) request.get(name), given);
            return Json.object(command.answer(), answer(name, given));
        }

        /** Ends the command if it has an unknown field, or a field that needs an undeclared capability. */
        private void check(String name, Command command, Map<String, Object> fields, Json.Fields given) {
            need(command.capability());
            for (String field : name.equals("hello") ? List.<String>of() : fields.keySet()) {
                String capability = command.fields().get(field);
                if (capability == null) {
                    throw new Unsupported("field " + field);
                }
                if (!field.equals("messageId") || !given.text(field).isEmpty()) {
                    need(capability);
                }
            }
            if (name.equals("open")) {
                need(List.of("UNNAMED_CHANNEL", "", "CHANNELS").get(Math.min(given.values("channels").size(), 2)));
            }
        }

        /** Is a capability with this prefix declared? */
        private void need(String capability) {
            if (mine.capabilities().stream().noneMatch(known -> known.startsWith("CAPABILITY_" + capability))
                    && !capability.isEmpty()) {
                throw new Unsupported(capability);
            }
        }

        private Map<String, Object> answer(String name, Json.Fields given) throws Exception {
            return switch (name) {
                case "hello" -> hello(given);
                case "open" -> open(given);
                case "close" -> {
                    P who = who(given);
                    participants.remove(given.number("handle"));
                    yield mine.close(who, given);
                }
                case "send" -> mine.send(who(given), given);
                case "sendEphemeral" -> mine.sendEphemeral(who(given), given);
                case "sendSync" -> mine.sendSync(who(given), given);
                case "receive" -> mine.receive(who(given), given);
                case "tick" -> mine.tick(who(given), given);
                case "observe" -> mine.observe(who(given), given);
                case "buildFilter" -> mine.buildFilter(given);
                case "queryFilter" -> mine.queryFilter(given);
                case "encode" -> mine.encode(given);
                case "decode" -> mine.decode(given);
                case "repairTimes" -> mine.repairTimes(given);
                default -> throw new Unsupported(name);
            };
        }

        private Map<String, Object> hello(Json.Fields given) {
            var reply = Json.object("protocolVersion", 1, "capabilities", mine.capabilities());
            reply.putAll(mine.hello(given.text("revision")));
            return reply;
        }

        private Map<String, Object> open(Json.Fields given) throws Exception {
            Opened<P> opened = mine.open(given);
            participants.put(++last, opened.participant());
            return Json.object("handle", last, "configuration", opened.configuration());
        }

        private P who(Json.Fields given) {
            P who = participants.get(given.number("handle"));
            if (who == null) {
                throw new Json.Fault("no participant has handle " + Long.toUnsignedString(given.number("handle")));
            }
            return who;
        }
    }

    // ---- The commands ------------------------------------------------------------------------------------------

    /** The name of the answer, the capability of the command, and the capability that each of its fields needs. */
    private record Command(String answer, String capability, Map<String, String> fields) {}

    private static final Map<String, Command> COMMANDS = new HashMap<>();

    private static void command(String name, String answer, String capability, String fields) {
        var needs = new HashMap<String, String>();
        for (String field : fields.split(" ")) {
            String[] parts = (field + ":").split(":", -1);
            needs.put(parts[0], parts[1]);
        }
        COMMANDS.put(name, new Command(answer, capability, needs));
    }

    static {
        String sizes = " bloomCapacity:FILTER_SIZES bloomErrorRate:FILTER_SIZES";
        command("hello", "hello", "", "");
        command("open", "opened", "", "nowMs participantId channels configuration");
        command("close", "effects", "", "nowMs handle");
        String content = "nowMs handle channelId content messageId:MESSAGE_ID";
        command("send", "effects", "", content + " retrievalHint:RETRIEVAL_HINTS");
        command("sendEphemeral", "effects", "EPHEMERAL", content);
        command("sendSync", "effects", "SYNC", "nowMs handle channelId");
        command("receive", "effects", "", "nowMs handle wire retrievalHint:RETRIEVAL_HINTS");
        command("tick", "effects", "", "nowMs handle");
        command("observe", "state", "OBSERVE", "nowMs handle channelId filterIds");
        command("buildFilter", "filter", "FILTER_CODEC", "messageIds" + sizes);
        command("queryFilter", "membership", "FILTER_CODEC", "bloomFilter messageIds" + sizes);
        command("encode", "encoded", "MESSAGE_CODEC", "message");
        command("decode", "decoded", "MESSAGE_CODEC", "wire");
        String times = "nowMs participantId messageId senderId tMinMs tMaxMs numResponseGroups";
        command("repairTimes", "repairOffsets", "REPAIR_TIMES", times);
    }
}
