#!/bin/sh
# run.sh -- what happens when a rank fails, is stopped or is told what is wrong: one message, no rank is
# left, and the last checkpoint goes on. Prints TAP.
# usage: BUILD=build run.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
. tests/ranks/common.sh

cat >"$work/long.lua" <<'END'
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params { steps = 100000000, wrong = "", from = 1 }
local function source(y, t)
  if p.wrong == "law" and y > 50 and t > p.from then error "there is no such source" end
  return math.sin(y + t)
end
return sel.heat {
  size = { 64, 64 }, diffusivity = 1, dt = 0.2, source = source, precision = "f64",
  regions = { { name = "walls", where = shape.faces, law = law.fixed { p.wrong == "rank" and
    tonumber(os.getenv "OMPI_COMM_WORLD_RANK") or 0 } } },
  stop = { steps = p.steps },
  output = { out.checkpoint { every = 50 }, out.balance { every = 10 } },
}
END

# Ranks with rows of planes: in cell {1, 6, 0} rank 1 fails, and in {2, 1, 3}, which comes later, rank 0.
cat >"$work/cells.lua" <<'END'
local sel = require "selenite"
return sel.rule {
  size = { 4, 8, 8 }, periodic = { "x", "y", "z" }, state = { n = "i32" },
  initial = { n = function(x, y, z)
    if x > 1 and x < 2 and y > 6 and y < 7 and z < 1 then return 0.5 end
    if x > 2 and x < 3 and y > 1 and y < 2 and z > 3 and z < 4 then return 0.25 end
    return 0
  end },
  rule = function(c) return { n = c.n } end, stop = { steps = 2 },
}
END
first_cell_is_named() {
    exits 1 "$selenite" run "$work/cells.lua" --ranks "$1" --threads 1 --quiet --backend "$backend" \
        -o "$work/cells" 2>"$work/said" || return 1
    cat "$work/said"
    grep -q "got 0.5 in cell {1, 6, 0}" "$work/said" && [ "$(wc -l <"$work/said")" = 1 ]
}
ok "the first cell of the grid that is wrong is named: one rank" first_cell_is_named 1
SELENITE_ACROSS=2
export SELENITE_ACROSS
ok "the first cell of the grid that is wrong is named: four ranks that divide planes" first_cell_is_named 4
unset SELENITE_ACROSS

# On the upper end, which the last ranks have, the law of the first region fails; on the lower end that
# of the second.
cat >"$work/laws.lua" <<'END'
local sel = require "selenite"
local shape, law = sel.shape, sel.law
local p = sel.params { from = 0 }
local function fails(name)
  return function(x, t)
    if x > 3 and t >= p.from then error("the " .. name .. " law fails") end
    return x
  end
end
return sel.heat {
  size = { 6, 8, 12 }, diffusivity = 1, dt = 0.1,
  regions = {
    { name = "first", where = shape.face "z+", law = law.fixed { fails "first" } },
    { name = "second", where = shape.face "z-", law = law.flux { fails "second" } },
    { name = "rest", where = shape.rest, law = law.insulated {} },
  },
  stop = { steps = 20 },
}
END
# says_where SCENARIO FROM RANKS: it fails; what it says is in said.
says_where() {
    exits 1 "$selenite" run "$work/$1.lua" "from=$2" --ranks "$3" --threads 1 --quiet \
        --backend "$backend" -o "$work/$1" --force 2>"$work/said" || return 1
    cat "$work/said"
}
first_law_is_named() {
    says_where laws "$1" "$2" || return 1
    grep -q "the first law fails" "$work/said" && ! grep -q "the second law fails" "$work/said"
}
for from in 0 0.5; do
    for ranks in 1 4; do
        ok "the first law that fails is named, from t = $from on: ranks $ranks" \
            first_law_is_named $from $ranks
    done
done

