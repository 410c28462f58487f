#include "CFLAC.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#define FUNCTIONS(each) \
    each(new) each(delete) each(init_stream) each(init_ogg_stream) each(process_until_end_of_metadata) each(process_single) \
    each(get_state) each(get_decode_position)

#define FIELD(name) __typeof__(&FLAC__stream_decoder_##name) name;
static struct { FUNCTIONS(FIELD) } functions;
static void *library;
static bool is_loaded;

static void load(void) {
    // Of Debian 13, 12 and 11.
    static const char *const names[] = {"libFLAC.so.14", "libFLAC.so.12", "libFLAC.so.8"};
    for (size_t index = 0; !library && index < sizeof names / sizeof *names; index++) library = dlopen(names[index], RTLD_NOW);
    if (!library) return;
#define FIND(name) \
    if (!(functions.name = (__typeof__(functions.name))dlsym(library, "FLAC__stream_decoder_" #name))) return;
    FUNCTIONS(FIND)
    is_loaded = true;
}

bool CFLAC_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded;
}

void *CFLAC_find(const char *name) { return library ? dlsym(library, name) : NULL; }

FLAC__StreamDecoder *CFLAC_decoder_new(void) { return functions.new(); }
void CFLAC_decoder_delete(FLAC__StreamDecoder *decoder) { functions.delete(decoder); }
FLAC__StreamDecoderInitStatus CFLAC_decoder_init(
    FLAC__StreamDecoder *decoder, bool is_ogg, FLAC__StreamDecoderReadCallback read, FLAC__StreamDecoderTellCallback tell,
    FLAC__StreamDecoderEofCallback is_at_end, FLAC__StreamDecoderWriteCallback write, FLAC__StreamDecoderMetadataCallback metadata,
    FLAC__StreamDecoderErrorCallback error, void *context) {
    return (is_ogg ? functions.init_ogg_stream : functions.init_stream)(
        decoder, read, NULL, tell, NULL, is_at_end, write, metadata, error, context);
}
FLAC__bool CFLAC_decoder_process_until_end_of_metadata(FLAC__StreamDecoder *decoder) {
    return functions.process_until_end_of_metadata(decoder);
}
FLAC__bool CFLAC_decoder_process_single(FLAC__StreamDecoder *decoder) { return functions.process_single(decoder); }
FLAC__StreamDecoderState CFLAC_decoder_get_state(const FLAC__StreamDecoder *decoder) { return functions.get_state(decoder); }
FLAC__bool CFLAC_decoder_get_decode_position(const FLAC__StreamDecoder *decoder, FLAC__uint64 *position) {
    return functions.get_decode_position(decoder, position);
}
