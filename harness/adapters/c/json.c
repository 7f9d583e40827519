/* Values of ProtoJSON, read and written. Part of the kit: do not change it. See kit.h. */
#include "json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 64 }; /* Requests have five levels. */

/* ---- Memory: all of it is freed when the command is answered --------------------------------------------------- */

typedef struct block {
    struct block *before;
    max_align_t memory[];
} block;

static block *blocks;

/* The bytes of the reply that were written so far. */
static struct {
    char *at;
    size_t size, room;
    bool first; /* Is the next value the first one in its list or object? */
} reply;

void *kit_alloc(size_t size) {
    block *made = size < SIZE_MAX - sizeof *made ? calloc(1, sizeof *made + size) : NULL;
    if (made == NULL) kit_fail("out of memory: %zu bytes", size);
    made->before = blocks;
    blocks = made;
    return made->memory;
}

void json_free(void) {
    while (blocks != NULL) {
        block *last = blocks;
        blocks = last->before;
        free(last);
    }
    reply.at = NULL;
    reply.size = reply.room = 0;
    reply.first = true;
}

kit_text kit_string(const char *text) { return (kit_text){text, strlen(text)}; }

bool kit_same(kit_text one, kit_text other) {
    return one.size == other.size && (one.size == 0 || memcmp(one.at, other.at, one.size) == 0);
}

/* The length in bytes of the UTF-8 character that begins at `at`, or 0 if the bytes there are not valid UTF-8. */
static size_t utf8_length(const unsigned char *at, size_t left) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = at[0] < 0x80 ? 1 : at[0] >> 5 == 6 ? 2 : at[0] >> 4 == 14 ? 3 : at[0] >> 3 == 30 ? 4 : 0;
    if (length < 2 || length > left) return length == 1;
    uint32_t point = at[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (at[i] >> 6 != 2) return 0;
        point = point << 6 | (at[i] & 0x3f);
    }
    return point < least[length] || point > 0x10ffff || point >> 11 == 0xd800 >> 11 ? 0 : length;
}

bool kit_is_utf8(kit_text text) {
    for (size_t i = 0, length; i < text.size; i += length) {
        length = utf8_length((const unsigned char *)text.at + i, text.size - i);
        if (length == 0) return false;
    }
    return true;
}

/* ---- Reading JSON ---------------------------------------------------------------------------------------------- */

static const char *at, *end; /* What is left of the line. */

static void skip_spaces(void) {
    while (at < end && *at != 0 && strchr(" \t\r\n", *at) != NULL) at++;
}

static bool skip(char expected) {
    skip_spaces();
    if (at == end || *at != expected) return false;
    at++;
    return true;
}

static _Noreturn void no_json(void) {
    kit_fail("not a request: no JSON, %zu bytes before its end", (size_t)(end - at));
}

static unsigned read_unit(void) {
    unsigned unit = 0;
    for (int i = 0; i < 4; i++, at++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *digit = at < end && *at != 0 ? strchr(digits, *at) : NULL;
        if (digit == NULL) no_json();
        unit = unit << 4 | ((unsigned)(digit - digits) & 15);
    }
    return unit;
}

/* Writes the character after \u, as UTF-8. Half of a surrogate pair becomes U+FFFD. */
static char *read_point(char *to) {
    uint32_t point = read_unit();
    if (point >> 10 == 0xd800 >> 10 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
        const char *before = at;
        at += 2;
        uint32_t low = read_unit();
        if (low >> 10 == 0xdc00 >> 10)
            point = 0x10000 + ((point & 0x3ff) << 10) + (low & 0x3ff);
        else
            at = before;
    }
    if (point >> 11 == 0xd800 >> 11) point = 0xfffd;
    int more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    *to++ = (char)(more == 0 ? point : (0xf0u << (3 - more) & 0xf0) | point >> (6 * more));
    while (more-- > 0) *to++ = (char)(0x80 | (point >> (6 * more) & 0x3f));
    return to;
}

