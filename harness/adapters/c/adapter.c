/* Your adapter: passes each command to the implementation, and returns the result. As delivered, the implementation is
   a toy. */
#include <stdlib.h>

#include "kit.h"
#include "toy.h"

/* A participant. */
typedef struct {
    toy **channels;
    size_t size;
} participant;

/* The channel with this name, NULL if the participant has not joined the channel. */
static toy *channel_of(const participant *who, kit_text name) {
    for (size_t i = 0; i < who->size; i++)
        if (kit_same(toy_channel(who->channels[i]), name)) return who->channels[i];
    return NULL;
}

static void on_hello(void *none, const kit_json *given) {
    (void)none, (void)given;
    kit_put_text("name", kit_string("toy-sds"));
    kit_put_text("version", kit_string("0.1.0"));
    kit_put_text("language", kit_string("C"));
    kit_begin_list("revisions");
    kit_put_text(NULL, kit_string("sds-2026-01"));
    kit_end_list();
}

/* Declare only what works: tests of undeclared capabilities are skipped, and do not fail. */
static const char *const capabilities[] = {
    "CAPABILITY_VIRTUAL_CLOCK",
    "CAPABILITY_CHANNELS",
    "CAPABILITY_DELIVERED",
    NULL,
};

static void *on_open(const kit_json *given) {
    kit_text name = kit_get_text(given, "participantId");
    uint64_t now_ms = kit_get_number(given, "nowMs");
    size_t size = 0;
    for (const kit_json *item = kit_first(given, "channels"); item != NULL; item = kit_next(item), size++)
        kit_as_text(item); /* An item that is not text ends the command before anything is allocated. */
    participant *who = malloc(sizeof *who);
    toy **channels = malloc((size + 1) * sizeof *channels);
    if (who == NULL || channels == NULL) kit_fail("out of memory");
    *who = (participant){channels, 0};
    for (const kit_json *item = kit_first(given, "channels"); item != NULL; item = kit_next(item))
        who->channels[who->size++] = toy_new(name, kit_as_text(item), now_ms);
    /* The toy has nothing to configure. Still report the configuration in force. */
    kit_put_uint32("causalHistorySize", TOY_HISTORY);
    kit_put_uint32("bloomCapacity", TOY_FILTER_IDS);
    kit_put_double("bloomErrorRate", 0.01);
    kit_put_bool("sdsR", false);
    return who;
}

static void on_close(void *who_, const kit_json *given) {
    (void)given;
    participant *who = who_;
    while (who->size > 0) toy_free(who->channels[--who->size]);
    free(who->channels);
    free(who);
}

static void on_send(void *who, const kit_json *given) {
    toy *channel = channel_of(who, kit_get_text(given, "channelId"));
    if (channel == NULL) kit_reject("not a member of this channel");
    kit_text content = kit_get_bytes(given, "content"), id, wire;
    const char *refusal = toy_send(channel, content, kit_get_number(given, "nowMs"), &id, &wire);
    if (refusal != NULL) kit_reject(refusal);
    kit_begin_list("broadcasts");
    kit_put_bytes(NULL, wire);
    kit_end_list();
    kit_put_text("messageId", id);
}

static void delivered(const toy_message *message) {
    kit_begin_object(NULL);
    kit_put_text("channelId", message->channel);
    kit_begin_object("delivered");
    kit_put_text("messageId", message->id);
    kit_put_bytes("content", message->content);
    kit_end_object();
    kit_end_object();
}

static void on_receive(void *who, const kit_json *given) {
    toy_message message;
    const char *refusal = toy_decode(kit_get_bytes(given, "wire"), &message);
    toy *channel = refusal == NULL ? channel_of(who, message.channel) : NULL;
    kit_begin_list("events");
    if (channel != NULL) refusal = toy_receive(channel, &message, delivered);
    if (refusal != NULL) kit_reject(refusal);
    kit_end_list(); /* Messages of other channels are ignored. */
}

static void on_tick(void *who, const kit_json *given) { (void)who, (void)given; } /* The toy has no periodic work. */

int main(void) {
    static const kit_implementation mine = {
        .hello = on_hello,
        .capabilities = capabilities,
        .open = on_open,
        .close = on_close,
        .send = on_send,
        .receive = on_receive,
        .tick = on_tick,
    };
    return kit_serve(&mine);
}
