/* vtk_share.c -- parallel output: all ranks write one VTK image file.
 *
 * The position of an array in the file depends on the compressed sizes of the arrays before it, so
 * arrays are processed one after the other:
 *
 *     send parts of blocks to their writers -> compress -> gather compressed sizes of all ranks
 *         -> write block sizes at once -> leave the data to the writer's thread
 *
 * At the end rank 0 writes the header, whose length does not depend on the offsets in it.
 */
#include "engine/io/vtk_share.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/base/file.h"
#include "engine/base/folder.h"

/* Data that the writer's thread writes: `bytes` bytes from `from`, at position `at` of the file. */
typedef struct piece {
    void *memory; /* to be freed */
    const void *from;
    uint64_t bytes, at;
} piece;

/* What a rank's writer thread does for a file. */
typedef struct job {
    int descriptor;
    bool closes; /* the descriptor; rank 0 keeps its own open for the caller */
    char path[2 * SEL_PATH_ROOM];
    int count;
    piece v[];
} job;

/* The file that is being written. */
typedef struct shared {
    const sel_ranks *ranks;
    const vtkw_image *image;
    const int64_t *start;
    int threads, descriptor;
    int code;                    /* errno of the first failure on this rank */
    bool writes[SEL_MOST_RANKS]; /* ranks that can open the file */
    uint64_t at;                 /* position of the next array in the file; the same on all ranks */
    job *job;
} shared;

/* Broadcast by rank 0 when it has created the file. */
typedef struct opened {
    int code;        /* errno of a failure */
    ino_t number;    /* inode, by which other ranks recognize the file */
    uint64_t header; /* bytes of the header; 0: rank 0 could not create the file */
} opened;

/* Writes at position `at`. *code keeps the errno of the first failure, after which nothing is
 * written. */
static void vtk_write_at(int descriptor, const void *data, uint64_t bytes, uint64_t at, int *code) {
    const char *from = data;
    while (bytes > 0 && !*code) {
        const ssize_t done = pwrite(descriptor, from, (size_t)bytes, (off_t)at);
        if (done < 0 && errno != EINTR) {
            *code = errno;
        } else if (done > 0) {
            from += done;
            at += (uint64_t)done;
            bytes -= (uint64_t)done;
        }
    }
}

static void vtk_put(shared *s, const void *data, uint64_t bytes, uint64_t at) {
    vtk_write_at(s->descriptor, data, bytes, at, &s->code);
}

static void vtk_put_later(shared *s, void *memory, const void *from, uint64_t bytes, uint64_t at) {
    s->job->v[s->job->count++] = (piece){memory, from, bytes, at};
}

static sel_status fail_file(const char *path, int code, sel_error *error) {
    return sel_fail(error, SEL_BAD_FILE, "cannot write %s: %s", path, strerror(code));
}

/* Writes and frees all pieces of a job; a sel_writer_job. */
static sel_status write_pieces(void *data, bool cancelled, sel_error *error) {
    job *j = data;
    int code = 0;
    for (int i = 0; i < j->count; i++) {
        const piece *p = &j->v[i];
        vtk_write_at(j->descriptor, p->from, cancelled ? 0 : p->bytes, p->at, &code);
        free(p->memory);
    }
    if (j->closes && close(j->descriptor) != 0 && !code) {
        code = errno;
    }
    sel_status status = code && !cancelled ? fail_file(j->path, code, error) : SEL_OK;
    free(j);
    return status;
}

/* ---- which rank writes which bytes ---- */

typedef struct range {
    uint64_t first, end;
} range;

static range range_intersect(range a, range b) {
    const uint64_t first = a.first > b.first ? a.first : b.first;
    const uint64_t end = a.end < b.end ? a.end : b.end;
    return (range){first, end > first ? end : first};
}

/* Finds, per rank, the bytes of an array that the rank has, and those that it writes: whole blocks
 * of `unit` bytes, none if it cannot open the file. `tuple`: bytes of a tuple. */
static void find_ranges(const shared *s, uint64_t tuple, uint64_t unit, range *has, range *writes) {
    const int count = s->ranks->count;
    const uint64_t all = (uint64_t)s->start[count] * tuple;
    uint64_t end = all;
    for (int r = count - 1; r >= 0; r--) {
        has[r] = (range){(uint64_t)s->start[r] * tuple, (uint64_t)s->start[r + 1] * tuple};
        const uint64_t block = (has[r].first + unit / 2) / unit * unit;
        const uint64_t first = !s->writes[r] ? end : block < end ? block : end;
        writes[r] = (range){first, end};
        end = first;
    }
}

/* Exchanges data so that each rank has what it writes; returns that of this rank. *room holds this
 * rank's part of the array, and is replaced if other ranks send data. */
