#!/bin/sh
# run.sh -- terrain as other programs write it: units, gaps and places of maps. Prints TAP.
# usage: BUILD=build run.sh
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
gdal_translate --version >/dev/null 2>&1 || {
    echo "ok terrain of other programs # SKIP gdal_translate is not installed"
    exit 0
}

# grid FILE X Y SIDE: an ASCII grid of 4 x 3 cells.
grid() {
    printf 'ncols 4\nnrows 3\nxllcorner %s\nyllcorner %s\ncellsize %s\nNODATA_value -9999\n' \
        "$2" "$3" "$4" >"$1"
    printf '100 101 102 103\n110 111 112 113\n120 121 122 123\n' >>"$1"
}

# aqua FILE [OPTIONS]: a script whose ground is a file, with these options of sel.raster and out.grid.
aqua() {
    cat <<END
local sel = require "selenite"
return sel.aqua {
  ground = sel.raster { "$1" ${2:+, $2} }, alpha = 0.2, dt = 1, stop = { steps = 1 },
  regions = { { name = "edge", where = sel.shape.faces, law = sel.law.wall {} } },
  output = { sel.out.grid { field = "ground" ${3:+, $3} } },
}
END
}

# says SCRIPT PATTERN...: check prints all of these.
says() {
    "$selenite" check "$1" --backend cpu >"$work/said.txt" 2>&1
    cat "$work/said.txt"
    shift
    for pattern in "$@"; do grep -q -- "$pattern" "$work/said.txt" || return 1; done
}

grid "$work/plain.asc" 980000 200000 10

feet_become_metres_and_a_grid_lies_on_the_one_read() {
    for code in 2263 2249 2222 6539; do
        case $code in 2222) side=3.048 ;; *) side=3.0480061 ;; esac
        gdal_translate -q -a_srs EPSG:$code "$work/plain.asc" "$work/feet.tif" &&
            aqua feet.tif "scale = 1" 'format = "tif"' >"$work/feet.lua" &&
            says "$work/feet.lua" "dx, dt  *${side%061}" "coordinates in .*foot .*read as metres" &&
            run "$work/feet.lua" --force -o "$work/feet" &&
            gdalinfo "$work/feet/grid/grid_00000001.tif" >"$work/info.txt" &&
            grep -q 'Origin = (980000.0000*,200030.0000*)' "$work/info.txt" &&
            grep -q 'Pixel Size = (10.0000*,-10.0000*)' "$work/info.txt" &&
            grep -q "\"EPSG\",$code\]\]\$" "$work/info.txt" &&
            grep -q 'Unit Type: m' "$work/info.txt" || return 1
    done
}

an_ascii_grid_keeps_its_prj_in_feet() {
    gdal_translate -q -of AAIGrid -a_srs EPSG:2263 "$work/plain.asc" "$work/foot.asc" &&
        aqua foot.asc "scale = 1" >"$work/foot.lua" &&
        run "$work/foot.lua" -o "$work/foot" &&
        head -6 "$work/foot/grid/grid_00000001.asc" | tr -d '\n' |
        grep 'xllcorner 980000yllcorner 200000cellsize 10N' &&
        cmp "$work/foot.prj" "$work/foot/grid/grid_00000001.prj"
}

# The ground of a GeoTIFF as ASCII reads back in the same place, for other programs too.
an_ascii_grid_of_a_geotiff_in_feet_says_so() {
    gdal_translate -q -a_srs EPSG:2263 "$work/plain.asc" "$work/feet.tif" &&
        aqua feet.tif "scale = 1" >"$work/feet.lua" &&
        run "$work/feet.lua" -o "$work/feet_asc" &&
        aqua feet_asc/grid/grid_00000001.asc "scale = 1" >"$work/again.lua" &&
        says "$work/again.lua" 'coordinates in US survey foot' 'dx, dt  *3.04801'
}

