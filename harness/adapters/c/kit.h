/* The kit: the testee protocol on stdin and stdout, one JSON object a line. Nothing here and in kit.c and json.c needs a
 * change, and they want C11 and POSIX and nothing else. What to fill in stands in adapter.c.
 *
 * What the kit gives, and what kit_alloc gives, lives until the command is answered: copy what you keep. */
#ifndef KIT_H
#define KIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define KIT_NORETURN [[noreturn]]
extern "C" {
#else
#define KIT_NORETURN _Noreturn
#endif

/* Text in UTF-8 or plain bytes. Any byte can be in it, so there is no 0 at its end. */
typedef struct {
    const char *at;
    size_t size;
} kit_text;

/* A value of a request. */
typedef struct kit_json kit_json;

/* A command. `given` has its fields; `who` is what `open` made, NULL for commands without a participant. What it puts
 * are the fields of the answer. */
typedef void kit_handler(void *who, const kit_json *given);

/* Yours. NULL is what you do not have. */
typedef struct {
    /* HelloReply without its capabilities: what is tested. */
    kit_handler *hello;
    /* What works, for example "CAPABILITY_SYNC", with NULL at the end. What is not here is answered `unsupported`. */
    const char *const *capabilities;
    /* Makes a participant, which is not NULL, and puts the configuration that is in force. */
    void *(*open)(const kit_json *given);
    /* These answer effects. */
    kit_handler *close, *send, *receive, *tick, *send_sync, *send_ephemeral;
    /* State, Filter, Membership, Encoded, Decoded, RepairOffsets. */
    kit_handler *observe, *build_filter, *query_filter, *encode, *decode, *repair_times;
} kit_implementation;

/* Answers every line of stdin until it ends; returns the exit code. */
int kit_serve(const kit_implementation *mine);

/* ---- Reading: what is absent is empty or 0, what is of another type ends the command with `error` ---- */

const kit_json *kit_get(const kit_json *given, const char *name); /* NULL where it is absent. */
kit_text kit_get_text(const kit_json *given, const char *name);
kit_text kit_get_bytes(const kit_json *given, const char *name);
uint64_t kit_get_number(const kit_json *given, const char *name);
int32_t kit_get_integer(const kit_json *given, const char *name); /* May be negative. */
/* The first value of a list, and those that follow, until NULL. */
const kit_json *kit_first(const kit_json *given, const char *name);
const kit_json *kit_next(const kit_json *item);
kit_text kit_as_text(const kit_json *item);

/* ---- Answering: `name` is NULL within a list ---- */

void kit_put_text(const char *name, kit_text text);
void kit_put_bytes(const char *name, kit_text bytes);    /* As base64. */
void kit_put_uint64(const char *name, uint64_t number);  /* As the string that ProtoJSON wants. */
void kit_put_uint32(const char *name, uint32_t number);
void kit_put_double(const char *name, double number);
void kit_put_bool(const char *name, bool value);
void kit_begin_object(const char *name);
void kit_end_object(void);
void kit_begin_list(const char *name);
void kit_end_list(void);

/* ---- Refusing: these end the command at once, by longjmp, and nothing that was put is told ---- */

/* Input that your implementation refuses, and that has changed nothing. */
KIT_NORETURN void kit_reject(const char *reason);
/* What your implementation does not have. */
KIT_NORETURN void kit_unsupported(const char *what);
/* Anything else that goes wrong: `error`. */
KIT_NORETURN void kit_fail(const char *format, ...);

/* ---- Helpers ---- */

void *kit_alloc(size_t size); /* Set to 0. */
kit_text kit_string(const char *text);
bool kit_same(kit_text one, kit_text other);
bool kit_is_utf8(kit_text text);

#ifdef __cplusplus
}
#endif

#endif
