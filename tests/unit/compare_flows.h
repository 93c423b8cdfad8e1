/* compare_flows.h -- small flows of every kind as scripts, for the tests that compare backends. */
#ifndef COMPARE_FLOWS_H
#define COMPARE_FLOWS_H

#include <stdio.h>
#include <string.h>

typedef struct flow_part {
    const char *name, *text;
} flow_part;

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Before all flows; `size` is set before it. The velocities are of the size 0.05. */
static const char *const flow_begin =
    "local sel = require 'selenite'\n"
    "local shape, law = sel.shape, sel.law\n"
    "local W, H, D, three = size[1], size[2], size[3] or 1, size[3] ~= nil\n"
    "local regions, periodic, acceleration, controls, sponge = {}, {}, nil, nil, nil\n"
    "local function paint(name, where, what)\n"
    "  regions[#regions + 1] = { name = name, where = where, law = what }\n"
    "end\n"
    "local function vec(x, y, z) if three then return x, y, z end return x, y end\n"
    "local function across() return three and shape.face 'z-' + shape.face 'z+' or nil end\n"
    "local function box(x0, y0, z0, x1, y1, z1)\n"
    "  return shape.box { min = { vec(x0, y0, z0) }, max = { vec(x1, y1, z1) } }\n"
    "end\n"
    "local function ball(x, y, z, r) return shape.ball { centre = { vec(x, y, z) }, radius = r } "
    "end\n"
    "local function inflow(y, t)\n"
    "  local s = y / H\n"
    "  return vec(0.05 * (0.3 + 4 * s * (1 - s)) * (1 + 0.2 * math.sin(0.3 * t)), 0.003 * s, "
    "0.002)\n"
    "end\n"
    "local function dragging(x, t)\n"
    "  return vec(0.06 * math.cos(0.2 * t), 0, 0.02 * math.sin(6 * x / W))\n"
    "end\n"
    "local initial = {\n"
    "  velocity = three and function(x, y, z)\n"
    "    local a, b, c = 6.2831853 * x / W, 6.2831853 * y / H, 6.2831853 * z / D\n"
    "    return 0.03 * math.sin(a + b), 0.03 * math.cos(b + 2 * c), 0.02 * math.sin(c - a)\n"
    "  end or function(x, y)\n"
    "    local a, b = 6.2831853 * x / W, 6.2831853 * y / H\n"
    "    return 0.03 * math.sin(a + b), 0.03 * math.cos(b - 2 * a)\n"
    "  end,\n"
    "  pressure = function(x, y) return 1e-3 * math.sin(6.2831853 * x / W) * math.cos(3 * y / H) "
    "end,\n"
    "}\n";

static const char *const flow_end =
    "return sel.lbm {\n"
    "  lattice = three and 'D3Q19' or 'D2Q9', size = size, tau = tau,\n"
    "  collision = collision:match '^%a+', storage = collision:match ':(%a+)',\n"
    "  precision = precision, smagorinsky = smagorinsky, acceleration = acceleration,\n"
    "  controls = controls, initial = initial, regions = regions, periodic = periodic,\n"
    "  sponge = sponge, stop = { steps = 1 },\n"
    "}\n";