heights_follow_their_unit() {
    cat >"$work/cm.vrt" <<END
<VRTDataset rasterXSize="4" rasterYSize="3"><SRS>EPSG:25832</SRS>
<GeoTransform>500000, 10, 0, 5700030, 0, -10</GeoTransform>
<VRTRasterBand dataType="Float32" band="1"><UnitType>cm</UnitType><SimpleSource>
<SourceFilename relativeToVRT="1">plain.asc</SourceFilename></SimpleSource></VRTRasterBand></VRTDataset>
END
    gdal_translate -q "$work/cm.vrt" "$work/cm.tif" &&
        gdal_translate -q -a_srs EPSG:2263+6360 "$work/plain.asc" "$work/vertical.tif" &&
        aqua cm.tif >"$work/cm.lua" && aqua vertical.tif >"$work/vertical.lua" &&
        aqua cm.tif "scale = 3" >"$work/cm3.lua" &&
        says "$work/cm.lua" 'ground  *1 to 1.23 m' 'values in centimetre (0.01 m), read as metres' &&
        says "$work/vertical.lua" 'ground  *30.4801 to 37.4905 m' &&
        says "$work/cm3.lua" 'ground  *300 to 369 m'
}

what_is_no_length_is_refused() {
    sed 's/>cm</>degC</' "$work/cm.vrt" >"$work/warm.vrt" &&
        gdal_translate -q "$work/warm.vrt" "$work/warm.tif" &&
        gdal_translate -q -a_srs EPSG:25832+5715 "$work/plain.asc" "$work/depth.tif" &&
        aqua warm.tif >"$work/warm.lua" && aqua depth.tif >"$work/depth.lua" &&
        says "$work/warm.lua" "warm.tif are in 'degC', which is no unit of length" 'scale = ' &&
        says "$work/depth.lua" 'depth.tif are in depths below a datum' &&
        aqua warm.tif "scale = 1" >"$work/warm.lua" && says "$work/warm.lua" 'ground  *100 to 123 m'
}

# Not converted, said, and the grids that they write have the projection.
rules_read_maps_as_they_are() {
    gdal_translate -q -a_srs EPSG:2263 "$work/plain.asc" "$work/feet.tif" &&
        cat >"$work/rule.lua" <<'END' &&
local sel = require "selenite"
local z = sel.raster "feet.tif"
return sel.rule {
  size = z.size, origin = z.origin, dx = z.dx, state = { h = "real" }, data = { z = z },
  rule = function(c) return { h = c.z } end, periodic = { "x", "y" }, stop = { steps = 1 },
  output = { sel.out.grid { field = "h", format = "tif" } },
}
END
        says "$work/rule.lua" 'feet.tif: coordinates in US survey foot; values without' &&
        run "$work/rule.lua" -o "$work/rule" &&
        gdalinfo "$work/rule/grid/grid_00000001.tif" >"$work/info.txt" &&
        grep -q 'Origin = (980000.0000*,200030.0000*)' "$work/info.txt" &&
        grep -q '"EPSG",2263\]\]$' "$work/info.txt"
}

a_script_that_reads_feet_before_is_told() {
    cat >"$work/before.lua" <<'END'
local sel = require "selenite"
local z = sel.raster { "feet.tif", scale = 1, metres = false }
return sel.aqua {
  ground = z, alpha = 0.2, dt = 1, stop = { steps = 1 }, regions = {
    { name = "west", where = sel.shape.box { min = z.origin, max = { z.origin[1] + z.dx, z.origin[2] + 3 * z.dx } },
      law = sel.law.wall {} },
    { name = "edge", where = sel.shape.faces, law = sel.law.wall {} } },
}
END
    says "$work/before.lua" 'the script has read its .dx' 'metres = true' &&
        sed 's/= false/= true/' "$work/before.lua" >"$work/before_metres.lua" &&
        says "$work/before_metres.lua" '4 x 3 = 12 cells, 9 of them free'
}

# ground_is FILE ROW...: the ground that a run reads, north first, NODATA as -.
ground_is() {
    file=$1
    shift
    aqua "$file" >"$work/ground.lua" && run "$work/ground.lua" --force -o "$work/ground" || return 1
    sed 1,6d "$work/ground/grid/grid_00000001.asc" | sed 's/-9999/-/g' >"$work/rows.txt"
    for row in "$@"; do echo "$row"; done | diff - "$work/rows.txt"
}

# corner_is X Y SIDE: where the last ground lies.
corner_is() {
    sed -n 3,5p "$work/ground/grid/grid_00000001.asc" | tr '\n' ' ' |
        grep -x "xllcorner $1 yllcorner $2 cellsize $3 "
}

