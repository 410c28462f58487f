// libFLAC, loaded when it is needed: its number differs between releases of Debian, and what is used of it does not. libsndfile brings it. The
// functions here are those of the same names without the C; before CFLAC_load they must not be called.

#ifndef CFLAC_H
#define CFLAC_H

#include <stdbool.h>

#include <FLAC/stream_decoder.h>
// Tests write FLAC in Ogg.
#include <FLAC/stream_encoder.h>

/// Loads the library, once. Returns false if it, or one of its functions, is not there.
bool CFLAC_load(void);

/// A function of the library; NULL if there is none of this name.
void *CFLAC_find(const char *name);

FLAC__StreamDecoder *CFLAC_decoder_new(void);
void CFLAC_decoder_delete(FLAC__StreamDecoder *decoder);
/// Opens a stream, as such or in Ogg.
FLAC__StreamDecoderInitStatus CFLAC_decoder_init(
    FLAC__StreamDecoder *decoder, bool is_ogg, FLAC__StreamDecoderReadCallback read, FLAC__StreamDecoderTellCallback tell,
    FLAC__StreamDecoderEofCallback is_at_end, FLAC__StreamDecoderWriteCallback write, FLAC__StreamDecoderMetadataCallback metadata,
    FLAC__StreamDecoderErrorCallback error, void *context);
FLAC__bool CFLAC_decoder_process_until_end_of_metadata(FLAC__StreamDecoder *decoder);
FLAC__bool CFLAC_decoder_process_single(FLAC__StreamDecoder *decoder);
FLAC__StreamDecoderState CFLAC_decoder_get_state(const FLAC__StreamDecoder *decoder);
FLAC__bool CFLAC_decoder_get_decode_position(const FLAC__StreamDecoder *decoder, FLAC__uint64 *position);

#endif
