// Functions with file offsets are macros, whose names depend on the size of an offset: Swift sees no macros.
#include <mpg123.h>

typedef mpg123_ssize_t (*CMPG123_read_function)(void *, void *, size_t);
typedef off_t (*CMPG123_seek_function)(void *, off_t, int);

// A decoder that gives floats, converts no rates, and prints nothing; null if there is none.
static inline mpg123_handle *CMPG123_new(void) {
    mpg123_handle *handle = mpg123_new(0, 0);
    if (handle) {
        mpg123_param(handle, MPG123_ADD_FLAGS, MPG123_QUIET | MPG123_FORCE_FLOAT | MPG123_GAPLESS, 0);
        mpg123_param(handle, MPG123_REMOVE_FLAGS, MPG123_AUTO_RESAMPLE, 0);
    }
    return handle;
}

static inline int CMPG123_open(mpg123_handle *handle, CMPG123_read_function read, CMPG123_seek_function seek, void *context) {
    int status = mpg123_replace_reader_handle(handle, read, seek, 0);
    return status != MPG123_OK ? status : mpg123_open_handle(handle, context);
}

static inline int CMPG123_decode_frame(mpg123_handle *handle, unsigned char **audio, size_t *bytes) {
    off_t number;
    return mpg123_decode_frame(handle, &number, audio, bytes);
}

// The offset of the frame that was read last.
static inline off_t CMPG123_frame_position(mpg123_handle *handle) { return mpg123_framepos(handle); }

// Bytes of that frame; 0 if there is none.
static inline int CMPG123_frame_size(mpg123_handle *handle) {
    struct mpg123_frameinfo info;
    return mpg123_info(handle, &info) == MPG123_OK ? info.framesize : 0;
}

// The layer of that frame, 1 to 3.
static inline int CMPG123_layer(mpg123_handle *handle) {
    struct mpg123_frameinfo info;
    return mpg123_info(handle, &info) == MPG123_OK ? info.layer : 3;
}

static inline off_t CMPG123_length(mpg123_handle *handle) { return mpg123_length(handle); }
