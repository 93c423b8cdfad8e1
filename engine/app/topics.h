/* topics.h -- technical terms that scripts do not use, for `selenite help WORD`. */
#ifndef SEL_TOPICS_H
#define SEL_TOPICS_H

#include <stdbool.h>

typedef struct sel_topic {
    const char *words; /* in lower case, separated by blanks */
    const char *answer;
} sel_topic;

/* All topics; ends with words == NULL. */
extern const sel_topic sel_topics[];

/* Whether `word`, in lower case, is one of the topic's words. */
bool sel_topic_has(const sel_topic *topic, const char *word);

#endif
