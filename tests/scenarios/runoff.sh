# shellcheck shell=sh disable=SC2154
# runoff.sh -- run-off, terrain and rain against what is known of them.
# Read by run.sh, whose functions these use.

# 20 mm/h for two hours: 890 m down a slope of 5 % the depth is (r x n / sqrt(S))^(3/5).
film_has_mannings_depth() {
    for max in 10 3 0.5; do
        run scenarios/flood_channel.lua case=rain dx=10 slope=0.05 n=0.05 "max=$max" -o "$work/film" --force &&
            within "$(awk -F, '$4 == 885 { depth = $7 } END { print depth }' "$work/film/axis.csv")" \
                0.016833 0.00003 || return 1
    done
}

# aqua CHECK DIRECTORY ...: what a run-off has written.
aqua() { "${PYTHON:-/usr/bin/python3}" tests/scenarios/aqua.py "$@"; }

a_pulse_passes_on_a_plane() {
    run scenarios/aqua_plane.lua N=32 alpha=0.02 steps=800 below=8 -o "$work/plane" &&
        aqua plane "$work/plane" 0.02 1e-3 0.03 8
}

a_bowl_comes_to_its_level() {
    for equilibrium in fill mean mindiff; do
        run scenarios/bowl.lua N=24 equilibrium=$equilibrium -o "$work/bowl_$equilibrium" &&
            aqua bowl "$work/bowl_$equilibrium" 24 0.5 0.6 || return 1
    done
}

depressions_fill_to_their_brims() {
    run scenarios/depressions.lua dx=40 -o "$work/depressions" &&
        aqua depressions "$work/depressions" 40
}

the_valley_is_what_its_program_makes() {
    "${PYTHON:-/usr/bin/python3}" tools/valley.py "$work/valley.asc" &&
        cmp "$work/valley.asc" scenarios/valley.asc
}

# NODATA in the north-west, and a map: the terrain that edits are made to.
cat >"$work/edited.lua" <<'LUA'
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local dem = sel.raster "edited.asc"
local function square(x, y) return shape.box { min = { x, y }, max = { x + 0.3, y + 0.3 } } end
local function run(name, ground, rain)
  return sel.aqua {
    name = name, ground = ground, alpha = 0.2, dt = 2, rain = rain, stop = { steps = 100 },
    regions = { { name = "edge", where = shape.faces, law = law.open {} } },
    output = { out.grid { field = "ground" }, out.balance {} },
  }
end
local storm = sel.series { t = { 0, 100, 300 }, value = { 0, 36, 0 }, outside = "zero" }
return {
  run("raster", dem, 18),
  run("painted", sel.paint { dem, { square(500000.1, 6000020.6), 30 },
    { square(500000.5, 6000020.1), function(x, y) return dem(x, y) - 2 end } }, storm),
  run("function", function(x, y) return dem(x, y) + 1 end, function(x) return x - 5e5 end),
  run("by_lua", function(x, y) return tonumber(tostring(dem(x, y))) + 1 end,
      function(x, t) return t * (x - 5e5) end),
}
LUA

terrain_is_edited_and_keeps_its_gaps_and_its_map() {
    awk 'BEGIN { print "ncols 12\nnrows 9\nxllcorner 500000\nyllcorner 6000020"
        print "cellsize 0.1\nNODATA_value -9999"
        for (j = 0; j < 9; j++) { for (i = 0; i < 12; i++)
            printf "%s ", j < 4 && i < 4 && !(j == 2 && i == 2) ? -9999 : 10 + i / 4 + j / 8
            print "" } }' >"$work/edited.asc" &&
        printf 'PROJCS["somewhere",UNIT["Meter",1.0]]' >"$work/edited.prj" &&
        run "$work/edited.lua" -o "$work/edited" &&
        aqua edited "$work/edited" "$work/edited.asc" "$work/edited.prj"
}

# 200 s on cells of 0.01 m2. The last two: x is 0.66505 m on average, t 100 s.
check_sums_up_the_rain() {
    "$selenite" check "$work/edited.lua" --backend "$backend" >"$work/text" 2>&1 || return 1
    grep -E '^  rain +1 mm = 0\.00093 m3$' "$work/text" &&
        grep -E '^  rain +1\.25 mm = 0\.0012625 m3$' "$work/text" &&
        grep -E '^  rain +0\.0369474 mm = 3\.43611e-05 m3$' "$work/text" &&
        grep -E '^  rain +about 3\.69[0-9]* mm = 0\.00343[0-9]* m3 \(estimate of [0-9]* samples\)$' \
            "$work/text" && ! grep 'warning: .*rain' "$work/text" &&
        sed -n 's/^  largest rate of rain *//p' "$work/text" | head -n 3 |
        tr '\n' ' ' | grep -x '18 mm/h 35.82 mm/h 1.15 mm/h ' || return 1
    for rain in 2.8e-6 'function(t) return 40 * t end'; do
        sed "s|dem, 18)|dem, $rain)|" "$work/edited.lua" >"$work/strange_rain.lua"
        "$selenite" check "$work/strange_rain.lua" --backend "$backend" 2>&1 |
            grep 'warning: .*strange_rain.lua:[0-9]*: rain ' || return 1
    done
}

