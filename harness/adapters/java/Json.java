import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Values of ProtoJSON, read and written. Part of the kit: do not change it.
 *
 * <p>In ProtoJSON, 64-bit numbers are strings and bytes are base64. So a Long (unsigned) and a byte[] are written as
 * strings; an Integer and a Double become numbers. Null fields of objects are omitted.
 */
final class Json {
    private static final int DEPTH = 64; // Requests have five levels.

    /** A number as it is written in the text. */
    record Digits(String text) {}

    /** An error in a text or a value. */
    static final class Fault extends RuntimeException {
        Fault(String message) {
            super(message);
        }
    }

    /** An object with these fields: name, value, name, value. */
    static Map<String, Object> object(Object... namesAndValues) {
        var out = new LinkedHashMap<String, Object>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            out.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return out;
    }

    /** The fields of a command. An absent field is empty or 0. */
    static final class Fields {
        private final Map<String, Object> fields;

        Fields(Map<String, Object> fields) {
            this.fields = fields;
        }

        /** Is the field present, even if it is empty? */
        boolean has(String name) {
            return fields.get(name) != null;
        }

        /** A field of type string. */
        String text(String name) {
            return of(String.class, name, fields.getOrDefault(name, ""));
        }

        /** A field of type uint32 or uint64; the Long is unsigned. */
        long number(String name) {
            Object value = fields.getOrDefault(name, "0");
            String digits = value instanceof Digits number ? number.text() : of(String.class, name, value);
            try {
                return Long.parseUnsignedLong(digits);
            } catch (NumberFormatException fault) {
                throw new Fault(name + " is no number from 0 to 2^64-1: " + digits);
            }
        }

        /** A field of type int32. */
        int integer(String name) {
            Object value = fields.getOrDefault(name, "0");
            String digits = value instanceof Digits number ? number.text() : of(String.class, name, value);
            try {
                return Integer.parseInt(digits);
            } catch (NumberFormatException fault) {
                throw new Fault(name + " is not a number from -2^31 to 2^31-1: " + digits);
            }
        }

        /** A field of type bytes. */
        byte[] bytes(String name) {
            try {
                return Base64.getDecoder().decode(text(name).replace('-', '+').replace('_', '/'));
            } catch (IllegalArgumentException fault) {
                throw new Fault(name + " is no base64: " + fault.getMessage());
            }
        }

        /** A field of repeated strings. */
        List<String> texts(String name) {
            return values(name).stream().map(value -> of(String.class, name, value)).toList();
        }

        /** A field that is repeated. */
        List<?> values(String name) {
            return of(List.class, name, fields.getOrDefault(name, List.of()));
        }

        /** A field that is a message. */
        @SuppressWarnings("unchecked")
        Fields message(String name) {
            return new Fields(of(Map.class, name, fields.getOrDefault(name, Map.of())));
        }

        private static <T> T of(Class<T> type, String name, Object value) {
            if (!type.isInstance(value)) {
                throw new Fault(name + " is of the wrong type");
            }
            return type.cast(value);
        }
    }

    /** Decodes UTF-8; throws if the bytes are invalid. */
    static String utf8(byte[] bytes) throws CharacterCodingException {
        return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    }

    /** Parses a text. */
    static Object parse(String text) {
        var reader = new Json(text);
        Object value = reader.value(0);
        if (reader.peek() != 0) {
            throw reader.fault();
        }
        return value;
    }