/* Reads the rest of a string, after its first quotation mark. */
static kit_text read_text(void) {
    const char *close = at;
    while (close < end && *close != '"') close += *close == '\\' && close + 1 < end ? 2 : 1;
    char *text = kit_alloc((size_t)(close - at) + 1), *to = text; /* An escape is longer than what it stands for. */
    while (at < end && *at != '"') {
        unsigned char next = (unsigned char)*at++;
        if (next < ' ' || (next == '\\' && at == end)) no_json();
        if (next != '\\') {
            *to++ = (char)next;
        } else if (*at == 'u') {
            at++;
            to = read_point(to);
        } else {
            const char *escapes = "\"\\/bfnrt", *known = *at == 0 ? NULL : strchr(escapes, *at);
            if (known == NULL) no_json();
            *to++ = "\"\\/\b\f\n\r\t"[known - escapes];
            at++;
        }
    }
    if (!skip('"')) no_json();
    return (kit_text){text, (size_t)(to - text)};
}

static bool read_word(const char *word) {
    size_t size = strlen(word);
    if ((size_t)(end - at) < size || memcmp(at, word, size) != 0) return false;
    at += size;
    return true;
}

static kit_json *read_value(int depth) {
    kit_json *value = kit_alloc(sizeof *value), **next = &value->first;
    if (depth > DEPTH) kit_fail("not a request: nested too deep");
    if (skip('{')) {
        value->kind = OBJECT;
        while (!skip('}')) {
            if ((value->first != NULL && !skip(',')) || !skip('"')) no_json();
            kit_text name = read_text();
            if (!skip(':')) no_json();
            *next = read_value(depth + 1);
            (*next)->name = name;
            next = &(*next)->next;
        }
    } else if (skip('[')) {
        value->kind = LIST;
        while (!skip(']')) {
            if (value->first != NULL && !skip(',')) no_json();
            *next = read_value(depth + 1);
            next = &(*next)->next;
        }
    } else if (skip('"')) {
        value->kind = TEXT;
        value->text = read_text();
    } else if (read_word("true") || read_word("false")) {
        value->kind = BOOLEAN;
    } else if (!read_word("null")) {
        value->kind = NUMBER;
        value->text.at = at;
        while (at < end && *at != 0 && strchr("+-.0123456789eE", *at) != NULL) at++;
        value->text.size = (size_t)(at - value->text.at);
        if (value->text.size == 0) no_json();
    }
    return value;
}

const kit_json *json_parse(kit_text line) {
    if (!kit_is_utf8(line)) kit_fail("not a request: no UTF-8");
    at = line.at;
    end = line.at + line.size;
    const kit_json *value = read_value(0);
    skip_spaces();
    if (at < end) no_json();
    return value;
}

const kit_json *kit_get(const kit_json *given, const char *name) {
    const kit_json *found = NULL; /* The last one counts. */
    if (given->kind != OBJECT) kit_fail("the value with field %s is not an object", name);
    for (const kit_json *field = given->first; field != NULL; field = field->next)
        if (kit_same(field->name, kit_string(name))) found = field;
    return found != NULL && found->kind != NOTHING ? found : NULL;
}

kit_text kit_as_text(const kit_json *item) {
    if (item->kind != TEXT) kit_fail("a text is expected");
    return item->text;
}

kit_text kit_get_text(const kit_json *given, const char *name) {
    const kit_json *field = kit_get(given, name);
    if (field != NULL && field->kind != TEXT) kit_fail("%s is no text", name);
    return field != NULL ? field->text : (kit_text){"", 0};
}

uint64_t kit_get_number(const kit_json *given, const char *name) {
    const kit_json *field = kit_get(given, name);
    if (field == NULL) return 0;
    uint64_t number = 0;
    bool right = (field->kind == TEXT || field->kind == NUMBER) && field->text.size > 0;
    for (size_t i = 0; right && i < field->text.size; i++) {
        unsigned digit = (unsigned)field->text.at[i] - '0';
        right = digit < 10 && number <= (UINT64_MAX - digit) / 10;
        number = number * 10 + digit;
    }
    if (!right) kit_fail("%s is no number from 0 to 2^64-1", name);
    return number;
}

int32_t kit_get_integer(const kit_json *given, const char *name) {
    const kit_json *field = kit_get(given, name);
    if (field == NULL) return 0;
    bool right = field->kind == TEXT || field->kind == NUMBER;
    size_t sign = right && field->text.size > 0 && field->text.at[0] == '-';
    int64_t number = 0;
    right = right && field->text.size > sign;
    for (size_t i = sign; right && i < field->text.size; i++) {
        unsigned digit = (unsigned)field->text.at[i] - '0';
        number = number * 10 + digit;
        right = digit < 10 && number <= INT32_MAX + (int64_t)sign;
    }
    if (!right) kit_fail("%s is not a number from -2^31 to 2^31-1", name);
    return (int32_t)(sign ? -number : number);
}

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_";

