// The state of an open card, for open.c and card.c, and a function that speaker.c calls too.

#ifndef FAKE_CARD_CARD_H
#define FAKE_CARD_CARD_H

#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>

#include "FakeCard.h"

struct card {
    snd_pcm_ioplug_t plug;
    struct FakeCard_audio audio;
    char *file, *control, *ledger_file;
    struct FakeCard_ledger *ledger;
    size_t ledger_size;
    double speed;
    int loops, patient, live;
    int timer;
    snd_pcm_uframes_t boundary;
    /// Position in the file, or in all that it has played if the card is live: frames delivered or lost.
    uint64_t place;
    /// Frames captured by `base_time` since the start; frames read since the start.
    uint64_t base, taken;
    double base_time;
    /// When position 0 was, if there is no ledger.
    double epoch;
    /// The card delivers no frames (fault `stall`).
    bool stalled;
    long storm;
};

extern const snd_pcm_ioplug_callback_t FakeCard_callbacks;

void FakeCard_destroy(struct card *card);

/// Declares format, channels, rate and buffer sizes of a card to ALSA; `frame` is in bytes. Returns 0 or a negative errno.
int FakeCard_constrain(snd_pcm_ioplug_t *plug, unsigned format, unsigned channels, unsigned rate, unsigned frame);

#endif
