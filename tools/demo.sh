#!/bin/sh
# demo.sh -- run the sudden expansion and compare its bubble with the reference.
set -eu
program=${BUILD:-build}/selenite
directory=out/demo

"$program" run scenarios/sudden_expansion.lua -o "$directory" --force
tools/reattachment.sh "$directory/floor.csv" 64 | awk '{
    reference = 2.102
    error = 100 * ($1 / reference - 1)
    printf "reattachment length %.3f step heights; reference 2.102: %+.1f %%\n", $1, error
    exit error < -2 || error > 2
}'
echo "open $directory/vtk.pvd in ParaView; a picture is in $directory/picture"
