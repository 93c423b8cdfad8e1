/* date.c -- dates of ISO 8601, as 2024-05-31T12:30:00Z, for times in files. */
#include <time.h>
#include "engine/series.h"

/* Takes what `layout` shows, in which each d stands for a digit: one number for each row of them.
 * False: something else is there, which stays. */
static bool take(const char **text, const char *layout, int *numbers) {
    const char *at = *text;
    for (const char *c = layout; *c; c++, at++) {
        const bool digit = *c == 'd';
        if (digit ? *at < '0' || *at > '9' : *at != *c) {
            return false;
        }
        if (digit) {
            *numbers = (c > layout && c[-1] == 'd' ? 10 * *numbers : 0) + (*at - '0');
            numbers += c[1] != 'd';
        }
    }
    *text = at;
    return true;
}

static void take_part(const char **text, sel_date *date) {
    int digit;
    for (double unit = 0.1; take(text, "d", &digit); unit /= 10) {
        date->part += unit * digit;
    }
}

/* Seconds by which the clocks of the zone are ahead of UTC. */
static bool take_zone(const char **text, int *ahead) {
    int hours, minutes = 0;
    *ahead = 0;
    if (!**text || take(text, "Z", NULL)) {
        return true;
    }
    const bool west = take(text, "-", NULL);
    if ((!west && !take(text, "+", NULL)) || !take(text, "dd", &hours)) {
        return false;
    }
    if (**text && !take(text, ":dd", &minutes) && !take(text, "dd", &minutes)) {
        return false;
    }
    *ahead = (west ? -1 : 1) * (3600 * hours + 60 * minutes);
    return hours < 24 && minutes < 60;
}

bool sel_date_read(const char *text, sel_date *date) {
    int day[3], clock[3] = {0}, ahead = 0;
    *date = (sel_date){.seconds = 0};
    if (!take(&text, "dddd-dd-dd", day)) {
        return false;
    }
    if (*text) {
        if (!take(&text, "Tdd:dd", clock) && !take(&text, " dd:dd", clock)) {
            return false;
        }
        if (take(&text, ":dd", &clock[2]) && take(&text, ".", NULL)) {
            take_part(&text, date);
        }
        date->zoned = *text;
        if (!take_zone(&text, &ahead) || clock[0] > 23 || clock[1] > 59 || clock[2] > 59) {
            return false;
        }
    }
    struct tm parts = {.tm_year = day[0] - 1900, .tm_mon = day[1] - 1, .tm_mday = day[2]};
    date->seconds = timegm(&parts) + 3600 * clock[0] + 60 * clock[1] + clock[2] - ahead;
    /* A day that the calendar does not have has become another one. */
    return !*text && parts.tm_mon == day[1] - 1 && parts.tm_mday == day[2];
}
