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
