#include <alsa/asoundlib.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "FakeCard.h"

static uint32_t number(const uint8_t *bytes, int count) {
    uint32_t value = 0;
    for (int index = count - 1; index >= 0; index--) value = value << 8 | bytes[index];
    return value;
}

static int wav_format(unsigned code, unsigned bits) {
    if (code == 3 && bits == 32) return SND_PCM_FORMAT_FLOAT_LE;
    if (code != 1) return SND_PCM_FORMAT_UNKNOWN;
    switch (bits) {
    case 16: return SND_PCM_FORMAT_S16_LE;
    case 24: return SND_PCM_FORMAT_S24_3LE;
    case 32: return SND_PCM_FORMAT_S32_LE;
    default: return SND_PCM_FORMAT_UNKNOWN;
    }
}

/// Finds the samples among a WAV file's chunks. Returns 0 or a negative errno.
static int find_samples(struct FakeCard_audio *audio, const uint8_t **samples, size_t *size) {
    const uint8_t *bytes = audio->map;
    bool described = false;
    for (size_t place = 12; place + 8 <= audio->map_size;) {
        size_t length = number(bytes + place + 4, 4);
        const uint8_t *body = bytes + place + 8;
        size_t room = audio->map_size - place - 8;
        if (!memcmp(bytes + place, "fmt ", 4) && length >= 16 && length <= room) {
            unsigned code = number(body, 2);
            // WAVE_FORMAT_EXTENSIBLE: the sub-format's first two bytes are the format code.
            if (code == 0xfffe && length >= 26) code = number(body + 24, 2);
            audio->channels = number(body + 2, 2);
            audio->rate = number(body + 4, 4);
            audio->format = wav_format(code, number(body + 14, 2));
            described = true;
        } else if (!memcmp(bytes + place, "data", 4)) {
            *samples = body;
            *size = length < room ? length : room;
            return described ? 0 : -EINVAL;
        }
        if (length > room) break;
        place += 8 + length + length % 2;
    }
    return -EINVAL;
}

int FakeCard_load(struct FakeCard_audio *audio, const char *path) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return -errno;
    struct stat status;
    int result = fstat(descriptor, &status) < 0 ? -errno : status.st_size == 0 ? -EINVAL : 0;
    if (result == 0) {
        audio->map_size = (size_t)status.st_size;
        audio->map = mmap(NULL, audio->map_size, PROT_READ, MAP_SHARED, descriptor, 0);
        if (audio->map == MAP_FAILED) {
            result = -errno;
            audio->map = NULL;
        }
    }
    close(descriptor);
    if (result < 0) return result;
    const uint8_t *samples = audio->map;
    size_t size = audio->map_size;
    if (size >= 12 && !memcmp(samples, "RIFF", 4) && !memcmp(samples + 8, "WAVE", 4)) {
        result = find_samples(audio, &samples, &size);
        if (result < 0) return result;
    }
    int bits = snd_pcm_format_physical_width(audio->format);
    if (bits <= 0 || audio->channels == 0 || audio->rate == 0) return -EINVAL;
    audio->frame_bytes = (size_t)bits / 8 * audio->channels;
    audio->frames = samples;
    audio->frame_count = size / audio->frame_bytes;
    return audio->frame_count > 0 ? 0 : -EINVAL;
}

void FakeCard_unload(struct FakeCard_audio *audio) {
    if (audio->map) munmap(audio->map, audio->map_size);
    audio->map = NULL;
}

void FakeCard_copy(const struct FakeCard_audio *audio, uint64_t from, bool loops, uint8_t *to, size_t count) {
    while (count > 0) {
        uint64_t place = loops ? from % audio->frame_count : from;
        size_t left = place < audio->frame_count ? (size_t)(audio->frame_count - place) : 0;
        size_t copied = left < count ? left : count;
        if (copied == 0) {
            // Zero is silence in all formats that this card supports.
            memset(to, 0, count * audio->frame_bytes);
            return;
        }
        memcpy(to, audio->frames + place * audio->frame_bytes, copied * audio->frame_bytes);
        to += copied * audio->frame_bytes;
        from += copied;
        count -= copied;
    }
}
