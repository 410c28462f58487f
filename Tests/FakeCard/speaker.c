// A loudspeaker for tests, behind the real libasound: an ALSA I/O plug-in that writes what is played to a file, paced by the monotonic
// clock, and fails when it is told to; see FakeCard.h.

#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "card.h"

struct speaker {
    snd_pcm_ioplug_t plug;
    char *file, *control;
    unsigned rate, channels, format;
    double speed;
    int output;
    size_t frame_bytes;
    snd_pcm_uframes_t boundary;
    /// Frames written and played since the start; frames played by `base_time`.
    uint64_t written, base;
    double base_time;
    bool running, stalled;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static uint64_t played(struct speaker *speaker) {
    if (!speaker->running || speaker->stalled) return speaker->base;
    if (speaker->speed == 0) return speaker->written;
    double frames = (now() - speaker->base_time) * speaker->rate * speaker->speed;
    return speaker->base + (uint64_t)(frames > 0 ? frames : 0);
}

/// Applies the fault in the control file. Returns a negative errno, or 0.
static int misbehave(struct speaker *speaker) {
    long number;
    enum FakeCard_fault fault = FakeCard_fault(speaker->control, true, &number);
    if (speaker->stalled != (fault == FAKE_STALL)) {
        speaker->base = played(speaker);
        speaker->base_time = now();
        speaker->stalled = fault == FAKE_STALL;
    }
    switch (fault) {
    case FAKE_XRUN:
        snd_pcm_ioplug_set_state(&speaker->plug, SND_PCM_STATE_XRUN);
        return -EPIPE;
    case FAKE_SUSPEND:
        speaker->base = played(speaker);
        speaker->running = false;
        snd_pcm_ioplug_set_state(&speaker->plug, SND_PCM_STATE_SUSPENDED);
        return -ESTRPIPE;
    case FAKE_GONE:
        snd_pcm_ioplug_set_state(&speaker->plug, SND_PCM_STATE_DISCONNECTED);
        return -ENODEV;
    case FAKE_EIO: return -EIO;
    default: return 0;
    }
}

static int speaker_start(snd_pcm_ioplug_t *plug) {
    struct speaker *speaker = plug->private_data;
    speaker->running = true;
    speaker->base = 0;
    speaker->base_time = now();
    return 0;
}

static int speaker_stop(snd_pcm_ioplug_t *plug) {
    struct speaker *speaker = plug->private_data;
    speaker->base = played(speaker);
    speaker->running = false;
    return 0;
}

static int speaker_prepare(snd_pcm_ioplug_t *plug) {
    struct speaker *speaker = plug->private_data;
    long number;
    speaker->running = false;
    speaker->written = speaker->base = 0;
    return FakeCard_fault(speaker->control, false, &number) == FAKE_GONE ? -ENODEV : 0;
}

static snd_pcm_sframes_t speaker_pointer(snd_pcm_ioplug_t *plug) {
    struct speaker *speaker = plug->private_data;
    uint64_t frames = played(speaker);
    // It has played more than there was: an underrun.
    if (frames > speaker->written) return -EPIPE;
    return (snd_pcm_sframes_t)(frames % speaker->boundary);
}

static snd_pcm_sframes_t speaker_transfer(
    snd_pcm_ioplug_t *plug,
    const snd_pcm_channel_area_t *areas,
    snd_pcm_uframes_t offset,
    snd_pcm_uframes_t count
) {
    struct speaker *speaker = plug->private_data;
    int error = misbehave(speaker);
    if (error < 0) return error;
    const uint8_t *from = (const uint8_t *)areas->addr + (areas->first + areas->step * offset) / 8;
    size_t size = count * speaker->frame_bytes;
    if (speaker->output >= 0 && write(speaker->output, from, size) != (ssize_t)size) return -EIO;
    speaker->written += count;
    return (snd_pcm_sframes_t)count;
}

static int speaker_resume(snd_pcm_ioplug_t *plug) {
    struct speaker *speaker = plug->private_data;
    speaker->running = true;
    speaker->base_time = now();
    return snd_pcm_ioplug_set_state(plug, SND_PCM_STATE_RUNNING);
}

static int speaker_sw_params(snd_pcm_ioplug_t *plug, snd_pcm_sw_params_t *params) {
    struct speaker *speaker = plug->private_data;
    return snd_pcm_sw_params_get_boundary(params, &speaker->boundary);
}

static void destroy(struct speaker *speaker) {
    if (speaker->output >= 0) close(speaker->output);
    free(speaker->file);
    free(speaker->control);
    free(speaker);
}

static int speaker_close(snd_pcm_ioplug_t *plug) {
    destroy(plug->private_data);
    return 0;
}

static const snd_pcm_ioplug_callback_t callbacks = {
    .start = speaker_start,
    .stop = speaker_stop,
    .pointer = speaker_pointer,
    .transfer = speaker_transfer,
    .prepare = speaker_prepare,
    .resume = speaker_resume,
    .sw_params = speaker_sw_params,
    .close = speaker_close,
};

/// Reads one key of the configuration. Returns 0 or a negative errno.
static int configure(struct speaker *speaker, const char *key, snd_config_t *value) {
    const char *text;
    long number;
    int result;
    if (!strcmp(key, "file") || !strcmp(key, "control")) {
        if ((result = snd_config_get_string(value, &text)) < 0) return result;
        char **target = *key == 'f' ? &speaker->file : &speaker->control;
        free(*target);
        *target = strdup(text);
        return *target ? 0 : -ENOMEM;
    }
    if (!strcmp(key, "format")) {
        if ((result = snd_config_get_string(value, &text)) < 0) return result;
        int format = snd_pcm_format_value(text);
        speaker->format = (unsigned)format;
        return format == SND_PCM_FORMAT_UNKNOWN ? -EINVAL : 0;
    }
    if (!strcmp(key, "rate") || !strcmp(key, "channels")) {
        if ((result = snd_config_get_integer(value, &number)) < 0) return result;
        if (number < 1 || number > 1000000) return -EINVAL;
        *(*key == 'r' ? &speaker->rate : &speaker->channels) = (unsigned)number;
        return 0;
    }
    if (!strcmp(key, "speed")) return snd_config_get_ireal(value, &speaker->speed);
    SNDERR("fake speaker: unknown key %s", key);
    return -EINVAL;
}

static int may_open(const struct speaker *speaker) {
    long number;
    switch (FakeCard_fault(speaker->control, false, &number)) {
    case FAKE_GONE: return -ENODEV;
    case FAKE_EIO: return -ENOENT;
    case FAKE_BUSY: return -EBUSY;
    default: return 0;
    }
}

SND_PCM_PLUGIN_DEFINE_FUNC(speaker) {
    (void)root;
    struct speaker *speaker = calloc(1, sizeof *speaker);
    if (!speaker) return -ENOMEM;
    speaker->output = -1;
    speaker->speed = 1;
    speaker->rate = 48000;
    speaker->channels = 2;
    speaker->format = SND_PCM_FORMAT_S16_LE;
    int result = stream == SND_PCM_STREAM_PLAYBACK ? 0 : -EINVAL;
    snd_config_iterator_t place, next;
    snd_config_for_each(place, next, conf) {
        snd_config_t *value = snd_config_iterator_entry(place);
        const char *key;
        if (result < 0 || snd_config_get_id(value, &key) < 0) continue;
        if (strcmp(key, "type") && strcmp(key, "comment") && strcmp(key, "hint")) {
            result = configure(speaker, key, value);
        }
    }
    if (result >= 0) result = may_open(speaker);
    if (result >= 0 && speaker->file) {
        speaker->output = open(speaker->file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (speaker->output < 0) result = -errno;
    }
    if (result < 0) {
        destroy(speaker);
        return result;
    }
    speaker->frame_bytes = (size_t)snd_pcm_format_physical_width((snd_pcm_format_t)speaker->format) / 8 * speaker->channels;
    speaker->plug.version = SND_PCM_IOPLUG_VERSION;
    speaker->plug.name = "fake speaker";
    speaker->plug.flags = SND_PCM_IOPLUG_FLAG_MONOTONIC | SND_PCM_IOPLUG_FLAG_BOUNDARY_WA;
    speaker->plug.callback = &callbacks;
    speaker->plug.private_data = speaker;
    speaker->plug.poll_fd = -1;
    result = snd_pcm_ioplug_create(&speaker->plug, name, stream, mode);
    if (result < 0) {
        destroy(speaker);
        return result;
    }
    unsigned frame = (unsigned)speaker->frame_bytes;
    result = FakeCard_constrain(&speaker->plug, speaker->format, speaker->channels, speaker->rate, frame);
    if (result < 0) {
        // This calls speaker_close, which frees the speaker.
        snd_pcm_ioplug_delete(&speaker->plug);
        return result;
    }
    *pcmp = speaker->plug.pcm;
    return 0;
}

SND_PCM_PLUGIN_SYMBOL(speaker);