# The north-west cell and the last one have no data by the mask, one of 121 by its value.
masks_inside_and_beside_a_map_hold_with_nodata() {
    grid "$work/mask.asc" 500000 5700000 10
    sed 's/100/0/; s/123/0/; s/1[0-9][0-9]/255/g' "$work/mask.asc" >"$work/opaque.asc"
    gdal_translate -q -ot Float32 -a_nodata 121 "$work/mask.asc" "$work/values.tif" &&
        gdal_translate -q -ot Byte -a_nodata none "$work/opaque.asc" "$work/opaque.tif" &&
        cat >"$work/masked.vrt" <<'END' || return 1
<VRTDataset rasterXSize="4" rasterYSize="3"><GeoTransform>500000, 10, 0, 5700030, 0, -10</GeoTransform>
<VRTRasterBand dataType="Float32" band="1"><NoDataValue>121</NoDataValue><SimpleSource>
<SourceFilename relativeToVRT="1">values.tif</SourceFilename></SimpleSource></VRTRasterBand>
<MaskBand><VRTRasterBand dataType="Byte"><SimpleSource>
<SourceFilename relativeToVRT="1">opaque.tif</SourceFilename></SimpleSource></VRTRasterBand></MaskBand></VRTDataset>
END
    for how in "YES" "NO" "YES -co TILED=YES -co BLOCKXSIZE=16 -co BLOCKYSIZE=16" "YES -co COMPRESS=DEFLATE"; do
        # shellcheck disable=SC2086  # options
        rm -f "$work/masked.tif"* && gdal_translate -q --config GDAL_TIFF_INTERNAL_MASK $how \
            "$work/masked.vrt" "$work/masked.tif" &&
            ground_is masked.tif '- 101 102 103' '110 111 112 113' '120 - 122 -' || return 1
    done
    cp "$work/mask.asc" "$work/beside.asc" && rm -f "$work/masked.tif"* &&
        gdal_translate -q --config GDAL_TIFF_INTERNAL_MASK NO "$work/masked.vrt" "$work/masked.tif" &&
        cp "$work/masked.tif.msk" "$work/beside.asc.msk" &&
        ground_is beside.asc '- 101 102 103' '110 111 112 113' '120 121 122 -'
}

opacity_of_nothing_is_no_data() {
    sed 's/100/0/; s/123/0/; s/1[0-9][0-9]/255/g' "$work/mask.asc" >"$work/opaque.asc"
    gdal_translate -q -ot Byte -a_nodata none "$work/opaque.asc" "$work/opaque.tif" &&
        gdal_translate -q -ot Byte -a_nodata none "$work/mask.asc" "$work/byte.tif" &&
        gdalbuildvrt -q -separate "$work/two.vrt" "$work/byte.tif" "$work/opaque.tif" || return 1
    for layout in PIXEL BAND; do
        gdal_translate -q -co ALPHA=YES -co INTERLEAVE=$layout "$work/two.vrt" "$work/alpha.tif" &&
            ground_is alpha.tif '- 101 102 103' '110 111 112 113' '120 121 122 -' || return 1
    done
}

a_mask_of_another_size_is_refused() {
    gdal_translate -q -outsize 5 3 "$work/opaque.tif" "$work/wide.tif" &&
        cp "$work/wide.tif" "$work/mask.asc.msk" && aqua mask.asc >"$work/wide.lua" &&
        says "$work/wide.lua" 'its mask mask.asc.msk has 5 x 3 pixels, the map has 4 x 3'
    status=$?
    rm -f "$work/mask.asc.msk"
    return $status
}

world_files_place_what_the_file_does_not() {
    gdal_translate -q -co PROFILE=BASELINE "$work/mask.asc" "$work/bare.tif" &&
        rm -f "$work"/bare.tif.* || return 1
    for ending in tfw tifw wld TFW; do
        printf '10\n0\n0\n-10\n500005\n5700025\n' >"$work/bare.$ending" &&
            ground_is bare.tif '100 101 102 103' '110 111 112 113' '120 121 122 123' &&
            corner_is 500000 5700000 10 || return 1
        rm "$work/bare.$ending"
    done
    printf '10\n0\n0\n10\n500005\n5700005\n' >"$work/bare.tfw" &&
        ground_is bare.tif '120 121 122 123' '110 111 112 113' '100 101 102 103' &&
        corner_is 500000 5700000 10 &&
        printf '10\n1\n0\n-10\n500005\n5700025\n' >"$work/bare.tfw" && aqua bare.tif >"$work/bare.lua" &&
        says "$work/bare.lua" 'is a rotated grid, by its world file' &&
        printf '10\n0\n0\n-10\nx\n' >"$work/bare.tfw" &&
        says "$work/bare.lua" 'bare.tfw: number 5 of the six'
}

