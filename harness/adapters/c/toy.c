/* See toy.h. */
#include "toy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILTER_BITS = 1024, FILTER_HASHES = 7 };
enum { VARINT = 0, FIXED64 = 1, SIZED = 2, FIXED32 = 5 }; /* Wire types of protobuf. */

/* ---- The wire: protobuf by hand -------------------------------------------------------------------------------- */

/* Appends a varint to a buffer in which the caller has reserved enough bytes. */
static void add_varint(kit_text *wire, uint64_t number) {
    char *to = (char *)wire->at;
    for (; number > 0x7f; number >>= 7) to[wire->size++] = (char)(number | 0x80);
    to[wire->size++] = (char)number;
}

/* Adds a field with a length prefix: at most 20 bytes more than its value. */
static void add_sized(kit_text *wire, uint64_t number, kit_text value) {
    add_varint(wire, number << 3 | SIZED);
    add_varint(wire, value.size);
    if (value.size > 0) memcpy((char *)wire->at + wire->size, value.at, value.size);
    wire->size += value.size;
}

static kit_text encode(const toy_message *m) {
    size_t room = 200 + m->sender.size + m->id.size + m->channel.size + m->bloom.size + m->content.size;
    for (size_t i = 0; i < m->histories; i++) room += 40 + m->history[i].size;
    kit_text wire = {kit_alloc(room), 0};
    add_sized(&wire, 1, m->sender);
    add_sized(&wire, 2, m->id);
    add_sized(&wire, 3, m->channel);
    add_varint(&wire, 10 << 3 | VARINT);
    add_varint(&wire, m->lamport);
    for (size_t i = 0; i < m->histories; i++) {
        kit_text entry = {kit_alloc(20 + m->history[i].size), 0};
        add_sized(&entry, 1, m->history[i]);
        add_sized(&wire, 11, entry);
    }
    add_sized(&wire, 12, m->bloom);
    add_sized(&wire, 20, m->content);
    return wire;
}

/* Removes a number from the beginning of `wire`. */
static bool take_varint(kit_text *wire, uint64_t *number) {
    *number = 0;
    for (size_t i = 0; i < 10 && i < wire->size; i++) {
        unsigned char next = (unsigned char)wire->at[i];
        *number |= (uint64_t)(next & 0x7f) << (7 * i);
        if (next < 0x80) {
            wire->at += i + 1;
            wire->size -= i + 1;
            return true;
        }
    }
    return false;
}

/* Removes a field from the beginning of `wire`: its key (number << 3 | wire type), and its number or its bytes. */
static bool take_field(kit_text *wire, uint64_t *key, uint64_t *number, kit_text *value) {
    *number = 0;
    if (!take_varint(wire, key) || *key >> 3 == 0) return false;
    unsigned kind = *key & 7;
    if ((kind == VARINT || kind == SIZED) && !take_varint(wire, number)) return false;
    if (kind != VARINT && kind != FIXED64 && kind != SIZED && kind != FIXED32) return false;
    uint64_t size = kind == VARINT ? 0 : kind == FIXED64 ? 8 : kind == FIXED32 ? 4 : *number;
    if (size > wire->size) return false;
    *value = (kit_text){wire->at, (size_t)size};
    wire->at += size;
    wire->size -= (size_t)size;
    return true;
}

