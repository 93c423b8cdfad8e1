/* noise.h -- sel.noise as a look-up of functions. */
#ifndef SEL_NOISE_LOOKUP_H
#define SEL_NOISE_LOOKUP_H

#include "engine/lookup.h"

/* noise(seed, x, y, z) in [-1, 1]; see engine/physics/noise.h. Fails where x, y or z is no number
 * or too large to have a fraction. */
extern const sel_lookup sel_noise_lookup;

#endif
