/*
 * The C interface of libbeckon: finds the words of a model, and taught words, in audio files and audio streams.
 *
 *     beckon_error error;
 *     beckon_spotter *spotter = beckon_open("/usr/share/beckon/models/commands", NULL, &error);
 *     if (!spotter) { fprintf(stderr, "%s\n", error.text); return 1; }
 *     beckon_stream *stream = beckon_stream_open(spotter, 48000, &error);
 *     while (... samples ...) {
 *         beckon_detection word;
 *         beckon_stream_push(stream, samples, count, &error);
 *         while (beckon_stream_poll(stream, &word)) printf("%s\n", word.word);
 *     }
 *     beckon_stream_close(stream);
 *     beckon_close(spotter);
 *
 * Errors: functions that can fail return NULL or a code other than BECKON_OK. They then fill the error that they were
 * given; NULL in its place is allowed.
 *
 * Threads: any number of threads may use one spotter at a time. A stream and results may be used by any thread, but by
 * one at a time. No function keeps a pointer that it was given, apart from handles, and none writes to standard output or
 * standard error, changes the locale, handles signals or starts a thread that goes on after the call. Not to be called from
 * the callback of a sound card: a call may take milliseconds, and it allocates memory.
 *
 * Processes: after fork() the child may use what the parent made, and both go on with a stream by themselves. A fork waits
 * for the calls of other threads, two seconds at most. Not in the child of vfork(), nor in a signal handler.
 *
 * Order: a spotter may be closed before its streams and results, which keep what they need of it.
 */
#ifndef BECKON_H
#define BECKON_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A model and taught words, loaded once for all streams and files. */
typedef struct beckon_spotter beckon_spotter;
/* One stream of audio, such as a microphone's. */
typedef struct beckon_stream beckon_stream;
/* The words of a file. */
typedef struct beckon_results beckon_results;

/* What went wrong. */
typedef enum beckon_code {
    BECKON_OK = 0,
    /* A call that the rules of this header do not allow, such as NULL for a handle. */
    BECKON_ERROR_CALL = 1,
    /* The model's folder cannot be read, or its files are wrong. */
    BECKON_ERROR_MODEL = 2,
    /* The file of taught words cannot be read, is damaged, or has a word that this model cannot find. */
    BECKON_ERROR_WORDS = 3,
    /* The settings name a word or sensitivity that the model does not have, or a value outside its range. */
    BECKON_ERROR_SETTINGS = 4,
    /* Audio cannot be read or converted. */
    BECKON_ERROR_AUDIO = 5
} beckon_code;

/* An error: one line of UTF-8 that says what is wrong, where, and what to do, cut where it is longer. */
typedef struct beckon_error {
    beckon_code code;
    char text[1020];
} beckon_error;

/* Which words are reported. */
typedef enum beckon_mode {
    /* Words anywhere, also within running speech. */
    BECKON_SPOT = 0,
    /* Words said alone, with a pause before and after. */
    BECKON_COMMAND = 1
} beckon_mode;

/* When a word is reported. */
typedef enum beckon_trigger {
    /* As soon as the word is certain enough. */
    BECKON_EARLY = 0,
    /* When the word is over, with the highest confidence that it had. */
    BECKON_END = 1
} beckon_trigger;

/* How readily words are reported: at most 0.1, 0.5 and 5 false accepts in an hour of other people's talk. */
typedef enum beckon_sensitivity { BECKON_STRICT = 0, BECKON_BALANCED = 1, BECKON_EAGER = 2 } beckon_sensitivity;

/* The confidence, 0 to 1, that one word needs. */
typedef struct beckon_threshold {
    const char *word;
    float confidence;
} beckon_threshold;

/* Settings of a spotter. Begin with beckon_default_settings(). */
typedef struct beckon_settings {
    /* sizeof(beckon_settings), by which a newer library knows the fields that the program knows. */
    size_t size;
    beckon_mode mode;
    beckon_trigger trigger;
    /* Selects the model's thresholds; not every model has all of them in both modes. */
    beckon_sensitivity sensitivity;
    /* The confidence, 0 to 1, that every word needs, in place of the sensitivity; NAN for none. */
    float threshold;
    /* Those of single words, in place of both; NULL for none. */
    const beckon_threshold *thresholds;
    size_t threshold_count;
    /* A file of taught words, as `beckon enroll --words FILE` or `beckon words export FILE` writes it; NULL for none. */
    const char *taught_words;
    /* The channel of a file to listen to, from 0 to 63; -1 for the mean of all channels. */
    int channel;
    /* 0: the model's confirming networks are not loaded. */
    int confirms;
} beckon_settings;

