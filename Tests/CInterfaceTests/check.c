// Uses every function of beckon.h as a program in C would, and prints the words that it found in every way, so that a test
// can compare them bit by bit. It is compiled with the address sanitizer.
//
// usage: check MODEL WORDS FILE SAMPLES RATE, where SAMPLES has those of FILE as 32-bit floats, and WORDS taught ones
#include <beckon.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition)                                                                     \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            fprintf(stderr, "check.c:%d: %s; the last error: %s\n", __LINE__, #condition, error.text); \
            exit(1);                                                                           \
        }                                                                                      \
    } while (0)

static beckon_error error;

static void show(const char *way, const beckon_detection *word) {
    printf("%s %s %a %a %a %a %a\n", way, word->word, word->confidence, word->proposed, word->confirmed, word->start, word->end);
}

static void find(const beckon_spotter *spotter, const char *way, const char *path, int threads) {
    beckon_results *results = beckon_find(spotter, path, threads, &error);
    REQUIRE(results && error.code == BECKON_OK && error.text[0] == 0);
    const beckon_detection *items = beckon_results_items(results);
    for (size_t i = 0; i < beckon_results_count(results); i++) show(way, &items[i]);
    beckon_results_free(results);
}

static void poll(beckon_stream *stream, const char *way) {
    beckon_detection word;
    while (beckon_stream_poll(stream, &word)) show(way, &word);
}

static void stream(const beckon_spotter *spotter, const char *way, const float *samples, size_t count, int rate, size_t chunk) {
    beckon_stream *stream = beckon_stream_open(spotter, rate, &error);
    REQUIRE(stream);
    for (size_t i = 0; i < count; i += chunk) {
        REQUIRE(beckon_stream_push(stream, samples + i, count - i < chunk ? count - i : chunk, &error) == BECKON_OK);
        poll(stream, way);
    }
    REQUIRE(beckon_stream_finish(stream, NULL) == BECKON_OK);
    poll(stream, way);
    REQUIRE(beckon_stream_push(stream, samples, 1, &error) == BECKON_ERROR_CALL && strstr(error.text, "has ended"));
    REQUIRE(beckon_stream_finish(stream, &error) == BECKON_ERROR_CALL);
    beckon_stream_close(stream);
}

static void integers(const beckon_spotter *spotter, const char *way, const float *samples, size_t count, int rate) {
    int16_t *converted = malloc(count * sizeof *converted);
    for (size_t i = 0; i < count; i++) converted[i] = (int16_t)(samples[i] * 32768);
    beckon_stream *stream = beckon_stream_open(spotter, rate, &error);
    REQUIRE(beckon_stream_push_int16(stream, converted, count, &error) == BECKON_OK);
    free(converted);
    REQUIRE(beckon_stream_finish(stream, &error) == BECKON_OK);
    poll(stream, way);
    beckon_stream_close(stream);
}

