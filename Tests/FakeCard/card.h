// A card that is open, shared by what makes it and what runs it.

#ifndef FAKE_CARD_CARD_H
#define FAKE_CARD_CARD_H

#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>

#include "FakeCard.h"

struct card {
    snd_pcm_ioplug_t plug;
    struct FakeCard_audio audio;
    char *file, *control;
    double speed;
    int loops, patient;
    int timer;
    snd_pcm_uframes_t boundary;
    /// Frames of the file that were given out or lost.
    uint64_t place;
    /// Frames since the start that were there at `base_time`, and frames that were read.
    uint64_t base, taken;
    double base_time;
    /// The clock stands still.
    bool stalled;
    long storm;
};

extern const snd_pcm_ioplug_callback_t FakeCard_callbacks;

void FakeCard_destroy(struct card *card);

#endif
