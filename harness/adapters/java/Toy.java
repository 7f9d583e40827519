import java.io.ByteArrayOutputStream;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * A toy SDS with little more than the mandatory parts of the specification. Replace it with your implementation.
 *
 * <p>A participant sends, receives, delivers in causal order and keeps a log. It never sends anything again,
 * acknowledges nothing, sends neither sync nor ephemeral messages, and repairs nothing. A Toy is one participant in one
 * channel.
 */
final class Toy {
    /** Message IDs in a causal history. */
    static final int HISTORY = 2;

    /** Size of the bloom filter: about one false positive in a hundred. */
    static final int FILTER_IDS = 100;

    private static final int FILTER_BITS = 1024;
    private static final int FILTER_HASHES = 7;

    /** Wire types of protobuf. */
    private static final int VARINT = 0;

    private static final int FIXED64 = 1;
    private static final int SIZED = 2;
    private static final int FIXED32 = 5;

    /** The error for bytes that are not a message, and for empty content to send. */
    static final class Refused extends Exception {
        Refused(String reason) {
            super(reason);
        }
    }

    /** A message of a channel. Without a timestamp it is ephemeral, without content a sync message. */
    static final class Message {
        String sender = "";
        String id = "";
        String channel = "";
        boolean stamped;
        long lamport; // Unsigned.
        final List<String> history = new ArrayList<>();
        byte[] bloom = {};
        byte[] content = {};
    }

    /** The result of a send. */
    record Sent(String id, byte[] wire) {}

    // ---- The wire: protobuf by hand ----------------------------------------------------------------------------

    private static void addVarint(ByteArrayOutputStream wire, long number) {
        for (; (number & ~0x7fL) != 0; number >>>= 7) {
            wire.write((int) number & 0x7f | 0x80);
        }
        wire.write((int) number);
    }

    /** Adds a field with a length prefix. */
    private static void addSized(ByteArrayOutputStream wire, int number, byte[] value) {
        addVarint(wire, number << 3 | SIZED);
        addVarint(wire, value.length);
        wire.writeBytes(value);
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] encode(Message message) {
        var wire = new ByteArrayOutputStream();
        addSized(wire, 1, utf8(message.sender));
        addSized(wire, 2, utf8(message.id));
        addSized(wire, 3, utf8(message.channel));
        addVarint(wire, 10 << 3 | VARINT);
        addVarint(wire, message.lamport);
        for (String id : message.history) {
            var entry = new ByteArrayOutputStream();
            addSized(entry, 1, utf8(id));
            addSized(wire, 11, entry.toByteArray());
        }
        addSized(wire, 12, message.bloom);
        addSized(wire, 20, message.content);
        return wire.toByteArray();
    }

    /** A field: its number and wire type, and its number or its bytes. */
    private record Field(long tag, int kind, long number, byte[] value) {
        boolean is(int tag, int kind) {
            return this.tag == tag && this.kind == kind;
        }

        String text() throws Refused {
            try {
                return Json.utf8(value);
            } catch (CharacterCodingException fault) {
                throw new Refused("text that is not UTF-8");
            }
        }
    }

    /** Reads the fields of a message one by one. */
    private static final class Reader {
        private final byte[] wire;
        private int at;

        Reader(byte[] wire) {
            this.wire = wire;
        }

        List<Field> fields() throws Refused {
            var out = new ArrayList<Field>();
            while (at < wire.length) {
                long key = varint();
                int kind = (int) key & 7;
                long number = kind == VARINT || kind == SIZED ? varint() : 0;
                long size = switch (kind) {
                    case VARINT -> 0;
                    case FIXED64 -> 8;
                    case SIZED -> number;
                    case FIXED32 -> 4;
                    default -> -1;
                };
                if (key >>> 3 == 0 || size < 0 || size > wire.length - at) {
                    throw new Refused("a field has no number, is cut off, or of an unknown type");
                }
                out.add(new Field(key >>> 3, kind, number, Arrays.copyOfRange(wire, at, at + (int) size)));
                at += (int) size;
            }
            return out;
        }

        private long varint() throws Refused {
            long number = 0;
            for (int i = 0; i < 10 && at < wire.length; i++) {
                byte next = wire[at++];
                number |= (next & 0x7fL) << 7 * i;
                if (next >= 0) {
                    return number;
                }
            }
            throw new Refused("a varint does not end");
        }
    }