// What a caller may do wrong, other than what C itself forbids.
static void refuse(const char *model) {
    REQUIRE(!beckon_open("/nowhere", NULL, &error) && error.code == BECKON_ERROR_MODEL && strstr(error.text, "/nowhere"));
    REQUIRE(!beckon_open(NULL, NULL, &error) && error.code == BECKON_ERROR_CALL);
    REQUIRE(!beckon_open("\xff", NULL, &error) && error.code == BECKON_ERROR_CALL && strstr(error.text, "UTF-8"));
    // A long text is cut between two characters, which have two bytes here.
    char path[3000] = "/";
    for (size_t i = 1; i + 2 < sizeof path; i += 2) memcpy(path + i, "\xc3\xa4", 3);
    REQUIRE(!beckon_open(path, NULL, &error) && strlen(error.text) >= sizeof error.text - 2);
    size_t end = strlen(error.text);
    REQUIRE(!((unsigned char)error.text[end - 1] == 0xc3));
    REQUIRE(!beckon_open(path, NULL, NULL));

    beckon_settings settings = beckon_default_settings();
    settings.size = 8;
    REQUIRE(!beckon_open(model, &settings, &error) && error.code == BECKON_ERROR_CALL && strstr(error.text, "size"));
    settings = beckon_default_settings();
    settings.mode = (beckon_mode)7;
    REQUIRE(!beckon_open(model, &settings, &error) && error.code == BECKON_ERROR_CALL && strstr(error.text, "mode"));
    settings = beckon_default_settings();
    settings.threshold = 1.5f;
    REQUIRE(!beckon_open(model, &settings, &error) && error.code == BECKON_ERROR_SETTINGS);
    settings = beckon_default_settings();
    beckon_threshold unknown = {"maybe", 0.5f};
    settings.thresholds = &unknown;
    settings.threshold_count = 1;
    REQUIRE(!beckon_open(model, &settings, &error) && error.code == BECKON_ERROR_SETTINGS && strstr(error.text, "maybe"));
    settings.thresholds = NULL;
    REQUIRE(!beckon_open(model, &settings, &error) && error.code == BECKON_ERROR_CALL);
    settings = beckon_default_settings();
    settings.taught_words = "/nowhere";
    REQUIRE(!beckon_open(model, &settings, &error) && error.code == BECKON_ERROR_WORDS);
    settings = beckon_default_settings();
    settings.channel = -2;
    REQUIRE(!beckon_open(model, &settings, &error) && error.code == BECKON_ERROR_CALL);

    REQUIRE(beckon_word_count(NULL) == 0 && !beckon_word(NULL, 0) && beckon_results_count(NULL) == 0 && !beckon_results_items(NULL));
    beckon_detection word;
    REQUIRE(beckon_stream_poll(NULL, &word) == 0 && beckon_stream_push(NULL, NULL, 0, &error) == BECKON_ERROR_CALL);
    REQUIRE(!beckon_find(NULL, "x.wav", 1, &error) && !beckon_stream_open(NULL, 16000, &error));
    beckon_close(NULL);
    beckon_results_free(NULL);
    beckon_stream_close(NULL);
}

// Samples of several channels, as integers and floats.
static void frames(const beckon_spotter *spotter, const char *way, const float *samples, size_t count, int rate, beckon_format format) {
    enum { CHANNELS = 2 };
    size_t size[] = {sizeof(int16_t), sizeof(float), sizeof(double)};
    char *both = malloc(count * CHANNELS * size[format]);
    for (size_t i = 0; i < count * CHANNELS; i++) {
        float value = samples[i / CHANNELS];
        if (format == BECKON_INT16) ((int16_t *)(void *)both)[i] = (int16_t)(value * 32768);
        if (format == BECKON_FLOAT32) ((float *)(void *)both)[i] = value;
        if (format == BECKON_FLOAT64) ((double *)(void *)both)[i] = value;
    }
    beckon_stream *stream = beckon_stream_open(spotter, rate, &error);
    REQUIRE(beckon_stream_push_frames(stream, both, format, count, 0, &error) == BECKON_ERROR_CALL && strstr(error.text, "channels"));
    REQUIRE(beckon_stream_push_frames(stream, both, (beckon_format)9, count, 2, &error) == BECKON_ERROR_CALL);
    REQUIRE(beckon_stream_push_frames(stream, NULL, format, 1, 2, &error) == BECKON_ERROR_CALL);
    REQUIRE(beckon_stream_push_frames(stream, NULL, format, 0, 2, &error) == BECKON_OK);
    REQUIRE(beckon_stream_push_frames(stream, both, format, count, CHANNELS, &error) == BECKON_OK);
    REQUIRE(beckon_stream_finish(stream, &error) == BECKON_OK);
    poll(stream, way);
    beckon_stream_close(stream);
    free(both);
}

// Scores are at one place, and the newest are there.
static void scores(const beckon_spotter *spotter, const float *samples, size_t count, int rate) {
    beckon_stream *all = beckon_stream_open(spotter, rate, &error), *newest = beckon_stream_open(spotter, rate, &error);
    size_t labels = beckon_label_count(spotter);
    REQUIRE(beckon_stream_keep(newest, 0.3, &error) == BECKON_OK);
    REQUIRE(beckon_stream_keep(newest, 0, &error) == BECKON_ERROR_SETTINGS);
    const float *first = NULL, *last = NULL;
    REQUIRE(beckon_stream_scores(all, &first) == 0 && beckon_stream_hops(all) == 0);
    REQUIRE(beckon_stream_push(all, samples, count, &error) == BECKON_OK && beckon_stream_push(newest, samples, count, &error) == BECKON_OK);
    REQUIRE(beckon_stream_keep(all, 1, &error) == BECKON_ERROR_CALL);
    size_t hops = beckon_stream_scores(all, &first);
    REQUIRE(hops > 3 && hops == beckon_stream_hops(all) && hops == beckon_stream_hops(newest));
    REQUIRE(beckon_stream_scores(newest, &last) == 3 && beckon_stream_scores(newest, NULL) == 3);
    REQUIRE(memcmp(first + (hops - 3) * labels, last, 3 * labels * sizeof *last) == 0);
    REQUIRE(beckon_stream_scores(NULL, &last) == 0 && !last && beckon_stream_hops(NULL) == 0);
    beckon_stream_close(all);
    beckon_stream_close(newest);
}

