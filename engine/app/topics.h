/* topics.h -- words of the trades, for `selenite help WORD`. */
#ifndef SEL_TOPICS_H
#define SEL_TOPICS_H

#include <stdbool.h>

typedef struct sel_topic {
    const char *words; /* apart by blanks, in small letters */
    const char *answer;
} sel_topic;

/* All of them, then NULL. */
extern const sel_topic sel_topics[];

/* Whether the word, in small letters, is one of the topic's. */
bool sel_topic_has(const sel_topic *topic, const char *word);

#endif
