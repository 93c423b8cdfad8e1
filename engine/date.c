/* date.c -- dates of ISO 8601, as 2024-05-31T12:30:00Z, for times in files. */
#include <time.h>
#include "engine/series.h"

typedef struct reader {
    const char *at, *end;
} reader;

/* Takes what `layout` shows, in which each d stands for a digit: one number for each row of them.
 * False: something else is there, which stays. */
static bool take(reader *r, const char *layout, int *numbers) {
    const char *at = r->at;
    for (const char *c = layout; *c; c++, at++) {
        const bool digit = *c == 'd';
        if (at == r->end || (digit ? *at < '0' || *at > '9' : *at != *c)) {
            return false;
        }
        if (digit) {
            *numbers = (c > layout && c[-1] == 'd' ? 10 * *numbers : 0) + (*at - '0');
            numbers += c[1] != 'd';
        }
    }
    r->at = at;
    return true;
}

static void take_part(reader *r, sel_date *date) {
    double digit = 0.1;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++, digit /= 10) {
        date->part += digit * (*r->at - '0');
    }
}

/* Seconds by which the clocks of the zone are ahead of UTC. */
static bool take_zone(reader *r, int *ahead) {
    int hours, minutes = 0;
    *ahead = 0;
    if (r->at == r->end || take(r, "Z", NULL)) {
        return true;
    }
    const bool west = take(r, "-", NULL);
    if ((!west && !take(r, "+", NULL)) || !take(r, "dd", &hours)) {
        return false;
    }
    if (r->at < r->end && !take(r, ":dd", &minutes) && !take(r, "dd", &minutes)) {
        return false;
    }
    *ahead = (west ? -1 : 1) * (3600 * hours + 60 * minutes);
    return hours < 24 && minutes < 60;
}

bool sel_date_read(const char *text, size_t length, sel_date *date) {
    reader r = {text, text + length};
    int day[3], clock[3] = {0}, ahead = 0;
    *date = (sel_date){.seconds = 0};
    if (!take(&r, "dddd-dd-dd", day)) {
        return false;
    }
    if (r.at < r.end) {
        if (!take(&r, "Tdd:dd", clock) && !take(&r, " dd:dd", clock)) {
            return false;
        }
        if (take(&r, ":dd", &clock[2]) && take(&r, ".", NULL)) {
            take_part(&r, date);
        }
        date->zoned = r.at < r.end;
        if (!take_zone(&r, &ahead) || clock[0] > 23 || clock[1] > 59 || clock[2] > 59) {
            return false;
        }
    }
    struct tm parts = {.tm_year = day[0] - 1900, .tm_mon = day[1] - 1, .tm_mday = day[2]};
    date->seconds = timegm(&parts) + 3600 * clock[0] + 60 * clock[1] + clock[2] - ahead;
    /* A day that the calendar does not have has become another one. */
    return r.at == r.end && parts.tm_mon == day[1] - 1 && parts.tm_mday == day[2];
}
