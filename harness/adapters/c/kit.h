/* The kit: the testee protocol on stdin and stdout, one JSON object per line. Do not change this file, kit.c or json.c;
   they need only C11 and POSIX. Fill in adapter.c.
 *
 * Values from the kit and memory from kit_alloc are valid until the command is answered: copy what you keep. */
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

/* Text in UTF-8, or plain bytes. It can contain any byte, so it does not end with a 0. */
typedef struct {
    const char *at;
    size_t size;
} kit_text;

/* A value of a request. */
typedef struct kit_json kit_json;

/* A command. `given` has its fields; `who` is the result of `open`, NULL for commands without a participant. The
   function puts the fields of the answer. */
typedef void kit_handler(void *who, const kit_json *given);

/* Your functions. Set missing functions to NULL. */
typedef struct {
    /* HelloReply without its capabilities: the name and version of the implementation. */
    kit_handler *hello;
    /* The capabilities, for example "CAPABILITY_SYNC", with NULL at the end. Commands that need other capabilities are
       answered `unsupported`. */
    const char *const *capabilities;
    /* Returns a new participant, never NULL, and puts the effective configuration. */
    void *(*open)(const kit_json *given);
    /* Each of these functions puts the fields of an Effects message. */
    kit_handler *close, *send, *receive, *tick, *send_sync, *send_ephemeral;
    /* The first function puts the fields of State, the next ones those of Filter, Membership, Encoded, Decoded and
       RepairOffsets. */
    kit_handler *observe, *build_filter, *query_filter, *encode, *decode, *repair_times;
} kit_implementation;

/* Answers every line of stdin until it ends; returns the exit code. */
int kit_serve(const kit_implementation *mine);

/* ---- Reading: an absent value is empty or 0, a value of another type ends the command with `error` ---- */

const kit_json *kit_get(const kit_json *given, const char *name); /* NULL if the field is absent. */
kit_text kit_get_text(const kit_json *given, const char *name);
kit_text kit_get_bytes(const kit_json *given, const char *name);
uint64_t kit_get_number(const kit_json *given, const char *name);
int32_t kit_get_integer(const kit_json *given, const char *name); /* May be negative. */
/* Return the first value of a list, and the value after an item; NULL at the end. */
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

/* ---- Refusing: these end the command at once, by longjmp, and drop all fields that were put ---- */

/* For input that your implementation rejects without a change of its state. */
KIT_NORETURN void kit_reject(const char *reason);
/* For commands and fields that your implementation does not support. */
KIT_NORETURN void kit_unsupported(const char *what);
/* Any other failure: `error`. */
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
