/* tape.h -- saved arrays in memory, for tests of sel_arrays_keep. */
#ifndef TAPE_H
#define TAPE_H

/* Bytes on their way, as a file would hold them. */
typedef struct tape {
    char bytes[1 << 18];
    size_t written, read;
} tape;

static inline sel_status put(void *stream, void *bytes, size_t count, sel_error *error) {
    tape *t = stream;
    (void)error;
    assert_true(t->written + count <= sizeof t->bytes);
    memcpy(t->bytes + t->written, bytes, count);
    t->written += count;
    return SEL_OK;
}

static inline sel_status get(void *stream, void *bytes, size_t count, sel_error *error) {
    tape *t = stream;
    (void)error;
    assert_true(t->read + count <= t->written);
    memcpy(bytes, t->bytes + t->read, count);
    t->read += count;
    return SEL_OK;
}

#endif
