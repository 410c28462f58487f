// Opens a card from ALSA's configuration; see FakeCard.h.

#include <errno.h>
#include <sys/mman.h>
#include <sys/timerfd.h>

#include "card.h"

void FakeCard_destroy(struct card *card) {
    FakeCard_unload(&card->audio);
    if (card->timer >= 0) close(card->timer);
    free(card->file);
    free(card->control);
    free(card->ledger_file);
    if (card->ledger) munmap(card->ledger, card->ledger_size);
    free(card);
}

/// Reads one key of the configuration. Returns 0 or a negative errno.
static int configure(struct card *card, const char *key, snd_config_t *value) {
    const char *text;
    long number;
    int result;
    if (!strcmp(key, "file") || !strcmp(key, "control") || !strcmp(key, "ledger")) {
        if ((result = snd_config_get_string(value, &text)) < 0) return result;
        char **target = *key == 'f' ? &card->file : *key == 'c' ? &card->control : &card->ledger_file;
        free(*target);
        *target = strdup(text);
        return *target ? 0 : -ENOMEM;
    }
    if (!strcmp(key, "format")) {
        if ((result = snd_config_get_string(value, &text)) < 0) return result;
        card->audio.format = snd_pcm_format_value(text);
        return card->audio.format == SND_PCM_FORMAT_UNKNOWN ? -EINVAL : 0;
    }
    if (!strcmp(key, "rate") || !strcmp(key, "channels")) {
        if ((result = snd_config_get_integer(value, &number)) < 0) return result;
        if (number < 1 || number > 1000000) return -EINVAL;
        *(*key == 'r' ? &card->audio.rate : &card->audio.channels) = (unsigned)number;
        return 0;
    }
    if (!strcmp(key, "speed")) return snd_config_get_ireal(value, &card->speed);
    if (!strcmp(key, "loop") || !strcmp(key, "patient") || !strcmp(key, "live")) {
        if ((result = snd_config_get_bool(value)) < 0) return result;
        *(*key == 'p' ? &card->patient : key[1] == 'o' ? &card->loops : &card->live) = result;
        return 0;
    }
    SNDERR("fake card: unknown key %s", key);
    return -EINVAL;
}

int FakeCard_constrain(snd_pcm_ioplug_t *plug, unsigned format, unsigned channels, unsigned rate, unsigned frame) {
    unsigned access = SND_PCM_ACCESS_RW_INTERLEAVED;
    int result = snd_pcm_ioplug_set_param_list(plug, SND_PCM_IOPLUG_HW_ACCESS, 1, &access);
    if (result >= 0) result = snd_pcm_ioplug_set_param_list(plug, SND_PCM_IOPLUG_HW_FORMAT, 1, &format);
    struct {
        int what;
        unsigned least, most;
    } ranges[] = {
        {SND_PCM_IOPLUG_HW_CHANNELS, channels, channels},
        {SND_PCM_IOPLUG_HW_RATE, rate, rate},
        {SND_PCM_IOPLUG_HW_PERIOD_BYTES, 32 * frame, 16384 * frame},
        {SND_PCM_IOPLUG_HW_BUFFER_BYTES, 64 * frame, 262144 * frame},
        {SND_PCM_IOPLUG_HW_PERIODS, 2, 1024},
    };
    for (size_t index = 0; result >= 0 && index < sizeof ranges / sizeof *ranges; index++) {
        result = snd_pcm_ioplug_set_param_minmax(plug, ranges[index].what, ranges[index].least, ranges[index].most);
    }
    return result;
}

/// Whether the control file lets the card open. Returns 0 or a negative errno.
static int may_open(const struct card *card) {
    long number;
    FakeCard_hang(card->control);
    switch (FakeCard_fault(card->control, false, &number)) {
    case FAKE_GONE: return -ENODEV;
    case FAKE_EIO: return -ENOENT;
    case FAKE_BUSY: return -EBUSY;
    default: return 0;
    }
}

SND_PCM_PLUGIN_DEFINE_FUNC(fake) {
    (void)root;
    struct card *card = calloc(1, sizeof *card);
    if (!card) return -ENOMEM;
    card->timer = -1;
    card->speed = 1;
    card->audio.rate = 48000;
    card->audio.channels = 1;
    card->audio.format = SND_PCM_FORMAT_S16_LE;
    int result = stream == SND_PCM_STREAM_CAPTURE ? 0 : -EINVAL;
    snd_config_iterator_t place, next;
    snd_config_for_each(place, next, conf) {
        snd_config_t *value = snd_config_iterator_entry(place);
        const char *key;
        if (result < 0 || snd_config_get_id(value, &key) < 0) continue;
        if (strcmp(key, "type") && strcmp(key, "comment") && strcmp(key, "hint")) result = configure(card, key, value);
    }
    if (result >= 0) result = may_open(card);
    if (result >= 0) result = card->file ? FakeCard_load(&card->audio, card->file) : -EINVAL;
    if (result >= 0 && card->ledger_file) {
        card->ledger = FakeCard_open_ledger(card->ledger_file, &card->ledger_size);
        if (!card->ledger) result = -EINVAL;
    }
    if (result >= 0) {
        card->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        if (card->timer < 0) result = -errno;
    }
    if (result < 0) {
        FakeCard_destroy(card);
        return result;
    }
    card->plug.version = SND_PCM_IOPLUG_VERSION;
    card->plug.name = "fake card";
    card->plug.flags = SND_PCM_IOPLUG_FLAG_MONOTONIC | SND_PCM_IOPLUG_FLAG_BOUNDARY_WA;
    card->plug.callback = &FakeCard_callbacks;
    card->plug.private_data = card;
    card->plug.poll_fd = card->timer;
    card->plug.poll_events = POLLIN;
    result = snd_pcm_ioplug_create(&card->plug, name, stream, mode);
    if (result < 0) {
        FakeCard_destroy(card);
        return result;
    }
    const struct FakeCard_audio *audio = &card->audio;
    unsigned format = (unsigned)audio->format, frame = (unsigned)audio->frame_bytes;
    result = FakeCard_constrain(&card->plug, format, audio->channels, audio->rate, frame);
    if (result < 0) {
        // This calls card_close, which frees the card.
        snd_pcm_ioplug_delete(&card->plug);
        return result;
    }
    *pcmp = card->plug.pcm;
    return 0;
}

SND_PCM_PLUGIN_SYMBOL(fake);
