/* aqua_oracle.h -- a step of AQUA-GRAPH written down another way: by the text of the thesis, cell
 * by cell, dropping members of the average in passes until none is left to drop. */
#ifndef AQUA_ORACLE_H
#define AQUA_ORACLE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "engine/solvers/aqua/aqua.h"

enum { ORACLE_MOST = 64 * 64 };

typedef struct oracle {
    int nx, ny;
    bool periodic;
    int equilibrium;
    double alpha;
    const double *h;
} oracle;

static inline int oracle_neighbour(const oracle *o, int i, int k) {
    static const int dx[8] = {1, -1, 0, 0, 1, -1, -1, 1}, dy[8] = {0, 0, -1, 1, -1, 1, -1, 1};
    int x = i % o->nx + dx[k], y = i / o->nx + dy[k];
    if (o->periodic) {
        x = (x + o->nx) % o->nx;
        y = (y + o->ny) % o->ny;
    }
    return x >= 0 && x < o->nx && y >= 0 && y < o->ny ? y * o->nx + x : -1;
}

static inline double oracle_tree(const double v[8]) {
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

static inline double oracle_sum(const double v[8], const bool in[8]) {
    double part[8];
    for (int k = 0; k < 8; k++) {
        part[k] = in[k] ? v[k] : 0;
    }
    return oracle_tree(part);
}

static inline int oracle_count(const bool in[8]) {
    int n = 0;
    for (int k = 0; k < 8; k++) {
        n += in[k];
    }
    return n;
}

/* What leaves by fill: the level E of all water of a cell and its receivers poured into their beds,
 * relative to the cell's own. */
static inline double oracle_fill(double w, const double bed[8], const double water[8],
                                 const bool in[8]) {
    const double all = w + oracle_sum(water, in);
    bool member[8], own = true;
    memcpy(member, in, sizeof member);
    double level = 0;
    for (;;) {
        int m = oracle_count(member) + own, left = 0;
        level = (all + oracle_sum(bed, member)) / m;
        bool keep_own = own && !(0 > level), same = keep_own == own, next[8];
        for (int k = 0; k < 8; k++) {
            next[k] = member[k] && !(bed[k] > level);
            same = same && next[k] == member[k];
            left += next[k];
        }
        if (same || left + keep_own == 0) {
            break;
        }
        memcpy(member, next, sizeof member);
        own = keep_own;
    }
    const double leaves = level > 0 ? w - level : w;
    return leaves < 0 ? 0 : leaves;
}

/* What leaves by mindiff; drops receivers from `in`. */
static inline double oracle_mindiff(double w, const double d[8], bool in[8]) {
    for (;;) {
        const double drop = oracle_sum(d, in) / (oracle_count(in) + 1);
        bool same = true;
        for (int k = 0; k < 8; k++) {
            bool out = in[k] && d[k] < drop;
            in[k] = in[k] && !out;
            same = same && !out;
        }
        if (same) {
            return fmin(drop, w);
        }
    }
}

/* What cell i sends to its neighbours: q[8], m. */
static inline void oracle_cell(const oracle *o, const double *w, int i, double q[8]) {
    double d[8] = {0}, bed[8] = {0}, water[8] = {0}, root[8];
    bool in[8] = {false};
    for (int k = 0; k < 8; k++) {
        int j = oracle_neighbour(o, i, k);
        q[k] = 0;
        if (j >= 0) {
            d[k] = (o->h[i] - o->h[j]) + (w[i] - w[j]);
            bed[k] = o->h[j] - o->h[i];
            water[k] = w[j];
            in[k] = d[k] > 0;
        }
    }
    if (oracle_count(in) == 0 || w[i] <= 0) {
        return;
    }
    double leaves = o->equilibrium == AQUA_FILL ? oracle_fill(w[i], bed, water, in)
                    : o->equilibrium == AQUA_MINDIFF
                        ? oracle_mindiff(w[i], d, in)
                        : fmin(oracle_sum(d, in) / (oracle_count(in) + 1), w[i]);
    for (int k = 0; k < 8; k++) {
        root[k] = in[k] ? sqrt(d[k]) : 0;
    }
    const double roots = oracle_tree(root);
    for (int k = 0; k < 8; k++) {
        q[k] = o->alpha * (leaves * root[k] / roots);
    }
}

/* One step, as increments and decrements. */
static inline void oracle_step(const oracle *o, double *w) {
    static double change[ORACLE_MOST];
    const int cells = o->nx * o->ny;
    memset(change, 0, sizeof change);
    for (int i = 0; i < cells; i++) {
        double q[8];
        oracle_cell(o, w, i, q);
        for (int k = 0; k < 8; k++) {
            if (q[k] > 0) {
                change[oracle_neighbour(o, i, k)] += q[k];
                change[i] -= q[k];
            }
        }
    }
    for (int i = 0; i < cells; i++) {
        w[i] += change[i];
    }
}

#endif
