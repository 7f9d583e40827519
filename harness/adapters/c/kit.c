/* The loop and the commands. See kit.h. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"

/* ---- Refusals -------------------------------------------------------------------------------------------------- */

static jmp_buf refused;
static struct {
    const char *answer, *field, *text;
} refusal;
static char refusal_text[4096]; /* Its words, which no lack of memory can take away. */

static _Noreturn void refuse(const char *answer, const char *field) {
    refusal.answer = answer;
    refusal.field = field;
    longjmp(refused, 1);
}

KIT_NORETURN void kit_reject(const char *reason) {
    snprintf(refusal_text, sizeof refusal_text, "%s", reason);
    refuse("rejected", "reason");
}

KIT_NORETURN void kit_unsupported(const char *what) {
    snprintf(refusal_text, sizeof refusal_text, "%s", what);
    refuse("unsupported", "what");
}

KIT_NORETURN void kit_fail(const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(refusal_text, sizeof refusal_text, format, values);
    va_end(values);
    refuse("error", "message");
}

/* ---- The commands ---------------------------------------------------------------------------------------------- */

#define SIZES " bloomCapacity:FILTER_SIZES bloomErrorRate:FILTER_SIZES"
#define CONTENT "nowMs handle channelId content messageId:MESSAGE_ID"
#define MINE(function) offsetof(kit_implementation, function)

/* For each command: the name of its answer, its capability, and its fields. A field may have a suffix: a colon and the
   capability that the field needs. */
static const struct command {
    const char *name, *answer, *capability, *fields;
    size_t function;
} commands[] = {
    {"hello", "hello", "", NULL, MINE(hello)},
    {"open", "opened", "", "nowMs participantId channels configuration", MINE(open)},
    {"close", "effects", "", "nowMs handle", MINE(close)},
    {"send", "effects", "", CONTENT " retrievalHint:RETRIEVAL_HINTS", MINE(send)},
    {"sendEphemeral", "effects", "EPHEMERAL", CONTENT, MINE(send_ephemeral)},
    {"sendSync", "effects", "SYNC", "nowMs handle channelId", MINE(send_sync)},
    {"receive", "effects", "", "nowMs handle wire retrievalHint:RETRIEVAL_HINTS", MINE(receive)},
    {"tick", "effects", "", "nowMs handle", MINE(tick)},
    {"observe", "state", "OBSERVE", "nowMs handle channelId filterIds", MINE(observe)},
    {"buildFilter", "filter", "FILTER_CODEC", "messageIds" SIZES, MINE(build_filter)},
    {"queryFilter", "membership", "FILTER_CODEC", "bloomFilter messageIds" SIZES, MINE(query_filter)},
    {"encode", "encoded", "MESSAGE_CODEC", "message", MINE(encode)},
    {"decode", "decoded", "MESSAGE_CODEC", "wire", MINE(decode)},
    {"repairTimes", "repairOffsets", "REPAIR_TIMES",
     "nowMs participantId messageId senderId tMinMs tMaxMs numResponseGroups", MINE(repair_times)},
};

/* Ends the command unless a capability with this prefix is declared. */
static void need(const kit_implementation *mine, const char *capability, size_t size) {
    char *name = kit_alloc(size + sizeof "CAPABILITY_");
    memcpy(name, "CAPABILITY_", 11);
    memcpy(name + 11, capability, size);
    const char *const *declared = mine->capabilities;
    while (*declared != NULL && strncmp(*declared, name, size + 11) != 0) declared++;
    if (*declared == NULL && size > 0) kit_unsupported(name + 11);
}

/* Ends the command if it has an unknown field, or a field that needs an undeclared capability. */
static void check(const kit_implementation *mine, const struct command *command, const kit_json *given) {
    need(mine, command->capability, strlen(command->capability));
    for (const kit_json *field = given->first; field != NULL && command->fields != NULL; field = field->next) {
        const char *known = command->fields;
        size_t size = strcspn(known, " :");
        while (*known != 0 && !kit_same(field->name, (kit_text){known, size})) {
            known += strcspn(known, " ");
            known += *known == ' ';
            size = strcspn(known, " :");
        }
        if (*known == 0) {
            char *what = kit_alloc(field->name.size + sizeof "field ");
            memcpy(what, "field ", 6);
            memcpy(what + 6, field->name.at, field->name.size);
            kit_unsupported(what);
        }
        bool asked = strncmp(known, "messageId:", 10) != 0 || kit_get_text(given, "messageId").size > 0;
        known += size + (known[size] == ':');
        if (asked && field->kind != NOTHING) need(mine, known, strcspn(known, " "));
    }
    if (command->function == MINE(open)) {
        const kit_json *channel = kit_first(given, "channels");
        if (channel == NULL) need(mine, "UNNAMED_CHANNEL", 15);
        if (channel != NULL && channel->next != NULL) need(mine, "CHANNELS", 8);
    }
}