static int count_done(void *context, size_t done, size_t count) {
    size_t *seen = context;
    if (done != *seen + 1 || done > count) exit(1);
    *seen = done;
    return done < 4;
}

static void many(const beckon_spotter *spotter, const char *path) {
    const char *paths[] = {path, "/nowhere.wav", path, path, path, path};
    enum { COUNT = sizeof paths / sizeof *paths };
    beckon_results *results[COUNT];
    beckon_error errors[COUNT];
    size_t seen = 0;
    REQUIRE(beckon_find_files(spotter, paths, 3, 2, NULL, NULL, results, errors, &error) == BECKON_OK);
    REQUIRE(results[0] && !results[1] && results[2] && errors[0].code == BECKON_OK && errors[1].code == BECKON_ERROR_AUDIO);
    show("files", beckon_results_items(results[2]));
    for (int i = 0; i < 3; i++) beckon_results_free(results[i]);
    REQUIRE(beckon_find_files(spotter, paths, COUNT, 1, count_done, &seen, results, NULL, NULL) == BECKON_OK);
    REQUIRE(seen == 4 && results[3] && !results[4] && !results[5]);
    show("files-1", beckon_results_items(results[0]));
    for (int i = 0; i < COUNT; i++) beckon_results_free(results[i]);
    REQUIRE(beckon_find_files(spotter, paths, 0, 4, NULL, NULL, NULL, NULL, &error) == BECKON_OK);
    REQUIRE(beckon_find_files(spotter, paths, 1, 0, NULL, NULL, results, NULL, &error) == BECKON_ERROR_CALL);
    REQUIRE(beckon_find_files(spotter, NULL, 1, 1, NULL, NULL, results, NULL, &error) == BECKON_ERROR_CALL);
    REQUIRE(beckon_find_files(NULL, paths, 1, 1, NULL, NULL, results, NULL, &error) == BECKON_ERROR_CALL);
}

// The settings of the first header: a smaller structure, behind which may be anything.
struct old_settings {
    size_t size;
    int mode, trigger, sensitivity;
    float threshold;
    const void *thresholds;
    size_t threshold_count;
    const char *taught_words;
    int channel, confirms;
};

static void settings_of_old_programs(const char *model, const char *words, const char *path) {
    beckon_threshold threshold = {"left", 0.5f};
    struct old_settings *old = malloc(sizeof *old);
    *old = (struct old_settings){sizeof *old, 0, 0, 1, NAN, &threshold, 1, words, -1, 1};
    beckon_spotter *spotter = beckon_open(model, (const beckon_settings *)(const void *)old, &error);
    REQUIRE(spotter);
    find(spotter, "old-header", path, 1);
    beckon_close(spotter);
    free(old);
}

