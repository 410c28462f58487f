// Prints the words of an audio file, or of raw PCM on standard input, one per line: start, end, word.
//
//     cc spot.c $(pkg-config --cflags --libs beckon) -o spot
//     ./spot /usr/share/beckon/models/commands talk.wav
//     arecord -t raw -f S16_LE -c 1 -r 16000 | ./spot /usr/share/beckon/models/commands
#include <beckon.h>
#include <stdio.h>

static void show(const beckon_detection *word) {
    printf("%.3f s\t%.3f s\t%s\n", word->start, word->end, word->word);
    fflush(stdout);
}

static int fail(const beckon_error *error) {
    fprintf(stderr, "spot: %s\n", error->text);
    return 1;
}

int main(int argc, char **argv) {
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: spot MODEL [FILE]\n");
        return 2;
    }
    beckon_error error;
    beckon_spotter *spotter = beckon_open(argv[1], NULL, &error);
    if (!spotter) return fail(&error);
    if (argc == 3) {
        beckon_results *results = beckon_find(spotter, argv[2], 1, &error);
        if (!results) return fail(&error);
        const beckon_detection *words = beckon_results_items(results);
        for (size_t i = 0; i < beckon_results_count(results); i++) show(&words[i]);
        beckon_results_free(results);
    } else {
        beckon_stream *stream = beckon_stream_open(spotter, 16000, &error);
        if (!stream) return fail(&error);
        int16_t samples[1600];
        beckon_detection word;
        size_t count;
        while ((count = fread(samples, sizeof *samples, 1600, stdin)) > 0) {
            if (beckon_stream_push_int16(stream, samples, count, &error)) return fail(&error);
            while (beckon_stream_poll(stream, &word)) show(&word);
        }
        if (beckon_stream_finish(stream, &error)) return fail(&error);
        while (beckon_stream_poll(stream, &word)) show(&word);
        beckon_stream_close(stream);
    }
    beckon_close(spotter);
    return 0;
}
