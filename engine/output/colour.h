/* colour.h -- colour maps that the eye reads as even steps. */
#ifndef SEL_COLOUR_H
#define SEL_COLOUR_H

#include <stdint.h>

typedef struct sel_colour {
    uint8_t r, g, b; /* sRGB */
} sel_colour;

/* deep: dark blue over green to yellow, ever lighter; signed: blue, white at the middle, red; grey:
 * nearly black to white; water: pale to dark blue. */
typedef enum sel_colour_map {
    SEL_MAP_DEEP,
    SEL_MAP_SIGNED,
    SEL_MAP_GREY,
    SEL_MAP_WATER
} sel_colour_map;

enum { SEL_COLOURS = 256 };

/* The whole map, from the smallest value to the largest. */
void sel_colour_table(sel_colour_map map, sel_colour table[SEL_COLOURS]);

/* What is seen where a layer of a colour lies over another one: opacity 0 to 1. */
sel_colour sel_colour_over(sel_colour layer, double opacity, sel_colour below);

#endif