a_picture_has_the_place_of_its_world_file() {
    gdal_translate -q -of PNG -ot Byte "$work/mask.asc" "$work/picture.png" &&
        rm -f "$work"/picture.png.* && printf '10 0 0 -10 500005 5700025\n' >"$work/picture.pgw" &&
        aqua picture.png "scale = 255" >"$work/picture.lua" &&
        says "$work/picture.lua" 'dx, dt  *10, 1' 'ground  *100 to 123 m'
}

# As GDAL writes them, by a transformation.
rows_from_the_south_are_turned_over() {
    gdal_translate -q -a_ullr 500000 5700000 500040 5700030 "$work/mask.asc" "$work/up.tif" &&
        ground_is up.tif '120 121 122 123' '110 111 112 113' '100 101 102 103' &&
        corner_is 500000 5700000 10
}

# ---- by GDAL's library ----

# foreign_rows_are FILE: the values of own.tif.
foreign_rows_are() { ground_is "$1" '100 101 102 103' '110 111 112 113' '120 - 122 123'; }

# The library, not only its commands; SELENITE_GDAL=0 does without it.
have_library() {
    grid "$work/mask.asc" 500000 5700000 10 &&
        gdal_translate -q -ot Float32 -a_nodata 121 -a_srs EPSG:25832 "$work/mask.asc" "$work/own.tif" &&
        gdal_translate -q -co COMPRESS=ZSTD "$work/own.tif" "$work/zstd.tif" &&
        aqua zstd.tif >"$work/zstd.lua" && ! says "$work/zstd.lua" 'install libgdal' >"$work/log"
}

packings_and_numbers_of_other_programs_are_read() {
    foreign_rows_are own.tif || return 1
    for how in COMPRESS=ZSTD COMPRESS=LERC COMPRESS=PACKBITS "COMPRESS=LZMA -ot Float64" \
        "COMPRESS=NONE -ot Int64" "NBITS=16" "NBITS=7 -ot Byte"; do
        # shellcheck disable=SC2086  # options
        if ! gdal_translate -q -co $how "$work/own.tif" "$work/other.tif"; then
            echo "not written: $how"
            continue
        fi
        foreign_rows_are other.tif && corner_is 500000 5700000 10 || return 1
    done
}

masks_scales_and_units_hold_in_them() {
    gdal_translate -q --config GDAL_TIFF_INTERNAL_MASK YES -co COMPRESS=ZSTD "$work/masked.vrt" \
        "$work/zmask.tif" &&
        ground_is zmask.tif '- 101 102 103' '110 111 112 113' '120 - 122 -' &&
        ground_is masked.vrt '- 101 102 103' '110 111 112 113' '120 - 122 -' &&
        gdal_translate -q -ot Float32 -co COMPRESS=ZSTD -a_srs EPSG:2263 -a_scale 2 -a_offset 1 \
            "$work/plain.asc" "$work/zfeet.tif" &&
        aqua zfeet.tif "scale = 1" 'format = "tif"' >"$work/zfeet.lua" &&
        says "$work/zfeet.lua" 'dx, dt  *3.04801' 'ground  *201 to 247 m' 'in US survey foot' &&
        run "$work/zfeet.lua" --force -o "$work/zfeet" &&
        gdalinfo "$work/zfeet/grid/grid_00000001.tif" | grep -q '"EPSG",2263\]\]$' &&
        aqua cm.vrt >"$work/cm.lua" &&
        says "$work/cm.lua" 'ground  *1 to 1.23 m' 'values in centimetre (0.01 m), read as metres'
}

a_script_names_another_nodata_of_them() {
    aqua zstd.tif "nodata = 100" >"$work/named.lua" && run "$work/named.lua" --force -o "$work/named" &&
        sed 1,6d "$work/named/grid/grid_00000001.asc" >"$work/named.txt" &&
        printf -- '-9999 101 102 103\n110 111 112 113\n120 121 122 123\n' | diff - "$work/named.txt"
}

