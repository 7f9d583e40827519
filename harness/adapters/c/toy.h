/* A toy SDS with little more than the mandatory parts of the specification. Replace it with your implementation.
 *
 * A participant sends, receives, delivers in causal order and keeps a log. It never sends anything again, acknowledges
 * nothing, sends neither sync nor ephemeral messages, and repairs nothing. A toy is one participant in one channel. */
#ifndef TOY_H
#define TOY_H

#include "kit.h" /* For kit_text, and memory until a command is answered. */

enum {
    TOY_HISTORY = 2,      /* Message IDs in a causal history. */
    TOY_FILTER_IDS = 100, /* Size of the bloom filter: about one false positive in a hundred. */
};

/* A message of a channel. Without a timestamp it is ephemeral, without content a sync message. */
typedef struct toy_message {
    kit_text sender, id, channel;
    bool stamped;
    uint64_t lamport;
    kit_text *history;
    size_t histories;
    kit_text bloom, content;
} toy_message;

typedef struct toy toy;

toy *toy_new(kit_text participant, kit_text channel, uint64_t now_ms);
void toy_free(toy *channel);
kit_text toy_channel(const toy *channel);

/* These functions return NULL, or the reason of a refusal. */
const char *toy_send(toy *channel, kit_text content, uint64_t now_ms, kit_text *id, kit_text *wire);
const char *toy_decode(kit_text wire, toy_message *message);
/* `deliver` is called with each message that is delivered now, in order. */
const char *toy_receive(toy *channel, const toy_message *message, void (*deliver)(const toy_message *));

#endif
