/* Declarations that json.c and kit.c share. Part of the kit: do not change it. */
#ifndef JSON_H
#define JSON_H

#include "kit.h"

typedef enum { NOTHING, BOOLEAN, NUMBER, TEXT, LIST, OBJECT } kind;

struct kit_json {
    kind kind;
    kit_text name;   /* Set if the value is in an object. */
    kit_text text;   /* The content of a text, or the digits of a number. */
    kit_json *first; /* The first value of a list or an object. */
    kit_json *next;  /* The next value of the same list or object. */
};

/* Parses a line. */
const kit_json *json_parse(kit_text line);
/* The fields that were put so far. */
kit_text json_written(void);
/* Frees everything that was allocated or put. */
void json_free(void);

#endif