static void chosen(const char *model, const char *taught, const char *path) {
    const char *words[] = {"Left", "go", "middle"}, *wake[] = {"okay_nabu"}, *phrases[] = {"go  left"};
    beckon_threshold threshold = {"left", 0.5f};
    beckon_settings settings = beckon_default_settings();
    settings.thresholds = &threshold;
    settings.threshold_count = 1;
    settings.taught_words = taught;
    settings.words = words;
    settings.word_count = 3;
    settings.wake_words = wake;
    settings.wake_word_count = 1;
    settings.phrases = phrases;
    settings.phrase_count = 1;
    beckon_spotter *spotter = beckon_open(model, &settings, &error);
    REQUIRE(spotter && beckon_word_count(spotter) == 4 && strcmp(beckon_word(spotter, 3), "okay nabu") == 0);
    REQUIRE(strcmp(beckon_phrase(spotter, 0), "go left") == 0 && !beckon_phrase(spotter, 1) && !beckon_phrase(NULL, 0));
    size_t count = beckon_label_count(spotter);
    REQUIRE(strcmp(beckon_label(spotter, count - 1), "_silence_") == 0 && !beckon_label(spotter, count) && !beckon_label_count(NULL));
    find(spotter, "only", path, 1);
    beckon_close(spotter);
    words[0] = "maybe";
    REQUIRE(!beckon_open(model, &settings, &error) && error.code == BECKON_ERROR_SETTINGS && strstr(error.text, "maybe"));
    settings.words = NULL;
    wake[0] = "okay_nab";
    REQUIRE(!beckon_open(model, &settings, &error) && error.code == BECKON_ERROR_MODEL);
    settings.wake_words = NULL;
    REQUIRE(!beckon_open(model, &settings, &error) && error.code == BECKON_ERROR_CALL && strstr(error.text, "wake_words"));
}

// A word is made from its name, or from its sounds.
static void typed(const char *model) {
    const char *words[] = {"left"}, *typed[] = {"front left", "left front=l ɛ f t f ɹ ʌ n t", "left front=L EH1 F T F R AH1 N T"};
    beckon_settings settings = beckon_default_settings();
    settings.words = words;
    settings.word_count = 1;
    settings.typed_words = typed;
    settings.typed_word_count = 3;
    beckon_spotter *spotter = beckon_open(model, &settings, &error);
    REQUIRE(spotter && beckon_word_count(spotter) == 3 && strcmp(beckon_word(spotter, 1), "front left") == 0);
    beckon_close(spotter);
    typed[0] = "up";
    REQUIRE(!beckon_open(model, &settings, &error) && error.code == BECKON_ERROR_WORDS && strstr(error.text, "up"));
    typed[0] = "front left=5";
    REQUIRE(!beckon_open(model, &settings, &error) && error.code == BECKON_ERROR_WORDS && strstr(error.text, "'5'"));
}

// A word is taught from a recording of it.
static void teach(const char *model, const float *samples, size_t count, int rate, const char *path) {
    beckon_spotter *spotter = beckon_open(model, NULL, &error);
    float silence[16000] = {0};
    beckon_take takes[] = {{samples, count, BECKON_FLOAT32, 1, rate}, {silence, 16000, BECKON_FLOAT32, 1, 16000}};
    beckon_lesson *lesson = beckon_teach(spotter, "zebra", takes, 2, BECKON_TEACH_ALIKE, NULL, &error);
    REQUIRE(lesson && beckon_lesson_takes(lesson) == 1);
    const char *remark = NULL;
    REQUIRE(beckon_lesson_used(lesson, 0, NULL) == 1 && beckon_lesson_used(lesson, 1, &remark) == 0 && strstr(remark, "no speech"));
    REQUIRE(beckon_lesson_used(lesson, 2, &remark) == 0 && !remark);
    beckon_rates rates;
    REQUIRE(beckon_lesson_rates(lesson, BECKON_STRICT, BECKON_COMMAND, &rates) == 1 && rates.threshold > 0 && rates.false_accepts >= 0);
    REQUIRE(beckon_lesson_rates(lesson, (beckon_sensitivity)7, BECKON_SPOT, &rates) == 0);
    REQUIRE(strstr(beckon_lesson_text(lesson), "taken for it"));
    beckon_spotter *taught = beckon_lesson_spotter(lesson);
    beckon_lesson_free(lesson);
    REQUIRE(beckon_word_count(taught) == beckon_word_count(spotter) + 1);
    beckon_results *results = beckon_find(taught, path, 1, &error);
    REQUIRE(beckon_results_count(results) == 1 && strcmp(beckon_results_items(results)->word, "zebra") == 0);
    beckon_results_free(results);
    beckon_close(taught);
    REQUIRE(!beckon_teach(spotter, "zebra", takes + 1, 1, 0, NULL, &error) && error.code == BECKON_ERROR_WORDS);
    REQUIRE(!beckon_teach(spotter, "zebra", NULL, 1, 0, NULL, &error) && error.code == BECKON_ERROR_CALL);
    REQUIRE(!beckon_teach(spotter, "zebra", takes, 2, 64, NULL, &error) && error.code == BECKON_ERROR_CALL);
    takes[0].sample_rate = 7;
    REQUIRE(!beckon_teach(spotter, "zebra", takes, 1, 0, NULL, &error) && error.code == BECKON_ERROR_AUDIO);
    beckon_lesson_free(NULL);
    beckon_close(spotter);
}