# Only rows of the upper ranks get rain that is negative: from the start on, and from t = 3 on, which
# the check of the last step does not see.
cat >"$work/rain.lua" <<'END'
local sel = require "selenite"
local p = sel.params { from = 0 }
return sel.aqua {
  size = { 8, 40 }, alpha = 0.2, dt = 1, ground = 1,
  rain = function(x, y, t) return t > p.from and t < 8 and 30 - y or 5 end,
  regions = { { where = sel.shape.faces, law = sel.law.wall {} } },
  stop = { steps = 20 },
}
END
first_rain_is_named() {
    says_where rain "$1" "$2" || return 1
    grep -qE "rain is negative, -0.5, at x=0.5, y=30.5, t=$3( \(in step 4\))?$" "$work/said" && [ "$(wc -l <"$work/said")" = 1 ]
}
for ranks in 1 3; do
    ok "rain that is negative on one of the ranks is named, at the start: ranks $ranks" \
        first_rain_is_named 0 $ranks 0.5
    ok "rain that is negative on one of the ranks is named, in a step: ranks $ranks" \
        first_rain_is_named 3 $ranks 3.5
done

# A round basin whose curved wall moves: mass is returned every 64 steps, with sums over the ranks. The
# law fails then, in rows of the last rank alone.
cat >"$work/basin.lua" <<'END'
local sel = require "selenite"
local shape, law = sel.shape, sel.law
local p = sel.params { from = 64 }
return sel.lbm {
  lattice = "D2Q9", size = { 32, 32 }, nu = 0.05,
  regions = { {
    name = "wall", where = shape.rest - shape.ball { centre = { 16, 16 }, radius = 13.3 },
    law = law.wall { scheme = "interpolated", velocity = { function(x, y, t)
      if y > 28 and t > p.from and t < p.from + 1 then error "the wall fails" end
      return 0.01 * (16 - y) / 13
    end, 0 } },
  } },
  stop = { steps = 200 },
}
END
wall_is_named() {
    says_where basin 64 "$1" && grep -q "the wall fails" "$work/said" && [ "$(wc -l <"$work/said")" = 1 ]
}
for ranks in 1 3; do
    ok "a wall of a closed region that fails on one rank, when its mass is returned: ranks $ranks" \
        wall_is_named $ranks
done

# Ranks with rows of planes: the law of the lid fails first at a place of rank 1, then at one of rank
# 0, which comes later in the grid; the law of the floor, which comes after it, at places of all.
cat >"$work/flow.lua" <<'END'
local sel = require "selenite"
local shape, law = sel.shape, sel.law
local p = sel.params { from = 0 }
local function lid(y, z, t)
  if t >= p.from and y > 7 and y < 8 and z > 1 and z < 2 then error("the lid fails at once") end
  if t >= p.from and y > 1 and y < 2 and z > 3 and z < 4 then error("the lid fails later") end
  return 0, 0.01 * t, 0
end
local function floor(t)
  if t >= p.from then error("the floor fails") end
  return 0, 0, 0
end
return sel.lbm {
  lattice = "D3Q19", size = { 6, 10, 10 }, nu = 0.1,
  regions = {
    { name = "walls", where = shape.faces, law = law.wall {} },
    { name = "lid", where = shape.face "x+", law = law.wall { velocity = lid } },
    { name = "floor", where = shape.face "z-" + shape.face "y-", law = law.wall { velocity = floor } },
  },
  stop = { steps = 8 },
}
END
first_place_is_named() {
    exits 1 "$selenite" run "$work/flow.lua" "from=$1" --ranks "$2" --threads 1 --quiet \
        --backend "$backend" -o "$work/flow" --force 2>"$work/said" || return 1
    cat "$work/said"
    grep -q "the lid fails at once" "$work/said" && ! grep -qE "fails later|the floor fails" "$work/said"
}
SELENITE_ACROSS=2
export SELENITE_ACROSS
for from in 0 5; do
    for ranks in 2 4; do
        ok "the first place at which laws of a flow fail is named, from t = $from on: ranks $ranks" \
            first_place_is_named $from $ranks
    done
done
unset SELENITE_ACROSS

# In one step only, in the upper third of the channel, a law has no value: that of an inlet or of a
# wall, an acceleration, or a velocity by a control that a hook sets; as a program or by Lua.
cat >"$work/moment.lua" <<'END'
local sel = require "selenite"
local shape, law, out = sel.shape, sel.law, sel.out
local p = sel.params { what = "", lua = false, at = 70.25, balance = false, more = false }
local function root(y, t, drive)
  local far = p.what == "control" and drive or (t - p.at) ^ 2
  return math.sqrt(far - 0.3 + (y < 16 and 1e5 or 0))