    /** Appends the text of a value. */
    static void write(Object value, StringBuilder out) {
        if (value instanceof Map<?, ?> fields) {
            String between = "{";
            for (var field : fields.entrySet()) {
                if (field.getValue() != null) {
                    out.append(between);
                    writeText((String) field.getKey(), out);
                    out.append(':');
                    write(field.getValue(), out);
                    between = ",";
                }
            }
            out.append(between.equals("{") ? "{}" : "}");
        } else if (value instanceof Iterable<?> values) {
            String between = "[";
            for (Object item : values) {
                out.append(between);
                write(item, out);
                between = ",";
            }
            out.append(between.equals("[") ? "[]" : "]");
        } else if (value instanceof byte[] bytes) {
            writeText(Base64.getEncoder().encodeToString(bytes), out);
        } else if (value instanceof Long number) {
            writeText(Long.toUnsignedString(number), out);
        } else if (value instanceof String text) {
            writeText(text, out);
        } else if (value instanceof Boolean || value instanceof Integer || value instanceof Double) {
            out.append(value);
        } else {
            throw new Fault("no value of ProtoJSON: " + value);
        }
    }

    private static void writeText(String text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ' || c == '"' || c == '\\') {
                out.append("\\u00").append(Character.forDigit(c >> 4, 16)).append(Character.forDigit(c & 15, 16));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    private Fault fault() {
        return new Fault("no JSON at character " + at);
    }

    /** The next character that is not a space, 0 at the end. */
    private char peek() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return at < text.length() ? text.charAt(at) : 0;
    }

    private boolean skip(char expected) {
        boolean there = peek() == expected;
        at += there ? 1 : 0;
        return there;
    }

    private Object value(int depth) {
        if (depth > DEPTH) {
            throw new Fault("nested too deep");
        }
        return switch (peek()) {
            case '{' -> object(depth);
            case '[' -> list(depth);
            case '"' -> string();
            case 'n' -> word("null", null);
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            default -> number();
        };
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw fault();
        }
        at += word.length();
        return value;
    }

    private Digits number() {
        int start = at;
        while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String digits = text.substring(start, at);
        if (!digits.matches("-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?")) {
            throw fault();
        }
        return new Digits(digits);
    }

    private Map<String, Object> object(int depth) {
        var fields = new LinkedHashMap<String, Object>();
        at++;
        for (boolean first = true; !skip('}'); first = false) {
            if (!first && !skip(',') || peek() != '"') {
                throw fault();
            }
            String name = string();
            if (!skip(':')) {
                throw fault();
            }
            Object value = value(depth + 1);
            if (value != null) {
                fields.put(name, value); // What is null counts as absent.
            }
        }
        return fields;
    }

    private List<Object> list(int depth) {
        var values = new ArrayList<Object>();
        at++;
        for (boolean first = true; !skip(']'); first = false) {
            if (!first && !skip(',')) {
                throw fault();
            }
            values.add(value(depth + 1));
        }
        return values;
    }

    private String string() {
        var out = new StringBuilder();
        for (at++; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c == '"') {
                at++;
                return whole(out);
            }
            if (c < ' ') {
                throw fault();
            }
            out.append(c == '\\' ? escape() : c);
        }
        throw fault();
    }

    /** Reads an escape whose backslash is at {@code at}, and moves {@code at} to its last character. */
    private char escape() {
        at++;
        char letter = at < text.length() ? text.charAt(at) : 0;
        int known = "\"\\/bfnrt".indexOf(letter);
        if (known >= 0) {
            return "\"\\/\b\f\n\r\t".charAt(known);
        }
        String digits = text.substring(Math.min(at + 1, text.length()), Math.min(at + 5, text.length()));
        if (letter != 'u' || !digits.matches("[0-9a-fA-F]{4}")) {
            throw fault();
        }
        at += 4;
        return (char) Integer.parseInt(digits, 16);
    }

    /** Replaces halves of surrogate pairs by U+FFFD. */
    private static String whole(StringBuilder text) {
        for (int i = 0; i < text.length(); i++) {
            boolean pair = i + 1 < text.length() && Character.isSurrogatePair(text.charAt(i), text.charAt(i + 1));
            if (pair) {
                i++;
            } else if (Character.isSurrogate(text.charAt(i))) {
                text.setCharAt(i, '\ufffd');
            }
        }
        return text.toString();
    }
}
