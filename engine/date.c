/* date.c -- dates of ISO 8601, as 2024-05-31T12:30:00Z, for times in files. */
#include "engine/date.h"

typedef struct reader {
    const char *at, *end;
} reader;

/* Exactly `digits` digits. */
static bool take_number(reader *r, int digits, int *number) {
    *number = 0;
    for (int i = 0; i < digits; i++, r->at++) {
        if (r->at == r->end || *r->at < '0' || *r->at > '9') {
            return false;
        }
        *number = 10 * *number + (*r->at - '0');
    }
    return true;
}

static bool take(reader *r, char wanted) {
    bool there = r->at < r->end && *r->at == wanted;
    r->at += there;
    return there;
}

/* Of the Gregorian calendar, since 1970-01-01. Years are counted from March on, so that the day of
 * a leap year comes last; 146097 days are 400 years. */
static int64_t days_since_1970(int year, int month, int day) {
    const int64_t y = month <= 2 ? year - 1 : year;
    const int64_t of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    const int64_t era = y / 400, of_era = y % 400;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int days_of_month(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

static bool take_day(reader *r, sel_date *date) {
    int year, month, day;
    if (!take_number(r, 4, &year) || !take(r, '-') || !take_number(r, 2, &month) || !take(r, '-') ||
        !take_number(r, 2, &day)) {
        return false;
    }
    if (month < 1 || month > 12 || day < 1 || day > days_of_month(year, month)) {
        return false;
    }
    date->seconds = days_since_1970(year, month, day) * 86400;
    return true;
}

static void take_part(reader *r, sel_date *date) {
    double digit = 0.1;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++, digit /= 10) {
        date->part += digit * (*r->at - '0');
    }
}

static bool take_time(reader *r, sel_date *date) {
    int hour, minute, second = 0;
    if (!take_number(r, 2, &hour) || !take(r, ':') || !take_number(r, 2, &minute)) {
        return false;
    }
    if (take(r, ':')) {
        if (!take_number(r, 2, &second)) {
            return false;
        }
        if (take(r, '.')) {
            take_part(r, date);
        }
    }
    date->seconds += 3600 * hour + 60 * minute + second;
    return hour < 24 && minute < 60 && second < 60;
}

static bool take_zone(reader *r, sel_date *date) {
    int hours, minutes = 0;
    date->zoned = r->at < r->end;
    if (!date->zoned || take(r, 'Z')) {
        return true;
    }
    const bool west = take(r, '-');
    if ((!west && !take(r, '+')) || !take_number(r, 2, &hours)) {
        return false;
    }
    if (r->at < r->end) {
        take(r, ':');
        if (!take_number(r, 2, &minutes)) {
            return false;
        }
    }
    const int offset = 3600 * hours + 60 * minutes;
    date->seconds += west ? offset : -offset;
    return hours < 24 && minutes < 60;
}

bool sel_date_read(const char *text, size_t length, sel_date *date) {
    reader r = {text, text + length};
    *date = (sel_date){.seconds = 0};
    if (!take_day(&r, date)) {
        return false;
    }
    if (r.at == r.end) {
        return true;
    }
    return (take(&r, 'T') || take(&r, ' ')) && take_time(&r, date) && take_zone(&r, date) &&
           r.at == r.end;
}