/* What is around and in the fluid: every law, and every meeting that is allowed. */
static const flow_part flow_around[] = {
    {"periodic", "periodic = three and { 'x', 'y', 'z' } or { 'x', 'y' }\n"},
    {"solids in a periodic box",
     "periodic = three and { 'x', 'y', 'z' } or { 'x', 'y' }\n"
     "paint('ball', ball(W / 3, H / 2, D / 2, math.min(W, H) / 5), law.wall {})\n"
     "paint('mover', box(0, 0, 0, W / 4, 3, D / 2), law.wall { velocity = dragging })\n"},
    {"moving lid",
     "paint('lid', shape.face 'y+', law.wall { velocity = dragging })\n"
     "paint('side', shape.face 'x-', law.wall { velocity = { vec(0, 0.02, 0.01) } })\n"
     "paint('walls', shape.rest, law.wall {})\n"
     "paint('ball', ball(W - 1, 0, 0, 5), law.wall {})\n"
     "paint('pair', box(W / 2, H / 2, 0, W / 2 + 1, H / 2 + 2, D), law.wall {})\n"},
    {"parabolic walls",
     "paint('walls', shape.faces, law.wall { scheme = 'parabolic' })\n"
     "paint('lid', shape.face 'y+', law.wall { velocity = dragging, scheme = 'parabolic' })\n"
     "paint('block', box(W / 3, 0, 0, W / 3 + 5, 4, D - 3), law.wall { scheme = 'parabolic' })\n"
     "paint('ball', ball(W - 5, 6, D / 2, 3), law.wall {})\n"},
    {"channel", "periodic = three and { 'z' } or {}\n"
                "paint('walls', shape.face 'y-' + shape.face 'y+', law.wall {})\n"
                "paint('inlet', shape.face 'x-', law.velocity { inflow })\n"
                "paint('outlet', shape.face 'x+', law.pressure { function(t) return 1e-3 * "
                "math.sin(t / 5) end })\n"
                "paint('cylinder', three and shape.cylinder { from = { W / 3, H / 2, -1 }, to = { "
                "W / 3, H / 2, D + 1 },\n"
                "  radius = H / 6 } or ball(W / 3, H / 2, 0, H / 6), law.wall {})\n"},
    {"duct", "paint('walls', shape.faces, law.wall {})\n"
             "paint('inlet', shape.face 'x-', law.velocity { inflow })\n"
             "paint('outlet', shape.face 'x+', law.pressure { 0 })\n"
             "paint('step', box(0, 0, 0, W / 4, H / 3, D), law.wall {})\n"},
    {"wet walls",
     "paint('walls', shape.faces, law.wall { scheme = 'zou_he' })\n"
     "paint('lid', shape.face 'y+', law.wall { scheme = 'zou_he', velocity = dragging })\n"
     "paint('ball', ball(W / 2, H / 2, D / 2, 4), law.wall {})\n"},
    {"outflow and slip", "paint('bottom', shape.face 'y-', law.wall {})\n"
                         "paint('top', shape.face 'y+', law.slip {})\n"
                         "if three then paint('front', across(), law.slip {}) end\n"
                         "paint('inlet', shape.face 'x-', law.velocity { inflow })\n"
                         "paint('outlet', shape.face 'x+', law.outflow { relaxation = 0.02 })\n"
                         "paint('post', box(W / 3, 0, 0, W / 3 + 3, H / 3, D / 2), law.wall {})\n"},
    {"outflows that meet", "paint('source', shape.face 'x-', law.pressure { function(t) return "
                           "2e-3 + 1e-3 * math.sin(t / 3) end })\n"
                           "paint('sink', shape.face 'x+' + shape.face 'y+', law.outflow {})\n"
                           "paint('mirror', shape.face 'y-', law.slip {})\n"
                           "if three then\n"
                           "  paint('front', shape.face 'z-', law.slip {})\n"
                           "  paint('back', shape.face 'z+', law.outflow {})\n"
                           "end\n"},
    {"wet walls beside openings",
     "paint('sides', shape.face 'x-' + shape.face 'x+', law.wall { scheme = 'zou_he' })\n"
     "paint('below', shape.face 'y-', law.velocity { function(x, t)\n"
     "  local s = x / W\n"
     "  return vec(0, 0.2 * s * (1 - s) * (1 + 0.1 * math.sin(t / 4)), 0) end })\n"
     "paint('above', shape.face 'y+', law.outflow {})\n"
     "if three then paint('back', across(), law.wall { scheme = 'zou_he' }) end\n"},
    {"a face of many laws",
     "paint('walls', shape.faces, law.wall {})\n"
     "paint('slit', shape.face 'x-' * box(-1, H / 4, -1, 1, H / 2, D + 1), law.velocity { inflow "
     "})\n"
     "paint('vent', shape.face 'x+' * box(W - 1, H / 2, -1, W + 1, 3 * H / 4, D + 1), law.outflow "
     "{})\n"
     "paint('pane', shape.face 'y+' * box(W / 4, H - 1, -1, W / 2, H + 1, D + 1), law.slip {})\n"
     "paint('drain', shape.face 'y-' * box(W / 2, -1, -1, 3 * W / 4, 1, D + 1), law.pressure { "
     "-1e-3 })\n"},
    {"moving walls beside openings",
     "periodic = three and { 'z' } or {}\n"
     "paint('belts', shape.face 'y-' + shape.face 'y+', law.wall { velocity = dragging })\n"
     "paint('inlet', shape.face 'x-', law.velocity { inflow })\n"
     "paint('outlet', shape.face 'x+', law.outflow {})\n"
     "paint('roller', box(0, H / 3, 0, W / 4, 2 * H / 3, D), law.wall { velocity = dragging })\n"},
    {"pistons and slip that meet",
     "paint('left', shape.face 'x-', law.wall { velocity = function(t)\n"
     "  return vec(4e-3 * math.sin(t / 3), 0.02, 0.01) end })\n"
     "paint('below', shape.face 'y-', law.wall { velocity = function(x, t)\n"
     "  return vec(0.02, 3e-3 * math.cos(t / 4), 0.01 * x / W) end })\n"
     "paint('right', shape.face 'x+', law.slip {})\n"
     "paint('above', shape.face 'y+', law.slip {})\n"
     "if three then paint('back', across(), law.wall { velocity = { vec(0.02, 0, 2e-3) } }) end\n"},
    {"absorbing openings",
     "periodic = three and { 'z' } or {}\n"
     "paint('walls', shape.face 'y-' + shape.face 'y+', law.wall {})\n"
     "paint('inlet', shape.face 'x-', law.velocity { inflow, absorbing = true })\n"
     "paint('outlet', shape.face 'x+', law.pressure { function(t) return 1e-3 * math.sin(t / 5) "
     "end, "
     "absorbing = true, relaxation = 0.01 })\n"
     "paint('ball', ball(W - 4, H / 2, D / 2, 3), law.wall {})\n"},
    {"far fields that meet",
     "paint('stream', shape.faces, law.far_field { inflow })\n"
     "paint('outlet', shape.face 'x+', law.pressure { 0, absorbing = true })\n"
     "paint('floor', shape.face 'y-', law.wall { scheme = 'zou_he' })\n"
     "paint('ball', ball(W / 3, H / 2, D / 2, math.min(W, H) / 6), law.wall {})\n"},
    {"a sponge before an outlet",
     "periodic = three and { 'z' } or {}\n"
     "paint('walls', shape.face 'y-' + shape.face 'y+', law.wall {})\n"
     "paint('inlet', shape.face 'x-', law.velocity { inflow })\n"
     "paint('outlet', shape.face 'x+', law.outflow {})\n"
     "paint('ball', ball(W - 4, H / 2, D / 2, 2), law.wall {})\n"
     "sponge = { where = shape.face 'x+', thickness = 8, pressure = 1e-4,\n"
     "  velocity = function(y) return vec(0.04 * y / H, 0, 1e-3) end }\n"},
    {"interpolated walls",
     "periodic = three and { 'z' } or {}\n"
     "paint('walls', shape.face 'y-' + shape.face 'y+', law.wall {})\n"
     "paint('inlet', shape.face 'x-', law.velocity { inflow })\n"
     "paint('outlet', shape.face 'x+', law.pressure { 0 })\n"
     "paint('ball', ball(W / 3 + 0.3, H / 2 + 0.2, D / 2, math.min(W, H) / 5), law.wall { scheme = "
     "'interpolated' })\n"
     "paint('roller', ball(3 * W / 4, H / 2, D / 3, 2.3), law.wall { scheme = 'interpolated', "
     "velocity = dragging })\n"},
    {"many regions",
     "periodic = three and { 'x', 'y', 'z' } or { 'x', 'y' }\n"
     "for k = 0, 29 do\n"
     "  local x, y = 2 * (k % 8), 2 * (k // 8)\n"
     "  paint('cell' .. k, box(x, y, 0, x + 1, y + 1, D / 2), law.wall { velocity = { vec(\n"
     "    2e-3 * k, 1e-2, 0) } })\n"
     "end\n"},
};

