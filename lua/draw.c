/* draw.c -- pictures that Lua draws: plots of a sweep, masks at the prompt. */
#include <math.h>
#include "engine/output/picture.h"
#include "lua/state.h"

/* Drawn FINE times as large, each pixel is the mean of FINE x FINE. */
enum { FINE = 3, LETTER = 2 * FINE };

/* Paper, ink, pale ink, and from HUE on, again and again, colours that the eye tells apart. */
enum { HUE = 3, HUES = 8 };
static const sel_colour colours[HUE + HUES] = {
    {255, 255, 255}, {40, 40, 40},  {225, 225, 225}, {0, 90, 160},   {200, 70, 30}, {30, 130, 80},
    {130, 60, 150},  {170, 120, 0}, {0, 140, 160},   {200, 60, 120}, {90, 90, 90}};

/* The drawing function's put(x, y, width, height, colour) fills a rectangle, whose upper left
 * corner is at x, y; put(x, y, text, part, colour) writes, with `part` of the text's width left of
 * x. */
static int put(lua_State *L) {
    sel_canvas *canvas = lua_touserdata(L, lua_upvalueindex(1));
    const int number = (int)luaL_checkinteger(L, 5);
    const sel_colour colour = colours[number < HUE ? number : HUE + (number - HUE) % HUES];
    const int x = (int)lround(FINE * luaL_checknumber(L, 1));
    const int y = (int)lround(FINE * luaL_checknumber(L, 2));
    const double last = luaL_checknumber(L, 4);
    if (lua_type(L, 3) == LUA_TSTRING) {
        const char *text = lua_tostring(L, 3);
        const int left = (int)(last * sel_canvas_text_width(text, LETTER));
        sel_canvas_text(canvas, x - left, y, LETTER, text, colour);
    } else {
        const int width = (int)lround(FINE * luaL_checknumber(L, 3));
        sel_canvas_fill(canvas, x, y, width, (int)lround(FINE * last), colour);
    }
    return 0;
}

/* In place: pixels are read before they are written over. */
static void shrink(sel_canvas *canvas) {
    const int wide = canvas->width;
    canvas->width /= FINE;
    canvas->height /= FINE;
    for (int i = 0; i < canvas->width * canvas->height; i++) {
        const sel_colour *first =
            canvas->pixels + i / canvas->width * FINE * wide + i % canvas->width * FINE;
        sel_colour mean = *first;
        for (int k = 1; k < FINE * FINE; k++)
            mean = sel_colour_over(first[k / FINE * wide + k % FINE], 1.0 / (k + 1), mean);
        canvas->pixels[i] = mean;
    }
}

int sel_host_draw(lua_State *L) {
    sel_canvas canvas = {.width = FINE * (int)luaL_checkinteger(L, 2),
                         .height = FINE * (int)luaL_checkinteger(L, 3)};
    sel_error error = {.status = SEL_OK};
    canvas.pixels =
        lua_newuserdatauv(L, sizeof(sel_colour) * (size_t)(canvas.width * canvas.height), 0);
    sel_canvas_fill(&canvas, 0, 0, canvas.width, canvas.height, colours[0]);
    lua_pushvalue(L, 4);
    lua_pushlightuserdata(L, &canvas);
    lua_pushcclosure(L, put, 1);
    lua_call(L, 1, 0);
    shrink(&canvas);
    sel_canvas_write(&canvas, luaL_checkstring(L, 1), &error);
    return sel_host_result(L, &error);
}
