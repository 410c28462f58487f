// A sound card for tests, behind the real libasound: an ALSA I/O plug-in that plays a file into the capture side, paced
// by the monotonic clock, and fails when it is told to.
//
//     pcm_type.fake { lib "/path/libFakeCard.so" }
//     pcm.mic { type fake file "voice.wav" }
//
// Keys of the device:
//
//     file      a WAV file (16, 24, 32 bit or float), or raw samples; silence follows its end
//     rate      of raw samples, in Hz (48000)
//     channels  of raw samples (1)
//     format    of raw samples, by ALSA's name (S16_LE)
//     speed     so many times as fast as the clock (1.0); 0 gives audio as fast as it is read
//     loop      begins again at the file's end (off)
//     patient   waits for a reader that is late, in place of an overrun (off)
//     control   a text file with what is wrong now; empty or missing means nothing
//
// What the control file may say; the first four happen once and clear the file:
//
//     xrun      an overrun
//     suspend   the device is suspended until it is resumed
//     skip N    N frames are lost without an error
//     storm N   N overruns, one after the other, without a frame in between
//     gone      unplugged: the device is disconnected, and cannot be opened
//     eio       as a removed PCI card: reads give EIO while the state is RUNNING, and it cannot be opened
//     busy      it cannot be opened; an open one goes on
//     stall     no more frames, no error

#ifndef FAKE_CARD_H
#define FAKE_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Audio in memory, as the file has it.
struct FakeCard_audio {
    void *map;
    size_t map_size;
    const uint8_t *frames;
    size_t frame_count;
    size_t frame_bytes;
    int format;
    unsigned rate, channels;
};

/// Maps a file. Rate, channels and format hold those of raw samples and are replaced by a WAV file's own.
/// 0, or a negative errno.
int FakeCard_load(struct FakeCard_audio *audio, const char *path);
void FakeCard_unload(struct FakeCard_audio *audio);

/// Copies frames from a place counted from the start, silence where there are none.
void FakeCard_copy(const struct FakeCard_audio *audio, uint64_t from, bool loops, uint8_t *to, size_t count);

enum FakeCard_fault {
    FAKE_NONE, FAKE_XRUN, FAKE_SUSPEND, FAKE_SKIP, FAKE_STORM, FAKE_GONE, FAKE_EIO, FAKE_BUSY, FAKE_STALL
};

/// What the control file says now; what happens once is cleared from it where `takes` says so.
enum FakeCard_fault FakeCard_fault(const char *path, bool takes, long *number);

#endif