/* ---- The loop -------------------------------------------------------------------------------------------------- */

static void **participants; /* By handle - 1; NULL is one that was closed. */
static size_t opened;
static uint64_t id;

static void open_participant(const kit_implementation *mine, const kit_json *given) {
    void **more = realloc(participants, (opened + 1) * sizeof *more);
    if (more == NULL) kit_fail("out of memory");
    participants = more;
    kit_begin_object("configuration");
    void *who = mine->open(given);
    kit_end_object();
    if (who == NULL) kit_fail("open made no participant");
    participants[opened++] = who;
    kit_put_uint64("handle", opened);
}

static void hello(const kit_implementation *mine, const kit_json *given) {
    kit_put_uint32("protocolVersion", 1);
    kit_begin_list("capabilities");
    for (const char *const *declared = mine->capabilities; *declared != NULL; declared++)
        kit_put_text(NULL, kit_string(*declared));
    kit_end_list();
    mine->hello(NULL, given);
}

static void carry_out(const kit_implementation *mine, const struct command *command, const kit_json *given) {
    if (command->function == MINE(hello)) {
        hello(mine, given);
        return;
    }
    if (command->function == MINE(open)) {
        open_participant(mine, given);
        return;
    }
    kit_handler *handler;
    memcpy(&handler, (const char *)mine + command->function, sizeof handler);
    if (handler == NULL) kit_fail("its capability is declared, but there is no function for %s", command->name);
    void *who = NULL;
    if (strstr(command->fields, "handle") != NULL) {
        uint64_t handle = kit_get_number(given, "handle");
        who = handle > 0 && handle <= opened ? participants[handle - 1] : NULL;
        if (who == NULL) kit_fail("no participant has this handle");
        if (command->function == MINE(close)) participants[handle - 1] = NULL;
    }
    handler(who, given);
}

static void answer(const kit_implementation *mine, kit_text line) {
    const kit_json *request = json_parse(line), *asked = NULL;
    id = kit_get_number(request, "id");
    for (const kit_json *field = request->first; field != NULL; field = field->next) {
        if (kit_same(field->name, kit_string("id"))) continue;
        if (asked != NULL) kit_fail("more than one command in a request");
        asked = field;
    }
    if (asked == NULL) kit_unsupported("no command");
    const struct command *command = commands, *last = commands + sizeof commands / sizeof *commands;
    while (command < last && !kit_same(asked->name, kit_string(command->name))) command++;
    if (command == last) {
        char *what = kit_alloc(asked->name.size + 1);
        kit_unsupported(memcpy(what, asked->name.at, asked->name.size));
    }
    if (asked->kind != OBJECT) kit_fail("the fields of %s are not an object", command->name);
    check(mine, command, asked);
    kit_begin_object(NULL);
    kit_put_uint64("id", id);
    kit_begin_object(command->answer);
    carry_out(mine, command, asked);
    kit_end_object();
    kit_end_object();
}

static void tell_refusal(void) {
    fprintf(stderr, "%s: %s\n", refusal.answer, refusal_text);
    json_free();
    kit_begin_object(NULL);
    kit_put_uint64("id", id);
    kit_begin_object(refusal.answer);
    kit_put_text(refusal.field, kit_string(refusal_text));
    kit_end_object();
    kit_end_object();
}

static bool write_all(int to, kit_text text) {
    while (text.size > 0) {
        ssize_t written = write(to, text.at, text.size);
        if (written <= 0) return false;
        text.at += written;
        text.size -= (size_t)written;
    }
    return true;
}

int kit_serve(const kit_implementation *mine) {
    const char *framing = getenv("SDS_TESTEE_FRAMING");
    if (framing != NULL && strcmp(framing, "json") != 0) {
        fprintf(stderr, "this adapter speaks JSON lines only\n");
        return 1;
    }
    /* Output that is printed by mistake must not mix with the replies: from here on it goes to stderr. */
    int replies = dup(1);
    if (replies < 0 || dup2(2, 1) < 0) return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    static char *line; /* Static, as what changes after setjmp has to be. */
    static size_t room;
    ssize_t size;
    while ((size = getline(&line, &room, stdin)) > 0) {
        json_free();
        id = 0;
        if (setjmp(refused) == 0)
            answer(mine, (kit_text){line, (size_t)size});
        else if (setjmp(refused) == 0)
            tell_refusal();
        else
            return 1; /* There is no memory even for that. */
        if (!write_all(replies, json_written()) || !write_all(replies, kit_string("\n"))) break;
    }
    return 0;
}
