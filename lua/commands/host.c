/* host.c -- files written by the Lua code of commands: texts, and pictures that Lua draws (plots of
 * a sweep, masks at the prompt). */
#include <math.h>
#include <stdio.h>
#include "engine/base/file.h"
#include "engine/output/picture.h"
#include "lua/commands/host.h"

/* ---- texts ---- */

/* sel_file_may_replace for a file that begins with `begins`; NULL: for a picture. */
static sel_status host_check_path(const char *path, const char *begins, sel_error *error) {
    return begins ? sel_file_may_replace(path, begins, "file of Selenite", SEL_HOST_ADVICE, error)
                  : sel_canvas_may_write(path, SEL_HOST_ADVICE, error);
}

int sel_host_may_write(lua_State *L) {
    sel_error error = {.status = SEL_OK};
    host_check_path(luaL_checkstring(L, 1), luaL_optstring(L, 2, NULL), &error);
    return sel_host_result(L, &error);
}

int sel_host_write(lua_State *L) {
    const char *path = luaL_checkstring(L, 1), *begins = luaL_checkstring(L, 3);
    size_t length;
    const char *text = luaL_checklstring(L, 2, &length);
    sel_error error = {.status = SEL_OK};
    if (!host_check_path(path, begins, &error)) {
        FILE *file = sel_file_begin(path);
        if (file)
            fwrite(text, 1, length, file);
        sel_file_end(file, path, NULL, &error);
    }
    return sel_host_result(L, &error);
}

/* ---- pictures ---- */

/* Colours: paper, ink, pale ink, and from HUE on a cycle of colours that are easy to tell apart. */
enum { HUE = 3, HUES = 8, LETTER = 2 };
enum { MOST_PIXELS = 1 << 20 }; /* along a side */
static const sel_colour colours[HUE + HUES] = {
    {255, 255, 255}, {40, 40, 40},  {225, 225, 225}, {0, 90, 160},   {200, 70, 30}, {30, 130, 80},
    {130, 60, 150},  {170, 120, 0}, {0, 140, 160},   {200, 60, 120}, {90, 90, 90}};

/* A coordinate or a length in pixels, limited to a range far beyond the picture. */
static int take_pixel(lua_State *L, int index) {
    const double value = luaL_checknumber(L, index);
    luaL_argcheck(L, !isnan(value), index, "no number of pixels");
    return (int)lround(fmin(fmax(value, -MOST_PIXELS), 2 * MOST_PIXELS));
}

static int take_side(lua_State *L, int index) {
    const lua_Integer side = luaL_checkinteger(L, index);
    luaL_argcheck(L, side > 0 && side <= MOST_PIXELS, index, "a picture is not so large");
    return (int)side;
}

/* put, the argument of the drawing function:
 *   put(x, y, width, height, colour)  fills a rectangle with its upper left corner at x, y
 *   put(x, y, text, part, colour)     writes text that begins `part` times its width left of x */
static int draw_put(lua_State *L) {
    sel_canvas *canvas = lua_touserdata(L, lua_upvalueindex(1));
    const lua_Integer number = luaL_checkinteger(L, 5);
    const int x = take_pixel(L, 1), y = take_pixel(L, 2);
    luaL_argcheck(L, number >= 0, 5, "no colour");
    const sel_colour colour = colours[number < HUE ? number : HUE + (number - HUE) % HUES];
    if (lua_type(L, 3) == LUA_TSTRING) {
        const char *text = lua_tostring(L, 3);
        const double left = luaL_checknumber(L, 4) * sel_canvas_text_width(text, LETTER);
        sel_canvas_text(canvas, x - (int)left, y, LETTER, text, colour);
    } else {
        sel_canvas_fill(canvas, x, y, take_pixel(L, 3), take_pixel(L, 4), colour);
    }
    return 0;
}

int sel_host_draw(lua_State *L) {
    const char *path = luaL_checkstring(L, 1);
    const int width = take_side(L, 2), height = take_side(L, 3);
    const size_t bytes = sizeof(sel_colour) * (size_t)width * (size_t)height;
    sel_canvas canvas = {width, height, lua_newuserdatauv(L, bytes, 0)};
    sel_error error = {.status = SEL_OK};
    if (sel_canvas_may_write(path, "choose another name", &error))
        return sel_host_result(L, &error);
    sel_canvas_fill(&canvas, 0, 0, width, height, colours[0]);
    lua_pushvalue(L, 4);
    lua_pushlightuserdata(L, &canvas);
    lua_pushcclosure(L, draw_put, 1);
    lua_call(L, 1, 0);
    sel_canvas_write(&canvas, path, &error);
    return sel_host_result(L, &error);
}