/* The acceleration: uniform or a field, constant or in time. */
static const flow_part flow_force[] = {
    {"no force", ""},
    {"uniform", "acceleration = { vec(1e-4, -5e-5, 3e-5) }\n"},
    {"uniform in time",
     "acceleration = function(t) return vec(1e-4 * math.cos(t / 3), 1e-5 * t, -5e-5) end\n"},
    {"field", "acceleration = function(x, y) return vec(1e-4 * math.sin(6 * y / H), 1e-4 * x / W, "
              "2e-5) end\n"},
    {"field in time", "acceleration = three and function(x, z, t)\n"
                      "  return 1e-4 * math.sin(x / 5 + t / 4), 5e-5 * math.cos(z), 1e-6 * t\n"
                      "end or function(x, y, t) return 1e-4 * math.sin(x / 5 + t / 4), 5e-5 * "
                      "math.cos(y - t) end\n"},
};

/* Numbers of a flow besides its parts. */
typedef struct flow {
    const char *size, *around, *force;
    const char *collision; /* and what is stored: "recursive:moments" */
    const char *precision;
    double tau;
    bool eddies;
} flow;

enum { FLOW_ROOM = 8192 };

/* The script of a flow; `more` stands before its end. */
static inline void flow_script(const flow *f, const char *more, char text[FLOW_ROOM]) {
    int length = snprintf(text, FLOW_ROOM,
                          "local size, tau, collision, precision = { %s }, %g, '%s', '%s'\n"
                          "local smagorinsky = %s\n%s%s%s%s%s",
                          f->size, f->tau, f->collision, f->precision, f->eddies ? "0.15" : "nil",
                          flow_begin, f->around, f->force, more ? more : "", flow_end);
    if (length >= FLOW_ROOM) {
        text[0] = '\0'; /* refused by all who read it */
    }
}

static inline const char *flow_around_named(const char *name) {
    for (size_t k = 0; k < COUNT_OF(flow_around); k++) {
        if (strcmp(flow_around[k].name, name) == 0) {
            return flow_around[k].text;
        }
    }
    return "no such flow";
}

#endif
