#!/bin/sh
# reattachment.sh -- length of the bubble behind the step, in step heights.
# usage: tools/reattachment.sh floor.csv H
# From the last profile along the floor: the place where the velocity turns positive for good.
set -eu
awk -F, -v H="$2" '
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    $1 != step { step = $1; n = 0 }
    { x[n] = $column["x"]; u[n++] = $column["velocity_x"] }
    END {
        for (i = n - 1; i > 0 && u[i - 1] > 0; i--) { }
        if (i == 0 || u[i] <= 0) { print "no reattachment" > "/dev/stderr"; exit 1 }
        place = x[i - 1] - u[i - 1] * (x[i] - x[i - 1]) / (u[i] - u[i - 1])
        printf "%.4f\n", (place - H) / (H / 2)
    }' "$1"
