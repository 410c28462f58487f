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
 *
 * Versions: a program that was compiled with an older header goes on to work with a newer library. What is marked with an
 * interface needs a library whose beckon_interface() is at least that; a program that has to run with older ones, which do not
 * have that function (interface 1), looks it up by dlsym().
 */
#ifndef BECKON_H
#define BECKON_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header, which grows with its functions and fields. */
#define BECKON_INTERFACE 3

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
    /* Interface 2. The only words that may be reported, however they are written, beside wake words; NULL for all. */
    const char *const *words;
    size_t word_count;
    /* Interface 2. Wake words with models of their own: names of those beside the model, such as "okay_nabu", or files. */
    const char *const *wake_words;
    size_t wake_word_count;
    /* Interface 2. Phrases of two or more words, such as "go left", which are reported after their words. */
    const char *const *phrases;
    size_t phrase_count;
    /* Interface 3. Words that are made from their names, such as "hey house"; or "hey house=h eɪ h aʊ s", with how it is said, in IPA or
       ARPAbet, in place of what its spelling gives; once for each way. */
    const char *const *typed_words;
    size_t typed_word_count;
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
    settings.words = NULL;
    settings.word_count = 0;
    settings.wake_words = NULL;
    settings.wake_word_count = 0;
    settings.phrases = NULL;
    settings.phrase_count = 0;
    settings.typed_words = NULL;
    settings.typed_word_count = 0;
    return settings;
}

