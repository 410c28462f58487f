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
//     speed     playback speed, as a multiple of the clock (1.0); 0: as fast as it is read
//     loop      repeats the file (off)
//     patient   waits for a late reader instead of an overrun (off)
//     live      the file plays on while nobody reads it, as the world does: what is not read is lost (off)
//     ledger    a file that gets an account of what was delivered; see FakeCard_ledger
//     control   a text file that names the present fault; empty or missing: no fault
//
// Faults in the control file; the first four happen once and clear the file:
//
//     xrun      an overrun
//     suspend   the device is suspended until it is resumed
//     skip N    N frames are lost without an error
//     storm N   N overruns, one after the other, without a frame in between
//     gone      unplugged: the device is disconnected and cannot be opened
//     eio       like a removed PCI card: reads give EIO while the state is RUNNING, and it cannot be opened
//     busy      cannot be opened; an open device keeps working
//     stall     no more frames, no error
//     hang      like a broken driver: opening and reading do not return until the fault ends

// The library has a loudspeaker, too, which is opened for playback only:
//
//     pcm_type.speaker { lib "/path/libFakeCard.so" }
//     pcm.out { type speaker file "played.raw" }
//
// Keys: file (what is played is appended to it), rate (48000), channels (2), format (S16_LE), speed (1.0; 0: as fast as it is written),
// control. Faults: xrun (an underrun), suspend, gone, eio, busy, stall.

#ifndef FAKE_CARD_H
#define FAKE_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A file of audio in memory.
struct FakeCard_audio {
    void *map;
    size_t map_size;
    const uint8_t *frames;
    size_t frame_count;
    size_t frame_bytes;
    int format;
    unsigned rate, channels;
};

/// Maps a file. Rate, channels and format are those of raw samples; a WAV header replaces them.
/// Returns 0 or a negative errno.
int FakeCard_load(struct FakeCard_audio *audio, const char *path);
void FakeCard_unload(struct FakeCard_audio *audio);

/// Copies frames from a position in the file, or silence past its end.
void FakeCard_copy(const struct FakeCard_audio *audio, uint64_t from, bool loops, uint8_t *to, size_t count);

enum FakeCard_fault {
    FAKE_NONE, FAKE_XRUN, FAKE_SUSPEND, FAKE_SKIP, FAKE_STORM, FAKE_GONE, FAKE_EIO, FAKE_BUSY, FAKE_STALL,
    FAKE_HANG,
    /// The reader was late; not in a control file.
    FAKE_LATE
};

/// The fault in the control file. With `takes`, a fault that happens once is cleared from the file.
enum FakeCard_fault FakeCard_fault(const char *path, bool takes, long *number);

/// What the card delivered, in memory that other programs map: the truth to which a reader's own counts are compared.
/// Positions are frames since the first start of the card with this file; they go on while the card is closed.
struct FakeCard_ledger {
    /// When position 0 was, in seconds of the monotonic clock; 0: never yet.
    double epoch;
    /// Frames delivered.
    uint64_t delivered;
    uint64_t segment_count;
    /// The first fault since the last frame; see FakeCard_segment.
    uint64_t reason;
    /// Frames delivered without a break. A full table lacks the newest.
    struct FakeCard_segment {
        uint64_t begin, end;
        /// Why the frames before it were not delivered: an enum FakeCard_fault; FAKE_NONE: the reader had closed the card.
        uint64_t reason;
    } segments[];
};

/// Maps a ledger: a file whose size says how many segments it holds. NULL if that fails.
struct FakeCard_ledger *FakeCard_open_ledger(const char *path, size_t *size);

/// Adds frames from `position` on.
void FakeCard_deliver(struct FakeCard_ledger *ledger, size_t size, uint64_t position, uint64_t count);

/// Waits until the control file no longer says `hang`.
void FakeCard_hang(const char *path);

#endif