end
local function failing(y, t, drive)
  local far = p.what == "control" and drive or (t - p.at) ^ 2
  if y > 16 and far < 0.3 then error("no value at " .. y) end
  return root(y, t, drive)
end
local value = p.lua and failing or root
local function only(what, scale, constant)
  if p.what ~= what then return constant end
  if what == "control" then return { function(y, drive) return scale * value(y, 0, drive), 0 end } end
  if what == "wall" then return function(y, t) return 0, scale * value(y, t, 0) end end
  return { function(y, t) return scale * value(y, t, 0), 0 end }
end
local output = { out.vtk { fields = { "velocity", "pressure" }, every = 30 } }
if p.balance then
  output[2] = out.balance { every = 10 }
  output[3] = out.force { name = "force", region = "walls", every = 10 }
end
if p.more then -- so that steps 68 and 69 are observed
  output[4] = out.reduce { name = "even", field = "density", op = "sum", every = 34 }
  output[5] = out.reduce { name = "odd", field = "density", op = "sum", every = 23 }
end
return sel.lbm {
  lattice = "D2Q9", size = { 20, 24 }, nu = 0.1, precision = "f64", controls = { drive = 1 },
  acceleration = p.what == "field" and only("field", 1e-8)[1] or nil,
  regions = {
    { name = "walls", where = shape.faces, law = law.wall { velocity = only("wall", 1e-4, { 0, 0 }) } },
    { name = "inlet", where = shape.face "x-",
      law = law.velocity(only("control", 1e-4, only("inlet", 1e-4, { 0.01, 0 }))) },
    { name = "outlet", where = shape.face "x+", law = law.pressure { 0 } },
  },
  hooks = { { every = 35, call = function(run) if run.step == 70 then run:set("drive", 0) end end } },
  stop = { steps = 120 }, output = output,
}
END
# One rank's message, last whole state and files.
fails_in_one_part() {
    rm -rf "$work/one"
    exits 1 run "$work/moment.lua" "$@" -o "$work/one" 2>"$work/said.one" || return 1
    cat "$work/said.one"
    grep -qE 'at x=[0-9.]*, y=(1[56]|24)' "$work/said.one" || return 1
    for ranks in 2 3; do
        rm -rf "$work/many"
        exits 1 run "$work/moment.lua" "$@" --ranks $ranks -o "$work/many" 2>"$work/said" || return 1
        { diff "$work/said.one" "$work/said" && same "$work/one" "$work/many"; } ||
            { echo "in $ranks ranks"; return 1; }
    done
}
forces_of_a_failed_run_do_not_depend_on_other_outputs() {
    for more in false true; do
        exits 1 run "$work/moment.lua" what=inlet balance=true more=$more -o "$work/$more" 2>"$work/said" || return 1
    done
    cmp "$work/false/force.csv" "$work/true/force.csv" && grep -q '^60,' "$work/true/force.csv"
}
ok "forces of a failed run do not depend on other outputs" forces_of_a_failed_run_do_not_depend_on_other_outputs
for way in inlet 'inlet lua=true' 'inlet balance=true' wall field 'field lua=true' 'field balance=true' control; do
    # shellcheck disable=SC2086 # ways are words
    ok "a law of a flow that fails for a moment in one rank: $way" fails_in_one_part what=$way
done

# Waits until there is a file, a minute at most: ranks that share devices may begin late.
comes() {
    for _ in $(seq 600); do
        [ -e "$1" ] && return 0
        sleep 0.1
    done
    echo "there is no $1"
    return 1
}

# begin RANKS: a run that does not end; $launcher is its process, its ranks are below mpirun.
begin() {
    rm -rf "$work/many"
    "$selenite" run "$work/long.lua" --ranks "$1" --threads 1 --quiet --backend "$backend" -o "$work/many" \
        2>"$work/said" &
    launcher=$!
    comes "$work/many/checkpoint.sel" || { kill -9 $launcher; return 1; }
}
# The processes that process $1 has started, in their order.
children() { grep -ls "^PPid:[[:space:]]*$1\$" /proc/[0-9]*/status | tr -cd '0-9\n' | sort -n; }
ranks_of_launcher() { children "$(children "$launcher")"; }

