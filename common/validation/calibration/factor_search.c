/* SPDX-License-Identifier: MIT */
#include "validation/calibration/factor_search.h"

#include <math.h>
#include <stdbool.h>

#define FIRST_STEP 0.5 /* of the logarithm */
#define NEXT_STEP 0.7
#define ROUNDS 24 /* the last step is 0.01 % */
#define LEAST_GAIN 1e-9
#define MOST_MOVES 64 /* of one value in one direction: more than its range has steps */

/* true: the value has moved. */
static bool turn(struct search_value *value, double factor, search_cost_fn cost, void *context,
                 double *best)
{
    bool moved = false;
    for (int i = 0; i < MOST_MOVES; i++) {
        double kept = value->value;
        value->value = fmax(value->least, fmin(value->most, kept * factor));
        double next = cost(context);
        if (!(next < *best - LEAST_GAIN)) {
            value->value = kept;
            return moved;
        }
        *best = next;
        moved = true;
    }
    return moved;
}

double factor_search(struct search_value *values, size_t count, search_cost_fn cost, void *context)
{
    double best = cost(context), step = FIRST_STEP;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < count; i++)
            if (!turn(&values[i], exp(step), cost, context, &best))
                turn(&values[i], exp(-step), cost, context, &best);
        step *= NEXT_STEP;
    }
    return best;
}