mosaics_are_read() {
    gdal_translate -q -srcwin 0 0 2 3 "$work/own.tif" "$work/west.tif" &&
        gdal_translate -q -srcwin 2 0 2 3 "$work/zstd.tif" "$work/east.tif" &&
        gdalbuildvrt -q "$work/two.vrt" "$work/west.tif" "$work/east.tif" &&
        gdal_translate -q -of VRT "$work/two.vrt" "$work/nested.vrt" &&
        foreign_rows_are two.vrt && foreign_rows_are nested.vrt && corner_is 500000 5700000 10 &&
        gdal_translate -q -of VRT -a_ullr 500000 5700000 500040 5700030 "$work/own.tif" "$work/up.vrt" &&
        ground_is up.vrt '120 - 122 123' '110 111 112 113' '100 101 102 103'
}

grids_in_netcdf_and_bil_are_read() {
    gdal_translate -q -of EHdr "$work/own.tif" "$work/own.bil" && foreign_rows_are own.bil || return 1
    gdal_translate --formats | grep -q ' netCDF ' || return 0
    gdal_translate -q -of netCDF "$work/own.tif" "$work/own.nc" && foreign_rows_are own.nc &&
        says "$work/ground.lua" 'own.nc: coordinates in metre'
}

# One degree in 1201 x 1201 values around whole degrees; the south-west value is 7.
tiles_of_the_shuttle_are_read() {
    head -c $((1201 * 1201 * 2)) /dev/zero >"$work/N47E008.hgt" &&
        printf '\000\007' | dd of="$work/N47E008.hgt" bs=1 seek=$((1201 * 1200 * 2)) conv=notrunc &&
        cat >"$work/tile.lua" <<'END' &&
local sel = require "selenite"
local z = sel.raster "N47E008.hgt"
return sel.rule {
  size = { 2, 2 }, dx = 1, state = { h = "real" }, periodic = { "x", "y" }, stop = { steps = 1 },
  initial = { h = z(8, 47) + z.size[1] }, rule = function(c) return { h = c.h } end,
  output = { sel.out.grid { field = "h" } },
}
END
        run "$work/tile.lua" -o "$work/tile" &&
        [ "$(tail -1 "$work/tile/grid/grid_00000001.asc")" = '1208 1208' ]
}

# refused FILE PATTERN...: check says so, opening no socket where strace can tell.
refused() {
    aqua "$1" >"$work/refused.lua"
    shift
    trace=
    if strace -f -e trace=network -o "$work/net.txt" true 2>/dev/null; then
        trace="strace -f -e trace=network -o $work/net.txt"
    fi
    $trace "$selenite" check "$work/refused.lua" --backend cpu >"$work/said.txt" 2>&1 &&
        { echo "not refused"; return 1; }
    cat "$work/said.txt"
    for pattern in "$@"; do grep -q -- "$pattern" "$work/said.txt" || return 1; done
    [ -z "$trace" ] || ! grep 'AF_' "$work/net.txt"
}

names_of_the_network_and_of_archives_are_refused() {
    mkdir -p "$work/a:" && cp "$work/two.vrt" "$work/a:/two.vrt" &&
        refused "/vsicurl/http://127.0.0.1:9/dem.vrt" 'No such file' &&
        refused "http://127.0.0.1:9/dem.nc" 'No such file' &&
        refused "a://two.vrt" "GDAL does not take '.*a://two.vrt' for the name of a file"
}

# vrt_of FILE NAME [ATTRIBUTE]: a VRT of 4 x 3 cells that names a file.
vrt_of() {
    printf '<VRTDataset rasterXSize="4" rasterYSize="3"><VRTRasterBand dataType="Float32" band="1">' >"$1"
    printf '<SimpleSource><SourceFilename%s>%s</SourceFilename><SourceBand>1</SourceBand></SimpleSource>' \
        "${3:-}" "$2" >>"$1"
    printf '</VRTRasterBand></VRTDataset>\n' >>"$1"
}

beside=' relativeToVRT="1"'