/* The settings of `beckon classify` without options. */
static inline beckon_settings beckon_default_settings(void) {
    beckon_settings settings;
    settings.size = sizeof settings;
    settings.mode = BECKON_SPOT;
    settings.trigger = BECKON_EARLY;
    settings.sensitivity = BECKON_BALANCED;
    settings.threshold = NAN;
    settings.thresholds = NULL;
    settings.threshold_count = 0;
    settings.taught_words = NULL;
    settings.channel = -1;
    settings.confirms = 1;
    return settings;
}

/* A word that was detected. Times are in seconds from the start of the file or stream. */
typedef struct beckon_detection {
    /* UTF-8; valid until the spotter and the stream or results that it came from are closed. */
    const char *word;
    /* 0 to 1. */
    double confidence;
    /* Where networks confirmed it: its score in the streaming network, and their posterior, 0 to 1; else NAN. */
    double proposed;
    double confirmed;
    /* Estimated bounds of the word. */
    double start;
    double end;
} beckon_detection;

/* The library's version, such as "0.1.0". */
const char *beckon_version(void);

/*
 * Loads a model.
 *
 * model: its folder, with model.json, model.safetensors and, for confirming networks, confirm.safetensors.
 * settings: NULL for beckon_default_settings().
 * Returns NULL where the model, the words or the settings cannot be used.
 */
beckon_spotter *beckon_open(const char *model, const beckon_settings *settings, beckon_error *error);

/* Gives a spotter back; NULL is ignored. */
void beckon_close(beckon_spotter *spotter);

/* The number of words: those of the model, in its order, then the taught ones. */
size_t beckon_word_count(const beckon_spotter *spotter);

/* A word, as UTF-8, valid until the spotter is closed; NULL for a number that is not below the count. */
const char *beckon_word(const beckon_spotter *spotter, size_t index);

/*
 * Finds the words of an audio file: any format that libsndfile reads, 8 to 192 kHz.
 *
 * threads: to use, including the calling one, 1 or more. More than one helps with recordings of minutes.
 * Returns NULL where the file cannot be opened or is damaged; what was found before is lost.
 */
beckon_results *beckon_find(const beckon_spotter *spotter, const char *path, int threads, beckon_error *error);

/* The number of words that were found. */
size_t beckon_results_count(const beckon_results *results);

/* The words that were found, in order; NULL if there is none. */
const beckon_detection *beckon_results_items(const beckon_results *results);

/* Gives results back; NULL is ignored. */
void beckon_results_free(beckon_results *results);

/*
 * Begins a stream. It gives the same detections as a file with the same samples.
 *
 * sample_rate: of the samples, in Hz.
 * Returns NULL for a rate that cannot be converted.
 */
beckon_stream *beckon_stream_open(const beckon_spotter *spotter, int sample_rate, beckon_error *error);

/*
 * Gives the next samples to a stream: one channel, any number of them.
 *
 * samples: in -1 to 1; NaN and infinity count as 0. If most of them are whole numbers, or far beyond 1, their full scale
 * is another one, such as that of 16 bits: BECKON_ERROR_AUDIO, and the stream is as it was.
 */
beckon_code beckon_stream_push(beckon_stream *stream, const float *samples, size_t count, beckon_error *error);

/* The same for 16-bit samples in the machine's byte order. */
beckon_code beckon_stream_push_int16(beckon_stream *stream, const int16_t *samples, size_t count, beckon_error *error);

/* Ends a stream: the last word is decided, as if a second of silence followed. Words may still be polled. */
beckon_code beckon_stream_finish(beckon_stream *stream, beckon_error *error);

/* Takes the next word that was decided. Returns 1, or 0 if there is none (yet), and `detection` is unchanged then. */
int beckon_stream_poll(beckon_stream *stream, beckon_detection *detection);

/* Gives a stream back, finished or not; NULL is ignored. */
void beckon_stream_close(beckon_stream *stream);

#ifdef __cplusplus
}
#endif

#endif