has_ended() { case $(cut -d' ' -f3 "/proc/$1/stat" 2>/dev/null) in '' | Z) ;; *) return 1 ;; esac; }

# ends STATUS: the run ends within a minute, however busy the machine, with that status, and no rank is left.
ends() {
    left=$(ranks_of_launcher)
    for _ in $(seq 300); do
        ! has_ended "$launcher" || break
        sleep 0.2
    done
    if ! has_ended "$launcher"; then
        # shellcheck disable=SC2046,SC2086  # processes are words
        kill -9 $left $(children "$launcher") "$launcher"
        wait "$launcher"
        echo "it took longer"
        return 1
    fi
    exits "$1" wait "$launcher" || return 1
    sleep 0.3
    for process in $left; do
        has_ended "$process" || { echo "rank $process is left" && return 1; }
    done
}

# What is in the directory goes on in one rank, and is what a straight run gives.
goes_on_straight() {
    step=$(sed -n 's/.*checkpoint of step \([0-9]*\):.*/\1/p' "$work/many/run.log" | tail -n 1)
    steps=$((step + 110))
    rm -rf "$work/one"
    run "$work/long.lua" steps=$steps -o "$work/one" &&
        run "$work/long.lua" steps=$steps --resume -o "$work/many" &&
        same "$work/one" "$work/many" '*.sel'
}

killed() { # SIGKILL reaches rank $1 of 3 after $2 seconds
    begin 3 || return 1
    sleep "$2"
    kill -9 "$(ranks_of_launcher | sed -n "$1p")" || { kill -9 "$launcher"; return 1; }
    if ends 137 && [ "$(wc -l <"$work/said")" -le 1 ] && goes_on_straight; then
        return 0
    fi
    cat "$work/said"
    return 1
}
ok "a rank that is killed ends the run, and the checkpoint goes on: the first" killed 1 0.3
ok "a rank that is killed ends the run, and the checkpoint goes on: the second" killed 2 0.75
ok "a rank that is killed ends the run, and the checkpoint goes on: the third" killed 3 0.1

stopped() {
    begin 3 && kill "-$1" $launcher && ends 130 && [ "$(wc -l <"$work/said")" = 1 ] &&
        [ "$(json "$work/many/run.json" stopped_by)" = '"interrupted"' ] && goes_on_straight
}
ok "Ctrl-C ends all ranks in order" stopped INT
ok "SIGTERM ends all ranks in order" stopped TERM

# signalled RANK...: SIGTERM to these of 3 ranks, one shortly after the other.
signalled() {
    begin 3 || return 1
    all=$(ranks_of_launcher)
    for one; do
        kill -TERM "$(echo "$all" | sed -n "${one}p")"
        sleep 0.1
    done
    ends 130 && [ "$(wc -l <"$work/said")" = 1 ] &&
        [ "$(json "$work/many/run.json" stopped_by)" = '"interrupted"' ] && goes_on_straight
}
ok "SIGTERM to one rank ends all in order: the first" signalled 1
ok "SIGTERM to one rank ends all in order: the third" signalled 3
ok "SIGTERM to all ranks ends them in order" signalled 3 2 1

# Rank $1 of 3 is stopped: the others name it, wait for it and end.
one_is_stopped() {
    export SELENITE_PATIENCE=15
    begin 3
    begun=$?
    unset SELENITE_PATIENCE
    [ $begun = 0 ] || return 1
    one=$(ranks_of_launcher | sed -n "$1p")
    kill -STOP "$one"
    ends 5
    status=$?
    cat "$work/said"
    [ $status = 0 ] && [ "$(grep -c 'is stopped' "$work/said")" = 2 ] &&
        grep "^rank $(($1 - 1)) is stopped: continue it by kill -CONT $one on" "$work/said" &&
        grep "^rank $(($1 - 1)) is stopped: the run ends" "$work/said" && goes_on_straight
}
ok "a rank that is stopped is named, and ends the run: the first" one_is_stopped 1
ok "a rank that is stopped is named, and ends the run: the second" one_is_stopped 2