a_vrt_names_plain_files() {
    vrt_of "$work/own.vrt" own.tif "$beside" &&
        ground_is own.vrt '100 101 102 103' '110 111 112 113' '120 121 122 123' || return 1
    for name in /vsicurl/http://127.0.0.1:9/d.tif http://127.0.0.1:9/d.tif /VSIcurl/x \
        'NETCDF:own.nc:Band1' '&#47;vsicurl/x' '<![CDATA[/etc/passwd]]>' '&lt;VRTDataset/&gt;'; do
        vrt_of "$work/bad.vrt" "$name" && cp "$work/bad.vrt" "$work/hidden.tif" &&
            refused bad.vrt 'bad.vrt: bad.vrt ' &&
            vrt_of "$work/outer.vrt" bad.vrt "$beside" && refused outer.vrt 'outer.vrt: bad.vrt ' &&
            vrt_of "$work/outer.vrt" hidden.tif "$beside" &&
            refused outer.vrt 'outer.vrt: hidden.tif ' || return 1
    done
    mkfifo "$work/pipe.tif" && vrt_of "$work/bad.vrt" pipe.tif "$beside" &&
        refused bad.vrt 'pipe.tif' &&
        vrt_of "$work/bad.vrt" pipe.tif ' relativeToVRT="01"' && refused bad.vrt 'relativeToVRT is' &&
        vrt_of "$work/bad.vrt" bad.vrt "$beside" && refused bad.vrt 'name too many files' &&
        sed 's/<SourceFilename.*<.SourceFilename>//; s/<SimpleSource>/<SimpleSource SourceFilename="own.tif">/' \
            "$work/own.vrt" >"$work/bad.vrt" && refused bad.vrt 'in another place'
}

a_vrt_holds_no_code() {
    for code in '<PixelFunctionType>f</PixelFunctionType>' '<X>python</X>'; do
        sed "s|<SimpleSource>|$code&|" "$work/own.vrt" >"$work/code.vrt" &&
            refused code.vrt 'code.vrt holds [<P]' || return 1
    done
}

several_grids_in_a_file_are_named() {
    gdalbuildvrt -q -separate "$work/pair.vrt" "$work/own.tif" "$work/zstd.tif" &&
        refused pair.vrt 'has 2 values per pixel' || return 1
    gdal_translate --formats | grep -q ' netCDF ' || return 0
    gdal_translate -q -of netCDF "$work/pair.vrt" "$work/pair.nc" &&
        refused pair.nc "pair.nc: holds several grids; .*gdal_translate 'NETCDF:.*Band1'"
}

without_the_library_it_is_named() {
    SELENITE_GDAL=0
    export SELENITE_GDAL
    refused zstd.tif 'is compressed by method 50000; .*install libgdal32' &&
        refused own.vrt 'own.vrt: this format is read by libgdal, which is not here; .*install libgdal32' &&
        foreign_rows_are own.tif
    status=$?
    unset SELENITE_GDAL
    return $status
}

ok "feet become metres, and a grid written lies on the grid read" \
    feet_become_metres_and_a_grid_lies_on_the_one_read
ok "an ASCII grid in feet keeps its .prj" an_ascii_grid_keeps_its_prj_in_feet
ok "an ASCII grid of a GeoTIFF in feet says that it is" an_ascii_grid_of_a_geotiff_in_feet_says_so
ok "heights follow the unit of the band or of the vertical datum" heights_follow_their_unit
ok "heights in what is no length are refused" what_is_no_length_is_refused
ok "rules read maps as they are, and their grids have the projection" rules_read_maps_as_they_are
ok "a script that has read feet is told to read metres" a_script_that_reads_feet_before_is_told
ok "masks inside and beside a map hold, with NODATA" masks_inside_and_beside_a_map_hold_with_nodata
ok "cells without opacity have no data" opacity_of_nothing_is_no_data
ok "a mask of another size is refused" a_mask_of_another_size_is_refused
ok "world files place what the file does not" world_files_place_what_the_file_does_not
ok "a picture has the place of its world file" a_picture_has_the_place_of_its_world_file
ok "rows from the south are turned over" rows_from_the_south_are_turned_over

if have_library; then
    ok "packings and numbers of other programs are read by libgdal" \
        packings_and_numbers_of_other_programs_are_read
    ok "masks, scales and units hold in them" masks_scales_and_units_hold_in_them
    ok "a script names another NODATA of them" a_script_names_another_nodata_of_them
    ok "mosaics are read" mosaics_are_read
    ok "grids in netCDF and .bil are read" grids_in_netcdf_and_bil_are_read
    ok "tiles of the shuttle's terrain are read" tiles_of_the_shuttle_are_read
    ok "names of the network and of archives are refused" names_of_the_network_and_of_archives_are_refused
    ok "a VRT names plain files" a_vrt_names_plain_files
    ok "a VRT holds no code" a_vrt_holds_no_code
    ok "several grids in a file are named" several_grids_in_a_file_are_named
    ok "without the library the refusal names it" without_the_library_it_is_named
else
    echo "ok rasters by libgdal # SKIP libgdal is not installed"
fi