/* A word or phrase that was detected. Times are in seconds from the start of the file or stream. */
typedef struct beckon_detection {
    /* A word, or one of beckon_phrase(), UTF-8; valid until the spotter and the stream or results that it came from are closed. */
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

/* Interface 2. That of the library: BECKON_INTERFACE of the header that it was made with. */
int beckon_interface(void);

/* The number of words that may be reported: those of the model, in its order, then the taught ones, then wake words. */
size_t beckon_word_count(const beckon_spotter *spotter);

/* A word, as UTF-8, valid until the spotter is closed; NULL for a number that is not below the count. */
const char *beckon_word(const beckon_spotter *spotter, size_t index);

/* Interface 2. A phrase of the settings, with single spaces; NULL for a number that is not below their count. */
const char *beckon_phrase(const beckon_spotter *spotter, size_t index);

/* Interface 2. What has a score in each hop: all words, then "_unknown_" and "_silence_"; and how many these are. */
const char *beckon_label(const beckon_spotter *spotter, size_t index);
size_t beckon_label_count(const beckon_spotter *spotter);

/*
 * Finds the words of an audio file: any format that libsndfile reads, 8 to 192 kHz.
 *
 * threads: to use, including the calling one, 1 or more. More than one helps with recordings of minutes.
 * Returns NULL where the file cannot be opened or is damaged; what was found before is lost.
 */
beckon_results *beckon_find(const beckon_spotter *spotter, const char *path, int threads, beckon_error *error);

/* Called after each file, by one thread at a time, with the number of files that are done. Returns 0 to stop. */
typedef int (*beckon_progress)(void *context, size_t done, size_t count);

/*
 * Interface 2. Finds the words of many audio files, on several threads.
 *
 * progress: on the calling thread or another one; NULL for none. context: passed to it.
 * results: [count], which are filled: NULL for a file that could not be read, or was not, because it stopped.
 * errors: [count], why a file could not be read; NULL if nobody asks.
 * Returns BECKON_OK also where files could not be read, and BECKON_ERROR_CALL for arguments that are not allowed.
 */
beckon_code beckon_find_files(
    const beckon_spotter *spotter, const char *const *paths, size_t count, int threads, beckon_progress progress,
    void *context, beckon_results **results, beckon_error *errors, beckon_error *error);

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

/* The type of samples: 16 bits in the machine's byte order, or floats in -1 to 1. */
typedef enum beckon_format { BECKON_INT16 = 0, BECKON_FLOAT32 = 1, BECKON_FLOAT64 = 2 } beckon_format;

/*
 * Interface 2. Gives the next samples of several channels to a stream, which hears their mean.
 *
 * samples: [frames][channels], of the format. channels: 1 to 64.
 */
beckon_code beckon_stream_push_frames(
    beckon_stream *stream, const void *samples, beckon_format format, size_t frames, int channels, beckon_error *error);

/*
 * Interface 2. The scores of the newest hops, ten a second: [hops][labels], the oldest first, each 0 to 1 and smoothed over
 * three hops; thresholds are compared with them.
 *
 * scores: set to them; not copied: the next samples change them, and they are there until the stream is closed. NULL is
 * allowed.
 * Returns the hops that are there: those of the last minute, unless beckon_stream_keep() asked for another time.
 */
size_t beckon_stream_scores(const beckon_stream *stream, const float **scores);

/* Interface 2. Hops since the stream began, also those whose scores are not there any more. */
uint64_t beckon_stream_hops(const beckon_stream *stream);

/* Interface 2. Keeps the scores of so many seconds, 0.1 to 86400, from the stream's begin on: before its first samples. */
beckon_code beckon_stream_keep(beckon_stream *stream, double seconds, beckon_error *error);

/* Ends a stream: the last word is decided, as if a second of silence followed. Words may still be polled. */
beckon_code beckon_stream_finish(beckon_stream *stream, beckon_error *error);

/* Takes the next word that was decided. Returns 1, or 0 if there is none (yet), and `detection` is unchanged then. */
int beckon_stream_poll(beckon_stream *stream, beckon_detection *detection);

/* Gives a stream back, finished or not; NULL is ignored. */
void beckon_stream_close(beckon_stream *stream);

/* A recording in which a word is said, once or several times with pauses between. */
typedef struct beckon_take {
    /* [frames][channels], of the format. */
    const void *samples;
    size_t frames;
    beckon_format format;
    int channels;
    /* In Hz. */
    int sample_rate;
} beckon_take;

/* What came of teaching a word. */
typedef struct beckon_lesson beckon_lesson;

/* What is to be expected of a taught word at one threshold. */
typedef struct beckon_rates {
    double threshold;
    /* Share of utterances that are missed, 0 to 1, where those who said the takes say the word, and where others do. */
    double missed;
    double missed_of_others;
    /* In an hour of other people's talk. */
    double false_accepts;
} beckon_rates;

/* For beckon_teach(): the word is taught already and gets more takes; the word may sound like another one. */
enum { BECKON_TEACH_MORE = 1, BECKON_TEACH_ALIKE = 2 };

/*
 * Interface 2. Teaches a word, as `beckon enroll --from` does. Takes that are too quiet, cut off, clipped, of another word or
 * unlike the others are left out. It takes seconds.
 *
 * takes: [count]; three to five are good.
 * flags: of those above, or 0.
 * file: a file of taught words that keeps it too, which is made where it is missing; NULL for the new spotter alone.
 * Returns NULL where no take can be used, the word sounds like another one, or the file cannot be changed.
 */
beckon_lesson *beckon_teach(
    const beckon_spotter *spotter, const char *word, const beckon_take *takes, size_t count, int flags, const char *file,
    beckon_error *error);

/* Interface 2. A spotter that finds the word too, to be closed by the caller; the one that taught it goes on as it was. */
beckon_spotter *beckon_lesson_spotter(const beckon_lesson *lesson);

/* Interface 2. How many takes the word has now. */
size_t beckon_lesson_takes(const beckon_lesson *lesson);

/*
 * Interface 2. How many utterances of a recording became takes, and, if remark is not NULL, what is wrong with the others or
 * noteworthy: UTF-8, empty for nothing, valid until the lesson is freed.
 */
size_t beckon_lesson_used(const beckon_lesson *lesson, size_t index, const char **remark);

/* Interface 2. Fills in the estimates for a sensitivity and mode. Returns 1, or 0 where there are none. */
int beckon_lesson_rates(
    const beckon_lesson *lesson, beckon_sensitivity sensitivity, beckon_mode mode, beckon_rates *rates);

/* Interface 2. The estimates in sentences, a line each, and what the word may be taken for. Valid until the lesson is freed. */
const char *beckon_lesson_text(const beckon_lesson *lesson);

/* Interface 2. Gives a lesson back; NULL is ignored. */
void beckon_lesson_free(beckon_lesson *lesson);

#ifdef __cplusplus
}
#endif

#endif