# One that is continued goes on.
one_is_continued() {
    begin 3 || return 1
    one=$(ranks_of_launcher | sed -n 2p)
    kill -STOP "$one"
    for _ in $(seq 600); do
        ! grep -q 'rank 1 is stopped' "$work/said" || break
        sleep 0.1
    done
    kill -CONT "$one"
    rm "$work/many/checkpoint.sel"
    comes "$work/many/checkpoint.sel" && kill -TERM "$one"
    ends 130 && grep 'rank 1 is stopped' "$work/said" && goes_on_straight
}
ok "a rank that is stopped and continued goes on" one_is_continued

# Rank 1 of 3 does this instead of joining the others.
one_does_not_join() {
    cat >"$work/join.sh" <<END
[ "\$OMPI_COMM_WORLD_RANK" != 1 ] || $1
exec "$selenite" run "$work/long.lua" --threads 1 --quiet --backend "$backend" -o "$work/many"
END
    SELENITE_PATIENCE=4 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout -k 5 60 \
        mpirun --oversubscribe -n 3 sh "$work/join.sh" >"$work/said" 2>&1
    status=$?
    echo "exit status $status"
    cat "$work/said"
    [ $status != 0 ] && [ $status != 124 ] && [ $status != 137 ]
}
one_hangs() {
    one_does_not_join 'exec sleep 1000' &&
        grep '^MPI does not start: not all ranks have joined within 4 s' "$work/said"
}
ok "a rank that ends before it has joined ends the others" one_does_not_join 'exit 0'
ok "a rank that hangs before it has joined ends the others" one_hangs

# fails_alike STATUS ARGUMENTS...: three ranks say what one says, once. Of the places at which a law of
# heat fails a device names the one that it comes to first.
fails_alike() {
    status=$1
    shift
    rm -rf "$work/one" "$work/many"
    exits "$status" run "$@" -o "$work/one" 2>"$work/said.one" || return 1
    exits "$status" run "$@" -o "$work/many" --ranks 3 2>"$work/said" || return 1
    mkdir -p "$work/one" "$work/many" # a scenario that is wrong writes nothing
    [ "$backend" = cpu ] || sed -i 's/at x=[^,]*, y=[^,)]*//' "$work/said.one" "$work/said"
    diff "$work/said.one" "$work/said" && diff -r -x run.json -x run.log "$work/one" "$work/many"
}
ok "a law that fails in the part of one rank" fails_alike 1 "$work/long.lua" wrong=law from=20
ok "a rule that makes NaN in one cell, reduced" fails_alike 3 tests/runs/not_a_number.lua
ok "a flow that diverges" fails_alike 3 scenarios/cavity2d.lua N=64 Re=1e7 U=0.3

cat >"$work/potential.lua" <<'END'
local sel = require "selenite"
local p = sel.params { wrong = "" }
local function failing(what)
  return function(x, y)
    if p.wrong == what and y > 50 then error("there is no such " .. what) end
    return math.sin(y + x)
  end
end
return sel.poisson {
  size = { 64, 64 }, rhs = failing "rhs", initial = { potential = failing "potential" },
  regions = { { where = sel.shape.faces, law = p.wrong == "law" and sel.law.insulated {} or sel.law.fixed { 0 } } },
}
END
for what in rhs potential law; do
    ok "a problem whose $what is wrong" fails_alike 1 "$work/potential.lua" wrong=$what
done

# What each rank finds in its own planes: the first place of the grid, and how many there are.
cat >"$work/places.lua" <<'END'
local sel = require "selenite"
local shape, law = sel.shape, sel.law
local p = sel.params { wrong = "", solver = "aqua" }
local function at(what, there, elsewhere)
  return function(x, y) if p.wrong == what and y > 40 and x > 20 then return there end return elsewhere end
end
local function inside(x, y)
  if y > 40 then error "there is no such place" end
  return x > 60
end
local water = p.solver == "aqua"
local regions = { { name = "edges", where = shape.faces, law = water and law.open {} or law.insulated {} } }
if p.wrong == "shape" or p.wrong == "size" then
  local where = p.wrong == "shape" and shape.inside(inside) or shape.ball { centre = { 20, 20 }, radius = 0.1 }
  regions[2] = { name = "hole", where = where, law = water and law.wall {} or law.fixed { 0 } }