struct work {
    const beckon_spotter *spotter;
    const char *path;
    size_t count;
};

static void *run(void *argument) {
    struct work *work = argument;
    beckon_results *results = beckon_find(work->spotter, work->path, 1, NULL);
    work->count = beckon_results_count(results);
    beckon_results_free(results);
    return NULL;
}

// Several threads use one spotter at the same time.
static void share(const beckon_spotter *spotter, const char *path) {
    pthread_t threads[4];
    struct work work[4];
    for (int i = 0; i < 4; i++) {
        work[i] = (struct work){spotter, path, 0};
        REQUIRE(pthread_create(&threads[i], NULL, run, &work[i]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        REQUIRE(pthread_join(threads[i], NULL) == 0);
        REQUIRE(work[i].count == 1);
    }
}

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    printf("version %s\n", beckon_version());
    REQUIRE(beckon_interface() == BECKON_INTERFACE);
    refuse(argv[1]);

    beckon_threshold threshold = {"left", 0.5f};
    beckon_settings settings = beckon_default_settings();
    settings.thresholds = &threshold;
    settings.threshold_count = 1;
    settings.taught_words = argv[2];
    beckon_spotter *spotter = beckon_open(argv[1], &settings, &error);
    REQUIRE(spotter);
    size_t count = beckon_word_count(spotter);
    for (size_t i = 0; i < count; i++) printf("word %s\n", beckon_word(spotter, i));
    REQUIRE(!beckon_word(spotter, count) && !beckon_word(spotter, (size_t)-1));

    FILE *file = fopen(argv[4], "rb");
    REQUIRE(file);
    size_t length = 10 * 192000;
    float *samples = malloc(length * sizeof *samples);
    length = fread(samples, sizeof *samples, length, file);
    fclose(file);
    int rate = atoi(argv[5]);

    find(spotter, "file", argv[3], 1);
    find(spotter, "file-threads", argv[3], 3);
    stream(spotter, "stream-441", samples, length, rate, 441);
    stream(spotter, "stream-all", samples, length, rate, length);
    integers(spotter, "stream-int16", samples, length, rate);
    frames(spotter, "frames-16", samples, length, rate, BECKON_INT16);
    frames(spotter, "frames-32", samples, length, rate, BECKON_FLOAT32);
    frames(spotter, "frames-64", samples, length, rate, BECKON_FLOAT64);
    scores(spotter, samples, length, rate);
    many(spotter, argv[3]);
    settings_of_old_programs(argv[1], argv[2], argv[3]);
    chosen(argv[1], argv[2], argv[3]);
    typed(argv[1]);
    teach(argv[1], samples, length, rate, argv[3]);
    share(spotter, argv[3]);
    REQUIRE(!beckon_find(spotter, "/nowhere.wav", 1, &error) && error.code == BECKON_ERROR_AUDIO);
    REQUIRE(!beckon_find(spotter, argv[3], 0, &error) && error.code == BECKON_ERROR_CALL);
    REQUIRE(!beckon_stream_open(spotter, 7, &error) && error.code == BECKON_ERROR_AUDIO);

    // A stream and results live on after their spotter, words included.
    beckon_stream *last = beckon_stream_open(spotter, rate, &error);
    beckon_results *results = beckon_find(spotter, argv[3], 1, &error);
    beckon_close(spotter);
    REQUIRE(beckon_stream_push(last, NULL, 1, &error) == BECKON_ERROR_CALL);
    REQUIRE(beckon_stream_push(last, NULL, 0, &error) == BECKON_OK);
    REQUIRE(beckon_stream_push(last, samples, length, &error) == BECKON_OK);
    poll(last, "stream-closed");
    REQUIRE(beckon_results_count(results) == 1);
    show("file-closed", beckon_results_items(results));
    beckon_results_free(results);
    beckon_stream_close(last);
    free(samples);
    return 0;
}
