/* mesh.h -- bodies of triangles: which points lie in one, where a line meets its surface.
 *
 * A point is inside where the surface winds about it: the signed number of its crossings with a ray
 * from the point is not 0. So bodies that overlap are one, a shell within a body is a hole if it
 * faces inward, and a mesh whose outside is inside has the same cells. Crossings are found by
 * integers, so that a ray which meets an edge or a corner crosses each closed surface as often
 * inward as outward. Holes are closed by fans of triangles about their centres.
 */
#ifndef SEL_MESH_H
#define SEL_MESH_H

#include "engine/base/arena.h"
#include "engine/scene/segment.h"
#include "geometry/mesh_read.h"

/* What is told of a mesh. Places are the first that were found. */
typedef struct sel_mesh_facts {
    int64_t triangles;  /* of the file */
    int64_t own;        /* of these, with three points; fans follow */
    int64_t degenerate; /* with corners at one point, or on a line */
    int64_t turned;     /* faced another way than the neighbours, and were turned about */
    int64_t open_edges; /* with a triangle on one side only */
    int64_t holes;      /* rings of open edges */
    int64_t sampled;    /* triangles about which the surface was looked at ... */
    int64_t crossing;   /* ... and those that do not part inside (1) from outside (0) */
    double degenerate_at[3], turned_at[3], open_at[3], crossing_at[3];
    double volume, area; /* volume: negative if the outside is inside */
} sel_mesh_facts;

/* A box of the tree: its two parts are the boxes `first` and `first` + 1, or it holds `count`
 * triangles. */
typedef struct sel_mesh_node {
    double lo[3], hi[3];
    int32_t first, count; /* count 0: it has parts */
    int64_t unused;
} sel_mesh_node;

typedef struct sel_mesh {
    int64_t points, triangles; /* with those that close holes */
    double (*point)[3];
    int32_t (*corner)[3]; /* in the order of the tree; the outside is where they turn left */
    sel_mesh_node *node;
    int32_t nodes;
    double centre[3], steps; /* a coordinate becomes the integer (p - centre) steps */
    sel_bounds bounds;
    sel_mesh_facts facts;
} sel_mesh;

/* Makes a body of triangles, in memory of the arena. The triangles are changed, and have to be
 * freed. SEL_NO_DEVICE: no memory. SEL_BAD_FILE: no triangle has an area. */
sel_status sel_mesh_make(sel_arena *arena, sel_triangles *triangles, const char *name,
                         const sel_mesh **mesh, sel_error *error);

/* A crossing of a line along an axis with the surface. */
typedef struct sel_mesh_hit {
    double at;      /* the coordinate along the axis */
    int32_t enters; /* 1: the line enters there as the coordinate rises; -1: it leaves */
    int32_t triangle;
} sel_mesh_hit;

enum { SEL_HITS_AT_ONCE = 64 };
typedef struct sel_mesh_hits {
    int count, room;
    bool failed; /* without memory */
    sel_mesh_hit *v, few[SEL_HITS_AT_ONCE];
} sel_mesh_hits;

/* A line: its point at the coordinate s along `axis` is origin + slope (s - origin[axis]). Slopes
 * are at most 1 in magnitude. `lo` and `hi`: where crossings are looked for. */
typedef struct sel_mesh_line {
    int axis;
    double slope[3], origin[3], lo, hi;
} sel_mesh_line;

/* The line through two points, along the axis along which they differ most; along x if they are
 * equal. */
sel_mesh_line sel_mesh_line_of(const double from[3], const double to[3]);

/* Finds the crossings, in order along the line. Some beyond `lo` and `hi` may be among them.
 * Without limits there are as many that enter as that leave. */
void sel_mesh_cross(const sel_mesh *mesh, const sel_mesh_line *line, sel_mesh_hits *hits);
void sel_mesh_hits_free(sel_mesh_hits *hits);

/* How often the surface winds about a point: 1 inside, 0 outside of a plain body. */
int sel_mesh_winding(const sel_mesh *mesh, const double p[3], bool *failed);

/* Sets in[i] to whether the n points lie in the body; faster where they follow each other along
 * lines at equal distances. */
typedef void sel_point_of(const void *of, size_t i, double p[3]);
sel_status sel_mesh_contains(const sel_mesh *mesh, sel_point_of *point_of, const void *of, size_t n,
                             uint8_t *in, sel_error *error);

/* Adds the fractions of a segment at which it crosses the surface. */
void sel_mesh_roots(const sel_mesh *mesh, const double from[3], const double to[3],
                    sel_roots *roots);

/* ---- construction ---- */

/* Closes the surface of a list of triangles: turns triangles that face another way than their
 * neighbours, and adds fans that close its holes. */
sel_status sel_mesh_close(sel_triangles *triangles, sel_mesh_facts *facts, const char *name,
                          sel_error *error);

/* Sorts the triangles of a mesh into its tree. False: no memory. */
bool sel_mesh_sort(sel_arena *arena, sel_mesh *mesh);

#endif