end
return sel[p.solver] {
  size = { 64, 64 }, dt = 0.1, stop = { steps = 2 }, regions = regions,
  ground = water and at("ground", 2e9, 5) or nil, alpha = water and at("alpha", 2, 0.1) or nil,
  conductivity = not water and at("conductivity", -1, 1) or nil, capacity = not water and at("capacity", 0, 1) or nil,
}
END
for what in shape size ground alpha; do
    ok "run-off whose $what is wrong in the parts of some ranks" fails_alike 1 "$work/places.lua" wrong=$what
done
for what in conductivity capacity; do
    ok "a body whose $what is wrong in the parts of some ranks" \
        fails_alike 1 "$work/places.lua" solver=heat wrong=$what
done

cat >"$work/rule.lua" <<'END'
local sel = require "selenite"
local p = sel.params { how = "", from = 15 }
local function compiled(c, y, t)
  if p.how == "error" and y > p.from and t > 13 then error "too far" end
  return { n = c.n + (p.how == "range" and y > p.from and 20 or 0), u = c(0, 2).u + c(2, -2).u * 0.1 }
end
local function by_lua(c, y, t)
  if y > 15 and t > 13 then error("Lua is at " .. math.floor(y)) end
  return { u = tonumber(string.format("%.3f", c(0, 1).u)) }
end
return sel.rule {
  size = { 40, 24 }, periodic = { "x", "y" }, dt = 1, state = { u = "real", n = "u8" }, main = "u",
  initial = { u = function(x, y) return sel.noise(3, x / 4, y / 4) end },
  rule = p.how == "lua" and by_lua or compiled, stop = { steps = 40 },
  output = { sel.out.vtk { fields = { "u", "n" }, every = 5 } },
}
END
ok "a rule that calls error" fails_alike 1 "$work/rule.lua" how=error
ok "a rule that calls error in each rank" fails_alike 1 "$work/rule.lua" how=error from=2
chosen=$backend backend=cpu
ok "a rule by Lua that calls error" fails_alike 1 "$work/rule.lua" how=lua
backend=$chosen
ok "a rule whose number does not fit" fails_alike 3 "$work/rule.lua" how=range from=12
ok "a rule whose number does not fit in each rank" fails_alike 3 "$work/rule.lua" how=range from=2

# Functions write in place: what is refused has to be known before the first of them.
cat >"$work/inputs.lua" <<'END'
local sel = require "selenite"
local shape, law = sel.shape, sel.law
local p = sel.params { how = "data" }
local function fails(y, t) return math.sqrt(1 - (t - 1) * (y - 3) / 8) end
return sel.rule {
  size = { 40, 24 }, dt = 0.5, exact = true, state = { n = "u8", u = "real" }, stop = { steps = 40 },
  data = { d = 1, k = p.how == "data" and fails or 1 }, derived = { w = function(c) return 2 * c.k + c.u end },
  rule = {
    function(c) return { n = math.floor(c.n + c.k) } end,
    function(c) return { n = (c.n + 1) % 200, u = c(0, 1).u + c.d * c.k } end,
  },
  regions = {
    { where = shape.faces, law = { n = law.wall {}, u = p.how == "law" and law.fixed { fails } or law.mirror {} } },
    { where = shape.box { min = { 9, 2 }, max = { 30, 22 } },
      law = { n = p.how == "range" and law.fixed { function(y, t) return t < 1.5 and 3 or 240 + math.floor(y) end }
                  or law.wall {} } },
  },
  output = { sel.out.vtk { fields = { "n", "u", "w" }, every = 1 } },
}
END
ok "data of a rule without a value in some ranks" fails_alike 1 "$work/inputs.lua" how=data
ok "a law of a rule without a value in some ranks" fails_alike 1 "$work/inputs.lua" how=law
ok "a law of a rule whose number does not fit in some ranks" fails_alike 1 "$work/inputs.lua" how=range

full() {
    begin 2 || return 1
    prlimit --pid "$(ranks_of_launcher | sed -n 1p)" --fsize=1
    ends 4 && [ "$(wc -l <"$work/said")" = 1 ]
}
ok "a full disk" full