/* The message in these bytes. Unknown fields are skipped, including those of SDS-R. */
const char *toy_decode(kit_text wire, toy_message *m) {
    uint64_t key, number;
    kit_text value;
    memset(m, 0, sizeof *m);
    m->history = kit_alloc((wire.size / 2 + 1) * sizeof *m->history); /* No entry has less than two bytes. */
    while (wire.size > 0) {
        if (!take_field(&wire, &key, &number, &value)) return "these bytes are not a message";
        kit_text *text = NULL, entry = {"", 0};
        if (key == (1 << 3 | SIZED)) text = &m->sender;
        if (key == (2 << 3 | SIZED)) text = &m->id;
        if (key == (3 << 3 | SIZED)) text = &m->channel;
        if (text != NULL) *text = value;
        if (text != NULL && !kit_is_utf8(value)) return "text that is not UTF-8";
        if (key == (10 << 3 | VARINT)) m->stamped = true, m->lamport = number;
        if (key == (20 << 3 | SIZED)) m->content = value;
        if (key != (11 << 3 | SIZED)) continue;
        for (kit_text inner = value; inner.size > 0;) {
            if (!take_field(&inner, &key, &number, &value)) return "these bytes are not a message";
            if (key == (1 << 3 | SIZED)) entry = value;
            if (!kit_is_utf8(entry)) return "text that is not UTF-8";
        }
        m->history[m->histories++] = entry;
    }
    return NULL;
}

/* ---- The protocol ---------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t lamport;
    kit_text id;
} logged;

struct toy {
    kit_text participant, channel;
    uint64_t clock;                    /* The Lamport timestamp. */
    logged *log;                       /* By timestamp, equal timestamps by the bytes of IDs. */
    toy_message *waiting;              /* Received, with dependencies that are not in the log, in order of arrival. */
    size_t log_size, waiting_size, received_size;
    kit_text received[TOY_FILTER_IDS]; /* What the filter holds: the newest IDs, so that it never fills. */
    struct piece *pieces;              /* All that is kept, until toy_free. */
};

struct piece {
    struct piece *before;
    max_align_t memory[];
};

/* Allocates memory, or ends the process: that is enough for a toy. */
static void *more(void *before, size_t size) {
    void *memory = realloc(before, size);
    if (memory == NULL) abort();
    return memory;
}

static void *piece(toy *t, size_t size) {
    struct piece *made = more(NULL, sizeof *made + size);
    made->before = t->pieces;
    t->pieces = made;
    return made->memory;
}

static kit_text copy(toy *t, kit_text text) {
    char *memory = piece(t, text.size);
    if (text.size > 0) memcpy(memory, text.at, text.size);
    return (kit_text){memory, text.size};
}

toy *toy_new(kit_text participant, kit_text channel, uint64_t now_ms) {
    toy *t = more(NULL, sizeof *t);
    memset(t, 0, sizeof *t);
    t->participant = copy(t, participant);
    t->channel = copy(t, channel);
    t->clock = now_ms;
    return t;
}

void toy_free(toy *t) {
    while (t->pieces != NULL) {
        struct piece *last = t->pieces;
        t->pieces = last->before;
        free(last);
    }
    free(t->log);
    free(t->waiting);
    free(t);
}

kit_text toy_channel(const toy *t) { return t->channel; }

/* FNV-1a with 64 bits, which is good enough for a toy. */
static uint64_t hash(kit_text data) {
    uint64_t out = 0xcbf29ce484222325u;
    for (size_t i = 0; i < data.size; i++) out = (out ^ (unsigned char)data.at[i]) * 0x100000001b3u;
    return out;
}

/* A filter over the newest IDs that were received. */
static kit_text bloom(const toy *t) {
    unsigned char *bits = kit_alloc(FILTER_BITS / 8);
    for (size_t i = 0; i < t->received_size; i++) {
        uint64_t mixed = hash(t->received[i]);
        for (uint64_t n = 0; n < FILTER_HASHES; n++) {
            uint64_t place = ((mixed >> 32) + n * (mixed & 0xffffffffu)) % FILTER_BITS;
            bits[place / 8] |= (unsigned char)(1u << place % 8);
        }
    }
    return (kit_text){(char *)bits, FILTER_BITS / 8};
}

static int compare(kit_text one, kit_text other) {
    size_t both = one.size < other.size ? one.size : other.size;
    int difference = both > 0 ? memcmp(one.at, other.at, both) : 0;
    return difference != 0 ? difference : (one.size > other.size) - (one.size < other.size);
}

