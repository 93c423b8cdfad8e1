/* gdal.c -- rasters in formats that only GDAL reads, through libgdal if it is installed.
 *
 * libgdal is loaded when the first such file is read; declarations follow the C interface of GDAL 3
 * (gdal.h, gdal_frmts.h). Scenarios are not trusted, but GDAL opens network addresses and archives,
 * and runs Python in a VRT. So only a few drivers for local files stay registered, and every file
 * that a VRT names is checked before GDAL opens it.
 */
#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "engine/base/file.h"
#include "engine/io/raster.h"

/* ---- the library ---- */

/* Constants of GDAL: flags of GDALOpenEx and GDALGetMaskFlags, GDALDataType, GDALColorInterp. */
enum { READ_ONLY_RASTER = 0x02, VERBOSE = 0x40, READ = 0, FLOAT64 = 7, ALPHA_BAND = 6 };
enum { UINT64 = 12, INT64 = 13, FLOAT32 = 6, FIRST_COMPLEX = 8, LAST_COMPLEX = 11 };
enum { MASK_ALL_VALID = 0x01, MASK_NODATA = 0x08 };
typedef void *handle; /* of a driver, data set or band */

static struct {
    void (*register_all)(void);
    int (*driver_count)(void);
    handle (*driver)(int index);
    const char *(*driver_name)(handle driver);
    void (*deregister)(handle driver);
    void (*set_option)(const char *key, const char *value);
    void *(*set_error_handler)(void (*handler)(int, int, const char *));
    void (*quiet)(int, int, const char *);
    const char *(*last_error)(void);
    void (*reset_error)(void);
    handle (*open)(const char *name, unsigned flags, const char *const *drivers,
                   const char *const *options, const char *const *siblings);
    int (*close)(handle data); /* returns nothing before GDAL 3.7 */
    int (*width)(handle data);
    int (*height)(handle data);
    int (*band_count)(handle data);
    int (*transform)(handle data, double to[6]);
    const char *(*projection)(handle data);
    char **(*metadata)(handle data, const char *domain);
    handle (*band)(handle data, int number);
    int (*type)(handle band);
    int (*colour)(handle band);
    const char *(*unit)(handle band);
    double (*scale)(handle band, int *given);
    double (*offset)(handle band, int *given);
    double (*nodata)(handle band, int *given);
    handle (*mask)(handle band);
    int (*mask_flags)(handle band);
    int (*io)(handle band, int way, int x, int y, int width, int height, void *to, int to_width,
              int to_height, int type, int64_t pixel, int64_t line, void *extra);
    int64_t (*nodata_int64)(handle band, int *given);   /* since 3.5, as the next */
    uint64_t (*nodata_uint64)(handle band, int *given); /* NULL: not there */
    void (*use_network)(int enabled);                   /* of PROJ, since 3.4 */
} gdal;

/* The symbols of the members of `gdal`, in the same order; the last OPTIONAL ones may be missing.
 */
static const char *const symbols[] = {"GDALAllRegister",
                                      "GDALGetDriverCount",
                                      "GDALGetDriver",
                                      "GDALGetDriverShortName",
                                      "GDALDeregisterDriver",
                                      "CPLSetConfigOption",
                                      "CPLSetErrorHandler",
                                      "CPLQuietErrorHandler",
                                      "CPLGetLastErrorMsg",
                                      "CPLErrorReset",
                                      "GDALOpenEx",
                                      "GDALClose",
                                      "GDALGetRasterXSize",
                                      "GDALGetRasterYSize",
                                      "GDALGetRasterCount",
                                      "GDALGetGeoTransform",
                                      "GDALGetProjectionRef",
                                      "GDALGetMetadata",
                                      "GDALGetRasterBand",
                                      "GDALGetRasterDataType",
                                      "GDALGetRasterColorInterpretation",
                                      "GDALGetRasterUnitType",
                                      "GDALGetRasterScale",
                                      "GDALGetRasterOffset",
                                      "GDALGetRasterNoDataValue",
                                      "GDALGetMaskBand",
                                      "GDALGetMaskFlags",
                                      "GDALRasterIOEx",
                                      "GDALGetRasterNoDataValueAsInt64",
                                      "GDALGetRasterNoDataValueAsUInt64",
                                      "OSRSetPROJEnableNetwork"};