kit_text kit_get_bytes(const kit_json *given, const char *name) {
    kit_text text = kit_get_text(given, name);
    char *bytes = kit_alloc(text.size / 4 * 3 + 3), *to = bytes;
    uint32_t bits = 0;
    while (text.size > 0 && text.at[text.size - 1] == '=') text.size--;
    for (size_t i = 0; i < text.size; i++) {
        const char *letter = text.at[i] != 0 ? strchr(base64, text.at[i]) : NULL;
        if (letter == NULL) kit_fail("%s is no base64", name);
        size_t value = (size_t)(letter - base64);
        bits = bits << 6 | (uint32_t)(value < 64 ? value : value - 2); /* -_ are the last two in the other alphabet. */
        if (i % 4 != 0) *to++ = (char)(bits >> (6 - 2 * (i % 4)));
    }
    if (text.size % 4 == 1) kit_fail("%s is no base64", name);
    return (kit_text){bytes, (size_t)(to - bytes)};
}

const kit_json *kit_first(const kit_json *given, const char *name) {
    const kit_json *field = kit_get(given, name);
    if (field != NULL && field->kind != LIST) kit_fail("%s is no list", name);
    return field != NULL ? field->first : NULL;
}

const kit_json *kit_next(const kit_json *item) { return item->next; }

/* ---- Writing JSON ---------------------------------------------------------------------------------------------- */

static void add(const char *text, size_t size) {
    if (reply.room - reply.size < size) {
        size_t room = 2 * (reply.size + size) + 1024;
        char *more = kit_alloc(room);
        if (reply.size > 0) memcpy(more, reply.at, reply.size);
        reply.at = more;
        reply.room = room;
    }
    if (size > 0) memcpy(reply.at + reply.size, text, size);
    reply.size += size;
}

static void add_text(kit_text text) {
    add("\"", 1);
    for (size_t i = 0, length; i < text.size; i += length) {
        const char *next = text.at + i;
        length = utf8_length((const unsigned char *)next, text.size - i);
        char escape[8];
        if (length == 0) {
            length = 1;
            add("?", 1); /* Only text in UTF-8 can be told. */
        } else if (length == 1 && ((unsigned char)*next < ' ' || *next == '"' || *next == '\\')) {
            add(escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*next));
        } else {
            add(next, length);
        }
    }
    add("\"", 1);
}

static void begin(const char *name) {
    if (!reply.first) add(",", 1);
    reply.first = false;
    if (name != NULL) {
        add_text(kit_string(name));
        add(":", 1);
    }
}

void kit_put_text(const char *name, kit_text text) {
    begin(name);
    add_text(text);
}

void kit_put_bytes(const char *name, kit_text bytes) {
    begin(name);
    add("\"", 1);
    for (size_t i = 0; i < bytes.size; i += 3) {
        size_t there = bytes.size - i < 3 ? bytes.size - i : 3;
        uint32_t bits = 0;
        char four[4] = {'=', '=', '=', '='};
        for (size_t j = 0; j < 3; j++) bits = bits << 8 | (j < there ? (unsigned char)bytes.at[i + j] : 0);
        for (size_t j = 0; j <= there; j++) four[j] = base64[bits >> (18 - 6 * j) & 63];
        add(four, 4);
    }
    add("\"", 1);
}

static void put(const char *name, const char *format, ...) {
    char text[64];
    va_list values;
    va_start(values, format);
    int size = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    begin(name);
    add(text, (size_t)size);
}

void kit_put_uint64(const char *name, uint64_t number) { put(name, "\"%llu\"", (unsigned long long)number); }
void kit_put_uint32(const char *name, uint32_t number) { put(name, "%lu", (unsigned long)number); }
void kit_put_double(const char *name, double number) { put(name, "%.17g", number); }
void kit_put_bool(const char *name, bool value) { put(name, value ? "true" : "false"); }

void kit_begin_object(const char *name) {
    begin(name);
    add("{", 1);
    reply.first = true;
}

void kit_begin_list(const char *name) {
    begin(name);
    add("[", 1);
    reply.first = true;
}

void kit_end_object(void) {
    add("}", 1);
    reply.first = false;
}

void kit_end_list(void) {
    add("]", 1);
    reply.first = false;
}

kit_text json_written(void) { return (kit_text){reply.at, reply.size}; }
