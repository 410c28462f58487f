#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "FakeSystem.h"

/// What sets titles of processes moves the arguments and the environment away, and writes over their old places.
int __libc_start_main(int (*main)(int, char **, char **), int count, char **words, void (*begin)(void), void (*end)(void),
                      void (*loader)(void), void *stack) {
    __typeof__(&__libc_start_main) real = dlsym(RTLD_NEXT, "__libc_start_main");
    if (getenv("FAKE_TITLE") && count > 0) {
        char **copy = calloc((size_t)count + 1, sizeof *copy), *last = words[count - 1];
        size_t length = (size_t)(last - words[0]) + strlen(last);
        for (int i = 0; copy && i < count; i++) copy[i] = strdup(words[i]);
        size_t variables = 0;
        while (environ[variables]) variables++;
        char **moved = calloc(variables + 1, sizeof *moved);
        for (size_t i = 0; moved && i < variables; i++) moved[i] = strdup(environ[i]);
        if (!copy || !moved) abort();
        environ = moved;
        memset(words[0], 0, length);
        memset(words, 0, (size_t)count * sizeof *words);
        words = copy;
    }
    return real(main, count, words, begin, end, loader, stack);
}

static long seconds_ahead(void) {
    const char *path = getenv("FAKE_CLOCK");
    int descriptor = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (descriptor < 0) return 0;
    char text[32] = {0};
    ssize_t length = read(descriptor, text, sizeof text - 1);
    close(descriptor);
    return length > 0 ? strtol(text, NULL, 10) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0) FakeSystem_pace(clock, time);
    if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += seconds_ahead();
    return result;
}

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **list) {
    const char *mode = getenv("FAKE_DNS");
    size_t length = host ? strlen(host) : 0;
    // The text of an address is never looked up.
    bool is_name = !hints || !(hints->ai_flags & AI_NUMERICHOST);
    if (is_name && mode && length > 5 && !strcmp(host + length - 5, ".test")) {
        if (!strcmp(mode, "unknown")) return EAI_NONAME;
        if (!strcmp(mode, "hang")) for (;;) pause();
    }
    if (is_name && mode && !strcmp(mode, "hang-all")) for (;;) pause();
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = dlsym(RTLD_NEXT, "getaddrinfo");
    return real ? real(host, service, hints, list) : EAI_FAIL;
}

void *sf_open_virtual(void *functions, int mode, void *info, void *data) {
    const char *path = getenv("FAKE_DECODER");
    if (path) {
        close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        for (;;) pause();
    }
    void *(*real)(void *, int, void *, void *) = dlsym(RTLD_NEXT, "sf_open_virtual");
    return real ? real(functions, mode, info, data) : NULL;
}
