/* draw.c -- pictures that Lua draws: plots of a sweep, masks at the prompt. */
#include <math.h>
#include "engine/output/picture.h"
#include "lua/state.h"

/* Paper, ink, pale ink, and from HUE on, again and again, colours that the eye tells apart. */
enum { HUE = 3, HUES = 8 };
static const sel_colour colours[HUE + HUES] = {
    {255, 255, 255}, {40, 40, 40},  {225, 225, 225}, {0, 90, 160},   {200, 70, 30}, {30, 130, 80},
    {130, 60, 150},  {170, 120, 0}, {0, 140, 160},   {200, 60, 120}, {90, 90, 90}};

/* The drawing function's put(x, y, width, height, colour) fills a rectangle, whose upper left
 * corner is at x, y; put(x, y, text, part, colour) writes, with `part` of the text's width left of
 * x. Upvalues: the canvas, and its pixels per pixel of the picture. */
static int put(lua_State *L) {
    sel_canvas *canvas = lua_touserdata(L, lua_upvalueindex(1));
    const int fine = (int)lua_tointeger(L, lua_upvalueindex(2));
    const int number = (int)luaL_checkinteger(L, 5);
    const sel_colour colour = colours[number < HUE ? number : HUE + (number - HUE) % HUES];
    const int x = (int)lround(fine * luaL_checknumber(L, 1));
    const int y = (int)lround(fine * luaL_checknumber(L, 2));
    if (lua_type(L, 3) == LUA_TSTRING) {
        const char *text = lua_tostring(L, 3);
        const double left = sel_canvas_text_width(text, 2 * fine) * luaL_checknumber(L, 4);
        sel_canvas_text(canvas, x - (int)left, y, 2 * fine, text, colour);
    } else {
        sel_canvas_fill(canvas, x, y, (int)lround(fine * luaL_checknumber(L, 3)),
                        (int)lround(fine * luaL_checknumber(L, 4)), colour);
    }
    return 0;
}

/* Makes each pixel the mean of fine x fine; they are read before they are written over. */
static void shrink(sel_canvas *canvas, int fine) {
    const int wide = canvas->width, parts = fine * fine;
    canvas->width /= fine;
    canvas->height /= fine;
    for (int i = 0; i < canvas->width * canvas->height; i++) {
        const int first = i / canvas->width * fine * wide + i % canvas->width * fine;
        int sum[3] = {0, 0, 0};
        for (int k = 0; k < parts; k++) {
            const sel_colour one = canvas->pixels[first + k / fine * wide + k % fine];
            sum[0] += one.r, sum[1] += one.g, sum[2] += one.b;
        }
        canvas->pixels[i] = (sel_colour){(uint8_t)(sum[0] / parts), (uint8_t)(sum[1] / parts),
                                         (uint8_t)(sum[2] / parts)};
    }
}

int sel_host_draw(lua_State *L) {
    const int width = (int)luaL_checkinteger(L, 2), height = (int)luaL_checkinteger(L, 3);
    const int fine = (int)luaL_checkinteger(L, 4);
    sel_canvas canvas;
    sel_error error = {.status = SEL_OK};
    if (sel_canvas_create(width * fine, height * fine, colours[0], &canvas, &error)) {
        return luaL_error(L, "%s", error.text);
    }
    lua_pushlightuserdata(L, &canvas);
    lua_pushinteger(L, fine);
    lua_pushcclosure(L, put, 2);
    const bool drawn = lua_pcall(L, 1, 0, 0) == LUA_OK;
    if (drawn) {
        shrink(&canvas, fine);
        sel_canvas_write(&canvas, luaL_checkstring(L, 1), &error);
    }
    sel_canvas_free(&canvas);
    return !drawn ? lua_error(L) : error.status ? luaL_error(L, "%s", error.text) : 0;
}