static const unsigned char *send_to_writers(const shared *s, const range *has, const range *writes,
                                            void **room) {
    const unsigned char *data = *room;
    const int own = s->ranks->rank;
    const range here = range_intersect(has[own], writes[own]);
    unsigned char *to = NULL;
    sel_message messages[2 * SEL_MOST_RANKS] = {{.bytes = 0}};
    int count = 0;
    if (here.first != writes[own].first || here.end != writes[own].end) {
        to = sel_ranks_memory(s->ranks, writes[own].end - writes[own].first);
        memcpy(to + (here.first - writes[own].first), data + (here.first - has[own].first),
               here.end - here.first);
    }
    for (int r = 0; r < s->ranks->count; r++) {
        const range out = range_intersect(has[own], writes[r]),
                    in = range_intersect(has[r], writes[own]);
        if (r != own && out.end > out.first) {
            void *from = (void *)(uintptr_t)(data + (out.first - has[own].first));
            messages[count++] = (sel_message){r, 0, true, from, out.end - out.first};
        }
        if (r != own && in.end > in.first) {
            messages[count++] =
                (sel_message){r, 0, false, to + (in.first - writes[own].first), in.end - in.first};
        }
    }
    s->ranks->transfer(messages, count);
    if (to) {
        free(*room);
        *room = to;
    }
    return to ? to : data + (writes[own].first - has[own].first);
}

/* ---- one array ---- */

/* Compresses blocks into `to`, one directly after the other; returns their total size. `to` has
 * `room` bytes per block. */
static uint64_t deflate_blocks(shared *s, const unsigned char *data, uint64_t bytes,
                               uint64_t *sizes, unsigned char *to, size_t room) {
    const int64_t blocks = (int64_t)((bytes + VTKW_BLOCK - 1) / VTKW_BLOCK);
    uint64_t used = 0;
    int failed = 0;
#pragma omp parallel num_threads(s->threads) reduction(| : failed)
    {
        vtkw_deflater deflater;
        failed = !vtkw_deflater_open(&deflater, s->image->level);
#pragma omp for schedule(dynamic)
        for (int64_t b = 0; b < blocks; b++) {
            const uint64_t before = (uint64_t)b * VTKW_BLOCK;
            sizes[b] = failed ? 0 : vtkw_deflate(&deflater, data + before, bytes - before);
            if (!failed) {
                memcpy(to + (size_t)b * room, deflater.out, sizes[b]);
            }
        }
        if (!failed) {
            deflateEnd(&deflater.stream);
            free(deflater.out);
        }
    }
    for (int64_t b = 0; b < blocks; b++) {
        memmove(to + used, to + (size_t)b * room, sizes[b]);
        used += sizes[b];
    }
    s->code = failed && !s->code ? ENOMEM : s->code;
    return used;
}

/* Writes a compressed array of `bytes` bytes, of which `data` are those in `own`:
 *
 *     number of blocks | bytes of a block | bytes of the last one if it is shorter, else 0
 *         | compressed size of each block | the compressed blocks
 */
static void vtk_put_compressed(shared *s, const unsigned char *data, range own, uint64_t bytes) {
    const uint64_t blocks = (bytes + VTKW_BLOCK - 1) / VTKW_BLOCK;
    const uint64_t head[] = {blocks, VTKW_BLOCK, bytes % VTKW_BLOCK};
    const uint64_t mine = (own.end - own.first + VTKW_BLOCK - 1) / VTKW_BLOCK;
    const size_t room = compressBound(VTKW_BLOCK);
    uint64_t all[SEL_MOST_RANKS], streams = s->at + sizeof head + blocks * sizeof *all, end;
    uint64_t *sizes = sel_ranks_memory(s->ranks, mine * (sizeof *sizes + room));
    unsigned char *packed = (unsigned char *)(sizes + mine);
    const uint64_t used = deflate_blocks(s, data, own.end - own.first, sizes, packed, room);
    s->ranks->gather(&used, sizeof used, all);
    end = streams;
    for (int r = 0; r < s->ranks->count; r++) {
        streams += r < s->ranks->rank ? all[r] : 0;
        end += all[r];
    }
    if (s->ranks->rank == 0) {
        vtk_put(s, head, sizeof head, s->at);
    }
    vtk_put(s, sizes, mine * sizeof *sizes,
            s->at + sizeof head + own.first / VTKW_BLOCK * sizeof *sizes);
    vtk_put_later(s, sizes, packed, used, streams);
    s->at = end;
}