enum { SYMBOLS = sizeof symbols / sizeof *symbols, OPTIONAL = 3 };
_Static_assert(sizeof gdal == SYMBOLS * sizeof(void *), "a name for each function");

/* The drivers that stay registered: a VRT may refer to files of each. */
static const char *const drivers[] = {"GTiff", "VRT",     "SRTMHGT", "netCDF",
                                      "EHdr",  "AAIGrid", "PNG",     NULL};

/* The driver of a file by its suffix; for all other suffixes GTiff. */
static const char *const suffixes[][2] = {
    {".hgt", "SRTMHGT"}, {".nc", "netCDF"}, {".vrt", "VRT"}, {".bil", "EHdr"}, {".flt", "EHdr"}};
enum { SUFFIXES = sizeof suffixes / sizeof *suffixes };

static bool gdal_find_symbols(void *library) {
    char *to = (char *)&gdal;
    for (int k = 0; k < SYMBOLS; k++) {
        void *function = dlsym(library, symbols[k]);
        if (!function && k < SYMBOLS - OPTIONAL) {
            return false;
        }
        memcpy(to + (size_t)k * sizeof function, &function, sizeof function);
    }
    return true;
}

static void gdal_restrict(void) {
    gdal.set_error_handler(gdal.quiet);
    gdal.set_option("GDAL_VRT_ENABLE_PYTHON", "NO");
    gdal.set_option("GDAL_VRT_ENABLE_RAWRASTERBAND", "NO");
    gdal.set_option("GDAL_DISABLE_READDIR_ON_OPEN", "TRUE");
    gdal.set_option("CPL_VSIL_CURL_ALLOWED_FILENAME", "none");
    if (gdal.use_network) {
        gdal.use_network(0);
    }
    gdal.register_all();
    for (int k = gdal.driver_count() - 1; k >= 0; k--) {
        handle driver = gdal.driver(k);
        if (sel_name_index(drivers, gdal.driver_name(driver)) < 0) {
            gdal.deregister(driver);
        }
    }
}

/* Loads and restricts libgdal at the first call; it stays loaded. */
static bool gdal_is_there(void) {
    enum { NEWEST = 45, OLDEST = 26 };
    static enum { UNTRIED, THERE, MISSING } state;
    const char *wanted = getenv("SELENITE_GDAL");
    if (state == UNTRIED) {
        void *library = NULL;
        const bool none = wanted && strcmp(wanted, "0") == 0;
        for (int version = NEWEST; version >= OLDEST && !none && !library; version--) {
            char name[32];
            snprintf(name, sizeof name, "libgdal.so.%d", version);
            library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        }
        state = library && gdal_find_symbols(library) ? THERE : MISSING;
        if (state == THERE) {
            gdal_restrict();
        }
    }
    return state == THERE;
}

const char *sel_gdal_missing(void) {
    return gdal_is_there() ? ""
                           : "; with libgdal it is read: install libgdal32 (Debian 12; other "
                             "systems: gdal-bin brings it)";
}

/* ---- names ---- */

static sel_status gdal_check_name(const sel_raster_source *source, const char *name) {
    if (strncmp(name, "/vsi", 4) == 0 || strstr(name, "://")) {
        return sel_raster_refuse(source,
                                 "GDAL does not take '%.200s' for the name of a file of "
                                 "this machine; copy it to a plain name",
                                 name);
    }
    return SEL_OK;
}

/* Limits of a search, and the bytes of a file in which the word is sought that makes it a VRT. */
enum { MOST_BYTES = 64 << 20, MOST_DEPTH = 8, HEAD = 8192 };

/* A walk through a VRT and the files that it names. */
typedef struct search {
    const sel_raster_source *source;
    size_t bytes; /* read so far, over all files */
    int depth;    /* of nested VRTs */
} search;

