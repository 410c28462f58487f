// Forks after and during calls of the library, and uses the library in the children as in the parent.
//
// usage: fork MODEL FILE
#include <beckon.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// Seconds after which a child that hangs is ended by SIGALRM.
enum { LIMIT = 60, RATE = 16000 };

static const char *model, *path;
static beckon_spotter *spotter;
static beckon_stream *stream;
static atomic_int stopped;

static size_t find(const beckon_spotter *spotter, int threads) {
    beckon_results *results = beckon_find(spotter, path, threads, NULL);
    size_t count = results ? beckon_results_count(results) : 0;
    beckon_results_free(results);
    return count;
}

// Whether all ways of finding the one word of the file work.
static int works(beckon_stream *stream) {
    static const float silence[RATE];
    beckon_spotter *own = beckon_open(model, NULL, NULL);
    int result = find(spotter, 1) == 1 && find(spotter, 2) == 1 && own && find(own, 3) == 1
        && beckon_stream_push(stream, silence, RATE, NULL) == BECKON_OK && beckon_stream_finish(stream, NULL) == BECKON_OK;
    beckon_close(own);
    return result;
}

static void check(const char *when) {
    pid_t child = fork();
    if (child == 0) {
        alarm(LIMIT);
        _exit(works(stream) ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    printf("%s %d\n", when, status);
    fflush(stdout);
}

static void *use(void *unused) {
    while (!stopped) {
        beckon_spotter *own = beckon_open(model, NULL, NULL);
        beckon_stream *stream = beckon_stream_open(own, 44100, NULL);
        beckon_stream_finish(stream, NULL);
        beckon_stream_close(stream);
        find(own, 2);
        beckon_close(own);
    }
    return unused;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    (model = argv[1], path = argv[2]);
    spotter = beckon_open(model, NULL, NULL);
    stream = beckon_stream_open(spotter, RATE, NULL);
    check("before");
    if (find(spotter, 2) != 1) return 1;
    check("after");

    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, use, NULL);
    for (int i = 0; i < 8; i++) {
        check("during");
        usleep(20000);
    }
    stopped = 1;
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    // The parent's own stream is as it was.
    if (!works(stream)) return 1;

    // No thread outlives a call.
    find(spotter, 4);
    fflush(stdout);
    char command[64];
    snprintf(command, sizeof command, "echo threads $(ls /proc/%d/task | wc -l)", getpid());
    return system(command);
}