# says STATUS TEXT ARGUMENTS...: one line, with that text.
says() {
    status=$1 text=$2
    shift 2
    exits "$status" "$@" 2>"$work/said" && grep -q "$text" "$work/said" &&
        [ "$(wc -l <"$work/said")" = 1 ] && return 0
    cat "$work/said"
    return 1
}
ok "ranks that have read different scripts" says 1 'rank 1 has read other .* than rank 0' \
    run "$work/long.lua" wrong=rank --trust --ranks 2 -o "$work/other"
ok "more ranks than the grid has room for" says 2 'cut along y' \
    run scenarios/aqua_wave.lua N=48 steps=2 --ranks 3 -o "$work/other"
ok "more ranks across than there are" cut_in 2 says 2 '.*3 ranks cannot be divided into rows of 2 along y, which has 12 cells; use a divisor of 3' \
    run scenarios/cavity3d.lua N=12 --backend cpu --ranks 3 -o "$work/other"
ok "ranks across a plane" cut_in 2 says 2 'a grid of 2 dimensions is cut along y anyway' \
    run scenarios/aqua_wave.lua N=48 --backend cpu --ranks 2 -o "$work/other"
# cut_in leaves the variable out where it is given no number.
across_nothing() {
    SELENITE_ACROSS='' && export SELENITE_ACROSS
    "$@"
    got=$?
    unset SELENITE_ACROSS
    return $got
}
ok "ranks across that are no number: ''" across_nothing says 2 'a whole number from 1 to 256' \
    run scenarios/cavity3d.lua N=12 --backend cpu --ranks 2 -o "$work/other"
for across in 0 257 2x; do
    ok "ranks across that are no number: '$across'" cut_in "$across" says 2 'a whole number from 1 to 256' \
        run scenarios/cavity3d.lua N=12 --backend cpu --ranks 2 -o "$work/other"
done
ok "a scenario that is wrong is reported once" says 2 'unknown parameter' \
    run "$work/long.lua" nothing=1 --ranks 3 -o "$work/other"
ranks_of_devices() {
    if "$selenite" info | grep -q '^sel.lbm *cuda *[0-9]*:'; then
        run tests/checkpoint/channel.lua steps=10 --ranks all -o "$work/all"
    else
        says 5 'a rank for each GPU, and there is none' \
            run tests/checkpoint/channel.lua --ranks all -o "$work/all"
    fi
}
ok "a rank for each GPU" ranks_of_devices
ok "a scenario from standard input" says 2 'give the scenario as a file' \
    run - --ranks 2 -o "$work/other"
mkdir -p "$work/bin" && cp "$selenite" "$work/bin"
ok "without the plug-in it says what to install" says 5 'install libopenmpi-dev' \
    "$work/bin/selenite" run "$work/long.lua" --ranks 2 --quiet -o "$work/other"

# A rank that cannot write, number $1 of 3: one message, and images that are whole.
cannot_write() {
    rm -rf "$work/many"
    "$selenite" run tests/ranks/image.lua steps=1000000 --ranks 3 --threads 1 --quiet --backend cpu \
        -o "$work/many" 2>"$work/said" &
    launcher=$!
    comes "$work/many/packed/packed_00000020.vti" || return 1
    prlimit --pid "$(ranks_of_launcher | sed -n "$1p")" --fsize=1
    if ! ends 4 || [ "$(wc -l <"$work/said")" != 1 ] ||
        ! grep -q '^cannot write .*: File too large' "$work/said" ||
        [ -n "$(find "$work/many" -name '*.tmp')" ]; then
        cat "$work/said"
        return 1
    fi
    last=$(find "$work/many/plain" -name '*.vti' | sort | tail -n 1)
    step=$(echo "$last" | sed 's/.*_0*\([0-9]*\).vti/\1/')
    rm -rf "$work/one"
    "$selenite" run tests/ranks/image.lua steps="$step" --quiet --backend cpu -o "$work/one" &&
        cmp "$work/one/plain/$(basename "$last")" "$last"
}
ok "a disk that is full for the second rank" cannot_write 2
ok "a disk that is full for the third rank" cannot_write 3
