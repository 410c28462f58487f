#include <FLAC/stream_decoder.h>
// Tests write FLAC in Ogg.
#include <FLAC/stream_encoder.h>