static sel_status gdal_check_vrt(search *s, const char *path);

/* Checks a file that GDAL would open. A VRT is recognized by its content, as GDAL does, not by its
 * name. */
static sel_status gdal_check_file(search *s, const char *path) {
    char head[HEAD + 1];
    FILE *file = NULL;
    sel_status status = sel_file_open(path, &file, s->source->error);
    if (status) {
        return status;
    }
    const size_t length = fread(head, 1, HEAD, file);
    fclose(file);
    head[length] = '\0';
    for (size_t k = 0; k < length; k++) {
        head[k] = head[k] ? head[k] : ' ';
    }
    s->bytes += HEAD;
    if (s->bytes > MOST_BYTES || s->depth > MOST_DEPTH) {
        return sel_raster_refuse(s->source, "its VRTs name too many files, or each other");
    }
    return strcasestr(head, "<VRTDataset") ? gdal_check_vrt(s, path) : SEL_OK;
}

/* Checks the file that an element of a VRT names: <SourceFilename relativeToVRT="1">FILE<; `at` is
 * behind the element's name. */
static sel_status gdal_check_element(search *s, const char *vrt, const char *at) {
    static const char word[] = "relativeToVRT=";
    const char *open = strchr(at, '>'), *close = open ? strchr(open, '<') : NULL;
    const char *relative = strcasestr(at, "relativeToVRT"), *folder_end = strrchr(vrt, '/');
    bool beside = false;
    if (!close) {
        return sel_raster_refuse(s->source, "%s: a source without a name", sel_file_name(vrt));
    }
    if (relative && relative < open) {
        const char *value = relative + strlen(word);
        beside = strncmp(value, "\"1\"", 3) == 0;
        if (strncasecmp(relative, word, strlen(word)) != 0 ||
            !(beside || strncmp(value, "\"0\"", 3) == 0)) {
            return sel_raster_refuse(s->source, "%s: relativeToVRT is \"0\" or \"1\"",
                                     sel_file_name(vrt));
        }
    }
    const char *from = open + 1;
    const int folder = beside && *from != '/' && folder_end ? (int)(folder_end - vrt + 1) : 0;
    char *path =
        sel_arena_print(s->source->arena, "%.*s%.*s", folder, vrt, (int)(close - from), from);
    if (!path) {
        return sel_fail_memory(s->source->error, s->source->name, 0);
    }
    if (strpbrk(path + folder, ":&\"'>") || close == from) {
        return sel_raster_refuse(s->source, "%s names '%.200s', and only plain files are read",
                                 sel_file_name(vrt), path + folder);
    }
    return gdal_check_file(s, path);
}

/* Checks the text of a VRT: refuses what leads to the network or to code, and checks each file that
 * it names. */
static sel_status gdal_check_text(search *s, const char *vrt, const char *text) {
    static const char *const banned[] = {
        "/vsi", "://",      "<PixelFunction", "Python",           "<!",
        "&#",   "_DATASET", "RPC_DEM",        "VRTRawRasterBand", NULL};
    static const char *const files[] = {"SourceFilename", "SourceDataset", NULL};
    for (int k = 0; banned[k]; k++) {
        if (strcasestr(text, banned[k])) {
            return sel_raster_refuse(s->source,
                                     "%s holds %s; a VRT may only name files of this machine, and "
                                     "no code: gdal_translate makes a GeoTIFF of it",
                                     sel_file_name(vrt), banned[k]);
        }
    }
    sel_status status = SEL_OK;
    for (int k = 0; files[k]; k++) {
        for (const char *at = text; !status && (at = strcasestr(at, files[k])) != NULL;) {
            const char before = at > text ? at[-1] : '\0';
            at += strlen(files[k]);
            if (before == '<') {
                status = gdal_check_element(s, vrt, at);
            } else if (before != '/') {
                status = sel_raster_refuse(s->source, "%s has %s in another place than an element",
                                           sel_file_name(vrt), files[k]);
            }
        }
    }
    return status;
}