# Seconds of arc without a word on the map are warned of; as small a flume with a dx of its own is not.
a_grid_that_looks_like_degrees_is_warned_of() {
    for at in 13.2 0; do
        printf 'ncols 2\nnrows 2\nxllcorner %s\nyllcorner %s\ncellsize %s\n1 2 3 4\n' $at $at \
            "$([ $at = 0 ] && echo 0.01 || echo 0.000277777777778)" >"$work/small$at.asc"
        cat >"$work/small$at.lua" <<END
local sel = require "selenite"
return sel.aqua {
  ground = sel.raster "small$at.asc", alpha = 0.2, stop = { steps = 1 },
  regions = { { where = sel.shape.faces, law = sel.law.wall {} } },
}
END
        "$selenite" check "$work/small$at.lua" --backend "$backend" >"$work/small$at.txt" || return 1
    done
    grep 'warning: .*small13.2.lua:3: ground: small13.2.asc .* looks like degrees' "$work/small13.2.txt" &&
        grep 'gdalwarp -s_srs EPSG:4326 -t_srs EPSG:32633 -tr 31 31 -r bilinear' "$work/small13.2.txt" &&
        ! grep warning "$work/small0.txt"
}

# A discharge or rain that is more than a film carries, of 3/4 alpha dx^2/dt times the slope, piles up.
deep_water_in_run_off_is_warned_of() {
    cat >"$work/river.lua" <<'LUA'
local sel = require "selenite"
local shape, law = sel.shape, sel.law
local p = sel.params { dx = 10, q = 0, rain = 0, slope = 0.002, ny = 3, point = false, out = "open", soil = 0 }
local dx, width = p.dx, p.ny * p.dx
local laws = { open = law.open {}, level = law.level { 8 }, wall = law.wall {} }
return sel.aqua {
  ground = function(x) return 10 - p.slope * x end, size = { 1000 // dx, p.ny }, dx = dx, alpha = 0.2, dt = 0.2 * dx,
  depth_limit = 500, equilibrium = "mindiff", rain = p.rain, infiltration = p.soil,
  sources = p.q > 0 and { p.point and { name = "spring", at = { dx / 2, width / 2 }, discharge = p.q * width }
    or { where = shape.box { min = { 0, 0 }, max = { dx, width } }, discharge = p.q * width } } or nil,
  regions = { { name = "walls", where = shape.faces, law = law.wall {} },
              { name = "outlet", where = shape.face "x+", law = laws[p.out] } },
  stop = { steps = 10 },
}
LUA
    while read -r told arguments; do
        # shellcheck disable=SC2086  # words
        "$selenite" check "$work/river.lua" $arguments --backend "$backend" >"$work/river.txt" || return 1
        if [ "$told" = nothing ]; then
            ! grep warning "$work/river.txt" || { echo "$arguments"; return 1; }
        else
            grep "warning.*would stand about $told.*flood.lua has roughness" "$work/river.txt" ||
                { echo "$arguments"; cat "$work/river.txt"; return 1; }
        fi
    done <<'END'
265.m.deep.in.the.end.(after.37.h) q=2
131.m.deep.in.the.end.(after.18.5.h) q=2 dx=20
265.m.deep.in.the.end.(after.37.h) q=2 out=level
1.33.m.deep q=0.025
nothing q=0.014
nothing q=2 out=wall
nothing q=2 slope=-0.01
1.2.m.deep rain=100 slope=0.0025
nothing rain=100 slope=0.01
nothing rain=100 slope=0.0025 soil=60
nothing q=0.014 ny=30 point=true slope=0.02
89.m.deep q=0.5 ny=30 point=true
nothing q=5e-5 slope=0
0.133.m.deep q=0.001 slope=0
END
}

# As a user runs it, in a folder of his own with his own files; here rain alike everywhere.
a_storm_runs_on_files_beside_the_user() {
    root=$PWD
    mkdir "$work/own" && cp scenarios/valley.asc scenarios/storm.csv "$work/own" &&
        (cd "$work/own" && run "$root/scenarios/storm.lua" dem=valley.asc rain=storm.csv slant=0 \
            hours=5 film=5400 -o "$work/storm") &&
        [ -s "$work/storm/picture/picture_00009000.png" ]
}

cat >"$work/walls.lua" <<'LUA'
local sel = require "selenite"
local shape, law = sel.shape, sel.law
local H, still, moving = 8, law.wall {}, law.wall { velocity = { 0.01, 0 } }
local function channel(name, below, regions)
  return sel.lbm {
    name = name, lattice = "D2Q9", size = { 2, H + 2 * below }, tau = 0.8, precision = "f64",
    periodic = { "x" }, acceleration = { 1e-5, 0 }, regions = regions, stop = { steps = 5000 },
    output = { sel.out.profile { field = "velocity_x", points = 4 * H, every = 5000,
                                 from = { 1, below }, to = { 1, below + H } } },
  }
end
return {
  channel("faces", 0, { { where = shape.face "y-", law = still },
                        { where = shape.face "y+", law = moving } }),
  channel("solids", 2, { { where = shape.faces, law = still },
                         { where = shape.box { min = { 0, 0 }, max = { 2, 2 } }, law = still },
                         { where = shape.box { min = { 0, H + 2 }, max = { 2, H + 4 } },
                           law = moving } }),
}
LUA