/* Writes array i of the image at s->at, compressed or as its size and its bytes; moves s->at. */
static void vtk_put_array(shared *s, int i) {
    void *room = (void *)(uintptr_t)vtkw_array_at(s->image, i)->data;
    const uint64_t bytes = vtkw_array_bytes(s->image, i);
    const int own = s->ranks->rank;
    const int64_t tuples = s->start[s->ranks->count];
    range has[SEL_MOST_RANKS], writes[SEL_MOST_RANKS];
    find_ranges(s, bytes / (uint64_t)tuples, s->image->level ? VTKW_BLOCK : 1, has, writes);
    const unsigned char *data = send_to_writers(s, has, writes, &room);
    if (s->image->level) {
        vtk_put_compressed(s, data, writes[own], bytes);
        free(room);
        return;
    }
    if (own == 0) {
        vtk_put(s, &bytes, sizeof bytes, s->at);
    }
    vtk_put_later(s, room, data, writes[own].end - writes[own].first,
                  s->at + sizeof bytes + writes[own].first);
    s->at += sizeof bytes + bytes;
}

/* ---- the file ---- */

/* Rank 0 creates the file; the other ranks open it if they see it. Returns the file on rank 0. */
static FILE *open_file(shared *s, const char *path) {
    const int own = s->ranks->rank;
    vtkw_text header = {NULL, 0, 0, 0};
    struct stat found;
    opened said = {.code = 0};
    FILE *file = own ? NULL : sel_file_begin(path);
    s->descriptor = -1;
    if (file) {
        const int count = s->image->cell_array_count + s->image->point_array_count;
        uint64_t *offsets = calloc((size_t)count + 1, sizeof *offsets);
        s->descriptor = fileno(file);
        header.failed = !offsets;
        vtkw_make_header(&header, s->image, offsets);
        said.code = header.failed ? ENOMEM : fstat(s->descriptor, &found) ? errno : 0;
        said.number = found.st_ino;
        said.header = header.length;
        free(header.data);
        free(offsets);
    } else {
        said.code = own ? 0 : errno;
    }
    s->ranks->broadcast(&said, sizeof said, false);
    s->code = own ? 0 : said.code;
    s->at = said.header;
    if (own && !said.code) {
        char name[2 * SEL_PATH_ROOM + 8];
        snprintf(name, sizeof name, "%s.tmp", path);
        s->descriptor = open(name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    }
    const bool sees =
        s->descriptor >= 0 && fstat(s->descriptor, &found) == 0 && found.st_ino == said.number;
    s->ranks->gather(&sees, sizeof sees, s->writes);
    s->writes[0] = true;
    return file;
}

static void vtk_put_header(shared *s, const uint64_t *offsets) {
    vtkw_text header = {NULL, 0, 0, 0};
    vtkw_make_header(&header, s->image, offsets);
    s->code = header.failed && !s->code ? ENOMEM : s->code;
    vtk_put(s, header.data, header.length, 0);
    vtk_put(s, vtkw_closing, strlen(vtkw_closing), s->at);
    free(header.data);
}

sel_status sel_vtk_share(const sel_ranks *ranks, const char *path, const vtkw_image *image,
                         const int64_t *start, int threads, sel_writer *writer, FILE **file,
                         sel_error *error) {
    shared s = {.ranks = ranks, .image = image, .start = start, .threads = threads};
    const int count = image->cell_array_count + image->point_array_count;
    uint64_t *offsets = sel_ranks_memory(ranks, (size_t)count * sizeof *offsets);
    s.job = sel_ranks_memory(ranks, sizeof *s.job + (size_t)count * sizeof *s.job->v);
    *file = open_file(&s, path);
    const uint64_t first = s.at;
    *s.job = (job){.descriptor = s.descriptor, .closes = ranks->rank > 0 && s.descriptor >= 0};
    snprintf(s.job->path, sizeof s.job->path, "%s", path);
    for (int i = 0; i < count; i++) {
        offsets[i] = s.at - first;
        if (first) {
            vtk_put_array(&s, i);
        } else { /* rank 0 could not create the file */
            free((void *)(uintptr_t)vtkw_array_at(image, i)->data);
        }
    }
    if (ranks->rank == 0) {
        vtk_put_header(&s, offsets);
    }
    free(offsets);
    sel_status status = s.code ? fail_file(path, s.code, error) : SEL_OK;
    if (status || !writer) {
        const sel_status now = write_pieces(s.job, status != SEL_OK, error);
        status = status ? status : now;
    } else {
        status = sel_writer_submit(writer, write_pieces, s.job, error);
    }
    status = sel_ranks_agree(ranks, status, error);
    if (status && *file) {
        sel_writer_drain(writer, NULL);
        sel_file_end(*file, path, "it is not complete", NULL);
        *file = NULL;
    }
    return status;
}