/* Checks a VRT and, recursively, the files that it names. */
static sel_status gdal_check_vrt(search *s, const char *path) {
    char *bytes = NULL;
    size_t length = 0;
    sel_status status = sel_file_read(path, MOST_BYTES, "a VRT is a text in XML", &bytes, &length,
                                      s->source->error);
    if (!status && memchr(bytes, '\0', length)) {
        status = sel_raster_refuse(s->source, "%s is no text in XML", sel_file_name(path));
    }
    char *text = status ? NULL : sel_arena_copy_length(s->source->arena, bytes, length);
    free(bytes);
    if (status || !text) {
        return status ? status : sel_fail_memory(s->source->error, path, length);
    }
    s->bytes += length;
    s->depth++;
    status = gdal_check_text(s, path, text);
    s->depth--;
    return status;
}

/* ---- the map ---- */

/* Sets origin, dx, and in which direction rows run, from the affine transform of GDAL. */
static sel_status gdal_place(sel_raster_source *source, handle data) {
    sel_raster *raster = &source->raster;
    double g[6] = {0, 1, 0, 0, 0, 1};
    source->placed = gdal.transform(data, g) == 0;
    if (!source->placed) {
        raster->dx = 1;
        raster->origin[0] = raster->origin[1] = 0;
        source->south_up = false;
        return SEL_OK;
    }
    if (g[2] != 0 || g[4] != 0) {
        return sel_raster_refuse(source, "is a rotated grid; turn it with gdalwarp first");
    }
    if (!(g[1] > 0) || g[5] == 0 || !isfinite(g[0] + g[1] + g[3] + g[5])) {
        return sel_raster_refuse(source,
                                 "its pixels of %.10g x %.10g at %.10g, %.10g do not run from the "
                                 "west to the east; turn it with gdalwarp first",
                                 g[1], -g[5], g[0], g[3]);
    }
    source->south_up = g[5] > 0;
    raster->dx = g[1];
    raster->origin[0] = g[0];
    raster->origin[1] = source->south_up ? g[3] : g[3] + (double)raster->n[1] * g[5];
    return sel_raster_check_square(source, g[1], fabs(g[5]));
}

/* Refuses all but one band, which an alpha band may follow. */
static sel_status gdal_check_bands(const sel_raster_source *source, handle data) {
    const int count = gdal.band_count(data);
    char **fields = gdal.metadata(data, "SUBDATASETS");
    const char *first = fields && fields[0] ? strchr(fields[0], '=') : NULL;
    if (count == 0 && first) {
        return sel_raster_refuse(source,
                                 "holds several grids; this takes the first: gdal_translate '%s' "
                                 "terrain.tif",
                                 first + 1);
    }
    if (count == 1 || (count == 2 && gdal.colour(gdal.band(data, 2)) == ALPHA_BAND)) {
        return SEL_OK;
    }
    return sel_raster_refuse(
        source, "has %d values per pixel, a grid has one; gdal_translate -b 1 takes the first",
        count);
}

/* Sets nodata value, scale, offset and unit of the values. */
static sel_status gdal_find_numbers(sel_raster_source *source, handle band) {
    const int type = gdal.type(band);
    int given = 0;
    if (type >= FIRST_COMPLEX && type <= LAST_COMPLEX) {
        return sel_raster_refuse(source, "has complex numbers, a grid has real ones");
    }
    double nodata = type == INT64 && gdal.nodata_int64 ? (double)gdal.nodata_int64(band, &given)
                    : type == UINT64 && gdal.nodata_uint64
                        ? (double)gdal.nodata_uint64(band, &given)
                        : gdal.nodata(band, &given);
    source->nodata = given ? nodata : (double)NAN;
    source->exact = type < FLOAT32 || type == UINT64 || type == INT64;
    const double scale = gdal.scale(band, &given);
    source->scale = given ? scale : 1;
    const double offset = gdal.offset(band, &given);
    source->offset = given ? offset : 0;
    if (!isfinite(source->scale) || !isfinite(source->offset) || source->scale == 0) {
        return sel_raster_refuse(source,
                                 "its metadata give its values the scale %g and the offset %g",
                                 source->scale, source->offset);
    }
    const char *unit = gdal.unit(band);
    source->unit = unit && *unit ? sel_arena_copy(source->arena, unit) : NULL;
    return SEL_OK;
}

