// The running card: its clock, its faults, and the callbacks of ALSA's ioplug.

#include "card.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void set_timer(struct card *card, double seconds) {
    if (seconds < 1e-9) seconds = 1e-9;
    time_t whole = (time_t)seconds;
    struct itimerspec in = {.it_value = {whole, (long)((seconds - (double)whole) * 1e9)}};
    timerfd_settime(card->timer, 0, &in, NULL);
}

/// Frames captured since the start, including those already read.
static uint64_t captured(struct card *card) {
    if (card->stalled) return card->base;
    if (card->speed == 0) return card->taken + card->plug.buffer_size;
    double frames = (now() - card->base_time) * card->plug.rate * card->speed;
    return card->base + (uint64_t)(frames > 0 ? frames : 0);
}

/// Restarts the clock at this number of frames.
static void set_clock(struct card *card, uint64_t frames) {
    card->base = frames;
    card->base_time = now();
}

/// Sets the position of a live card to what the file plays now, less the frames that still wait for the reader.
static void catch_up(struct card *card) {
    if (!card->live || card->speed == 0) return;
    double time = now(), *epoch = card->ledger ? &card->ledger->epoch : &card->epoch;
    if (*epoch == 0) *epoch = time;
    uint64_t there = captured(card), waiting = there > card->taken ? there - card->taken : 0;
    double played = (time - *epoch) * card->plug.rate * card->speed;
    card->place = played > (double)waiting ? (uint64_t)played - waiting : 0;
}

/// Notes why the frames from now on are not delivered, unless another reason came first.
static void note(struct card *card, enum FakeCard_fault reason) {
    if (card->ledger && card->ledger->reason == FAKE_NONE) card->ledger->reason = reason;
}

/// Sets the timer to the next period's end or, while stalled, to the next look at the control file.
static void await_period(struct card *card) {
    uint64_t wanted = card->taken + card->plug.period_size, there = captured(card);
    if (card->stalled) return set_timer(card, 0.01);
    double left = there >= wanted || card->speed == 0 ? 0 : (double)(wanted - there) / (card->plug.rate * card->speed);
    set_timer(card, left);
}

/// Applies the fault in the control file. Returns a negative errno, or 0.
static int misbehave(struct card *card) {
    long number;
    FakeCard_hang(card->control);
    enum FakeCard_fault fault = FakeCard_fault(card->control, true, &number);
    if (card->stalled != (fault == FAKE_STALL)) {
        uint64_t frames = captured(card);
        card->stalled = fault == FAKE_STALL;
        set_clock(card, frames);
        if (!card->stalled) catch_up(card);
    }
    if (fault != FAKE_NONE && fault != FAKE_BUSY) note(card, fault);
    switch (fault) {
    case FAKE_XRUN:
        snd_pcm_ioplug_set_state(&card->plug, SND_PCM_STATE_XRUN);
        return -EPIPE;
    case FAKE_STORM:
        card->storm = number;
        break;
    case FAKE_SUSPEND:
        snd_pcm_ioplug_set_state(&card->plug, SND_PCM_STATE_SUSPENDED);
        return -ESTRPIPE;
    case FAKE_SKIP:
        card->place += (uint64_t)number;
        // The skipped frames take no time on the card's clock, so the clock is moved on by their duration.
        card->base_time += (double)number / (card->plug.rate * card->speed);
        break;
    case FAKE_GONE:
        snd_pcm_ioplug_set_state(&card->plug, SND_PCM_STATE_DISCONNECTED);
        return -ENODEV;
    case FAKE_EIO:
        return -EIO;
    default:
        break;
    }
    if (card->storm > 0) {
        card->storm--;
        note(card, FAKE_STORM);
        snd_pcm_ioplug_set_state(&card->plug, SND_PCM_STATE_XRUN);
        return -EPIPE;
    }
    return 0;
}

static int card_start(snd_pcm_ioplug_t *plug) {
    struct card *card = plug->private_data;
    long number;
    card->taken = 0;
    card->stalled = FakeCard_fault(card->control, false, &number) == FAKE_STALL;
    set_clock(card, 0);
    catch_up(card);
    await_period(card);
    return 0;
}

static int card_stop(snd_pcm_ioplug_t *plug) {
    struct card *card = plug->private_data;
    struct itimerspec never = {0};
    timerfd_settime(card->timer, 0, &never, NULL);
    return 0;
}

static snd_pcm_sframes_t card_pointer(snd_pcm_ioplug_t *plug) {
    struct card *card = plug->private_data;
    uint64_t frames = captured(card);
    if (frames > card->taken + plug->buffer_size) {
        if (!card->patient) {
            note(card, FAKE_LATE);
            return -EPIPE;
        }
        frames = card->taken + plug->buffer_size;
        set_clock(card, frames);
    }
    return (snd_pcm_sframes_t)(frames % card->boundary);
}

static snd_pcm_sframes_t card_transfer(
    snd_pcm_ioplug_t *plug,
    const snd_pcm_channel_area_t *areas,
    snd_pcm_uframes_t offset,
    snd_pcm_uframes_t count
) {
    struct card *card = plug->private_data;
    int error = misbehave(card);
    if (error < 0) return error;
    uint8_t *to = (uint8_t *)areas->addr + (areas->first + areas->step * offset) / 8;
    FakeCard_copy(&card->audio, card->place, card->loops, to, count);
    if (card->ledger) FakeCard_deliver(card->ledger, card->ledger_size, card->place, count);
    card->place += count;
    card->taken += count;
    await_period(card);
    return (snd_pcm_sframes_t)count;
}

static int card_poll_revents(
    snd_pcm_ioplug_t *plug,
    struct pollfd *polls,
    unsigned count,
    unsigned short *events
) {
    struct card *card = plug->private_data;
    *events = 0;
    if (count == 0 || !(polls[0].revents & POLLIN)) return 0;
    if (misbehave(card) < 0) {
        // The next read reports which error it is.
        *events = POLLIN | POLLERR;
    } else if (captured(card) >= card->taken + plug->period_size) {
        *events = POLLIN;
    } else {
        await_period(card);
    }
    return 0;
}

static int card_prepare(snd_pcm_ioplug_t *plug) {
    struct card *card = plug->private_data;
    long number;
    return FakeCard_fault(card->control, false, &number) == FAKE_GONE ? -ENODEV : 0;
}

static int card_resume(snd_pcm_ioplug_t *plug) {
    struct card *card = plug->private_data;
    set_clock(card, card->taken);
    catch_up(card);
    await_period(card);
    return snd_pcm_ioplug_set_state(plug, SND_PCM_STATE_RUNNING);
}

static int card_sw_params(snd_pcm_ioplug_t *plug, snd_pcm_sw_params_t *params) {
    struct card *card = plug->private_data;
    return snd_pcm_sw_params_get_boundary(params, &card->boundary);
}

static int card_close(snd_pcm_ioplug_t *plug) {
    FakeCard_destroy(plug->private_data);
    return 0;
}

const snd_pcm_ioplug_callback_t FakeCard_callbacks = {
    .start = card_start,
    .stop = card_stop,
    .pointer = card_pointer,
    .transfer = card_transfer,
    .prepare = card_prepare,
    .resume = card_resume,
    .sw_params = card_sw_params,
    .close = card_close,
    .poll_revents = card_poll_revents,
};
