// An action that writes when it was started: one line with the event's number and the monotonic clock in nanoseconds.
//
// The clock is read first thing. A program in C, because any other language would add the start of its run-time to the time.

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int count, char **arguments) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const char *sequence = getenv("BECKON_SEQUENCE");
    FILE *file = count == 2 ? fopen(arguments[1], "a") : NULL;
    if (!file || !sequence) return 1;
    // Shorter than a buffer, so that two at once do not mix.
    fprintf(file, "%s %lld\n", sequence, (long long)now.tv_sec * 1000000000 + now.tv_nsec);
    return fclose(file) == 0 ? 0 : 1;
}