/* ---- values ---- */

static sel_status gdal_unreadable(const sel_raster_source *source) {
    const char *why = gdal.last_error();
    return sel_raster_refuse(source, "GDAL cannot read it: %.200s",
                             why && *why ? why : "it is of no kind that is read");
}

/* Reads all pixels of a band; the first row of the file becomes the last row of `to`. */
static sel_status gdal_read_band(const sel_raster_source *source, handle band, double *to) {
    const int64_t *n = source->raster.n;
    const int width = (int)n[0], height = (int)n[1], size = (int)sizeof *to;
    gdal.reset_error();
    const int failed = gdal.io(band, READ, 0, 0, width, height, to + (n[1] - 1) * n[0], width,
                               height, FLOAT64, size, -n[0] * size, NULL);
    return failed ? gdal_unreadable(source) : SEL_OK;
}

/* Reads the values, and sets masked ones to NaN. A mask that GDAL derives from the nodata value is
 * ignored, since the script may declare another nodata value. */
static sel_status gdal_read_values(sel_raster_source *source, handle band) {
    const int64_t *n = source->raster.n, count = n[0] * n[1];
    sel_status status = sel_raster_allocate(source);
    status = status ? status : gdal_read_band(source, band, source->raster.value);
    if (status || gdal.mask_flags(band) & (MASK_ALL_VALID | MASK_NODATA)) {
        return status;
    }
    double *mask = calloc((size_t)count, sizeof *mask);
    status = mask ? gdal_read_band(source, gdal.mask(band), mask)
                  : sel_fail_memory(source->error, source->name, (size_t)count * sizeof *mask);
    for (int64_t i = 0; i < count && !status; i++) {
        source->raster.value[i] = mask[i] == 0 ? (double)NAN : source->raster.value[i];
    }
    free(mask);
    return status;
}

static sel_status gdal_read_data(sel_raster_source *source, handle data) {
    sel_status status = gdal_check_bands(source, data);
    if (status) {
        return status;
    }
    handle band = gdal.band(data, 1);
    source->raster.n[0] = gdal.width(data);
    source->raster.n[1] = gdal.height(data);
    const char *map = gdal.projection(data);
    source->prj = map && *map ? sel_arena_copy(source->arena, map) : NULL;
    status = gdal_place(source, data);
    status = status ? status : gdal_find_numbers(source, band);
    return status ? status : gdal_read_values(source, band);
}

static const char *gdal_driver_of(const char *path) {
    const char *dot = strrchr(path, '.');
    for (int k = 0; dot && k < SUFFIXES; k++) {
        if (strcasecmp(dot, suffixes[k][0]) == 0) {
            return suffixes[k][1];
        }
    }
    return drivers[0];
}

sel_status sel_gdal_read(sel_raster_source *source) {
    char path[PATH_MAX];
    if (!gdal_is_there()) {
        return sel_raster_refuse(source, "this format is read by libgdal, which is not here%s",
                                 sel_gdal_missing());
    }
    sel_status status = gdal_check_name(source, source->name);
    if (!status && !realpath(source->name, path)) {
        status = sel_raster_refuse(source, "cannot be opened");
    }
    status = status ? status : gdal_check_name(source, path);
    status = status ? status : gdal_check_file(&(search){.source = source}, path);
    if (status) {
        return status;
    }
    const char *const allowed[] = {gdal_driver_of(source->name), NULL};
    gdal.reset_error();
    handle data = gdal.open(path, READ_ONLY_RASTER | VERBOSE, allowed, NULL, NULL);
    if (!data) {
        return gdal_unreadable(source);
    }
    status = gdal_read_data(source, data);
    gdal.close(data);
    return status;
}