    /** The message in these bytes. Unknown fields are skipped, including those of SDS-R. */
    static Message decode(byte[] wire) throws Refused {
        var message = new Message();
        for (Field field : new Reader(wire).fields()) {
            if (field.is(1, SIZED)) {
                message.sender = field.text();
            } else if (field.is(2, SIZED)) {
                message.id = field.text();
            } else if (field.is(3, SIZED)) {
                message.channel = field.text();
            } else if (field.is(10, VARINT)) {
                message.stamped = true;
                message.lamport = field.number();
            } else if (field.is(11, SIZED)) {
                String id = "";
                for (Field inner : new Reader(field.value()).fields()) {
                    id = inner.is(1, SIZED) ? inner.text() : id;
                }
                message.history.add(id);
            } else if (field.is(20, SIZED)) {
                message.content = field.value();
            }
        }
        return message;
    }

    // ---- The protocol ------------------------------------------------------------------------------------------

    private final String participant;
    private final String channel;
    private long clock; // The Lamport timestamp, unsigned.
    private final TreeSet<Message> log = new TreeSet<>(Toy::inOrder);
    private final Set<String> logged = new HashSet<>();
    private final List<Message> waiting = new ArrayList<>(); // Received, with dependencies that are not in the log.
    private final ArrayDeque<String> received = new ArrayDeque<>(); // The newest IDs, so that the filter never fills.

    Toy(String participant, String channel, long nowMs) {
        this.participant = participant;
        this.channel = channel;
        this.clock = nowMs;
    }

    /** Ordered by timestamp, and by the bytes of IDs if timestamps are equal: Java orders strings differently. */
    private static int inOrder(Message one, Message other) {
        int difference = Long.compareUnsigned(one.lamport, other.lamport);
        return difference != 0 ? difference : Arrays.compareUnsigned(utf8(one.id), utf8(other.id));
    }

    /** Sends a new message. */
    Sent send(byte[] content, long nowMs) throws Refused {
        if (content.length == 0) {
            throw new Refused("there is no content");
        }
        if (clock == -1) {
            throw new Refused("the Lamport timestamp has reached its maximum");
        }
        // The timestamp distinguishes messages of one sender in one channel; the hash distinguishes senders and
        // channels.
        var who = new ByteArrayOutputStream();
        addSized(who, 1, utf8(participant));
        addSized(who, 3, utf8(channel));
        addSized(who, 20, content);
        String hash = Long.toHexString(hash(who.toByteArray()));
        var message = new Message();
        message.sender = participant;
        message.channel = channel;
        message.stamped = true;
        message.lamport = Long.compareUnsigned(nowMs, clock + 1) > 0 ? nowMs : clock + 1;
        message.id = Long.toHexString(message.lamport) + "-" + "0".repeat(16 - hash.length()) + hash;
        var newest = log.descendingIterator();
        for (int i = 0; i < HISTORY && newest.hasNext(); i++) {
            message.history.add(0, newest.next().id);
        }
        message.bloom = bloom();
        message.content = content;
        keep(message);
        return new Sent(message.id, encode(message));
    }

    /** Returns the messages that are delivered now, in order. */
    List<Message> receive(Message message) throws Refused {
        if (message.sender.equals(participant) || message.content.length == 0) {
            return List.of(); // One's own; or a sync message, which speaks of acknowledgements and repairs alone.
        }
        if (!message.stamped) {
            return List.of(message);
        }
        if (message.id.isEmpty()) {
            throw new Refused("a message without an ID");
        }
        if (logged.contains(message.id) || waiting.stream().anyMatch(other -> other.id.equals(message.id))) {
            return List.of();
        }
        received.add(message.id);
        if (received.size() > FILTER_IDS) {
            received.remove();
        }
        waiting.add(message);
        var delivered = new ArrayList<Message>();
        for (int place = ready(); place >= 0; place = ready()) {
            delivered.add(waiting.remove(place));
            keep(delivered.get(delivered.size() - 1));
        }
        return delivered;
    }

    /** The index of the first message with no missing dependency, or -1. */
    private int ready() {
        for (int place = 0; place < waiting.size(); place++) {
            if (logged.containsAll(waiting.get(place).history)) {
                return place;
            }
        }
        return -1;
    }

    /** Puts a message into the log, and updates the clock. */
    private void keep(Message message) {
        clock = Long.compareUnsigned(message.lamport, clock) > 0 ? message.lamport : clock;
        log.add(message);
        logged.add(message.id);
    }

    /** A filter over the newest IDs that were received. */
    private byte[] bloom() {
        var bits = new byte[FILTER_BITS / 8];
        for (String id : received) {
            long hash = hash(utf8(id));
            for (int n = 0; n < FILTER_HASHES; n++) {
                int place = (int) (((hash >>> 32) + n * (hash & 0xffffffffL)) % FILTER_BITS);
                bits[place / 8] |= (byte) (1 << place % 8);
            }
        }
        return bits;
    }

    /** FNV-1a with 64 bits, which is good enough for a toy. */
    private static long hash(byte[] data) {
        long out = 0xcbf29ce484222325L;
        for (byte next : data) {
            out = (out ^ next & 0xff) * 0x100000001b3L;
        }
        return out;
    }
}