/* Puts an ID into the log, and updates the clock. The ID must stay valid until the toy is freed. */
static void keep(toy *t, uint64_t lamport, kit_text id) {
    size_t place = t->log_size++;
    t->log = more(t->log, t->log_size * sizeof *t->log);
    for (; place > 0; place--) {
        logged before = t->log[place - 1];
        if (before.lamport < lamport || (before.lamport == lamport && compare(before.id, id) <= 0)) break;
        t->log[place] = before;
    }
    t->log[place] = (logged){lamport, id};
    if (lamport > t->clock) t->clock = lamport;
}

static bool is_logged(const toy *t, kit_text id) {
    for (size_t i = t->log_size; i > 0; i--)
        if (kit_same(t->log[i - 1].id, id)) return true;
    return false;
}

const char *toy_send(toy *t, kit_text content, uint64_t now_ms, kit_text *id, kit_text *wire) {
    if (content.size == 0) return "there is no content";
    if (t->clock == UINT64_MAX) return "the Lamport timestamp has reached its maximum";
    uint64_t lamport = now_ms > t->clock + 1 ? now_ms : t->clock + 1;
    /* The timestamp distinguishes messages of one sender in one channel; the hash distinguishes senders and channels.
       */
    kit_text who = {kit_alloc(60 + t->participant.size + t->channel.size + content.size), 0};
    add_sized(&who, 1, t->participant);
    add_sized(&who, 3, t->channel);
    add_sized(&who, 20, content);
    char name[40];
    snprintf(name, sizeof name, "%" PRIx64 "-%016" PRIx64, lamport, hash(who));
    *id = copy(t, kit_string(name));
    kit_text history[TOY_HISTORY];
    toy_message m = {t->participant, *id, t->channel, true, lamport, history, 0, bloom(t), content};
    for (size_t i = TOY_HISTORY; i > 0; i--)
        if (t->log_size >= i) history[m.histories++] = t->log[t->log_size - i].id;
    keep(t, lamport, *id);
    *wire = encode(&m);
    return NULL;
}

static bool is_ready(const toy *t, const toy_message *m) {
    for (size_t i = 0; i < m->histories; i++)
        if (!is_logged(t, m->history[i])) return false;
    return true;
}

const char *toy_receive(toy *t, const toy_message *m, void (*deliver)(const toy_message *)) {
    if (kit_same(m->sender, t->participant) || m->content.size == 0)
        return NULL; /* One's own; or a sync message, which speaks of acknowledgements and repairs alone. */
    if (!m->stamped) {
        deliver(m);
        return NULL;
    }
    if (m->id.size == 0) return "a message without an ID";
    bool known = is_logged(t, m->id);
    for (size_t i = 0; i < t->waiting_size; i++) known = known || kit_same(t->waiting[i].id, m->id);
    if (known) return NULL;
    toy_message kept = *m;
    kept.sender = copy(t, m->sender);
    kept.id = copy(t, m->id);
    kept.channel = t->channel;
    kept.content = copy(t, m->content);
    kept.history = piece(t, m->histories * sizeof *kept.history);
    for (size_t i = 0; i < m->histories; i++) kept.history[i] = copy(t, m->history[i]);
    if (t->received_size == TOY_FILTER_IDS)
        memmove(t->received, t->received + 1, --t->received_size * sizeof *t->received);
    t->received[t->received_size++] = kept.id;
    t->waiting = more(t->waiting, (t->waiting_size + 1) * sizeof *t->waiting);
    t->waiting[t->waiting_size++] = kept;
    for (size_t i = 0; i < t->waiting_size;) {
        if (!is_ready(t, &t->waiting[i])) {
            i++;
            continue;
        }
        kept = t->waiting[i];
        memmove(t->waiting + i, t->waiting + i + 1, (--t->waiting_size - i) * sizeof *t->waiting);
        keep(t, kept.lamport, kept.id);
        deliver(&kept);
        i = 0; /* An earlier one may have waited for it. */
    }
    return NULL;
}
