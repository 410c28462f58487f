#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "FakeCard.h"

enum FakeCard_fault FakeCard_fault(const char *path, bool takes, long *number) {
    static const struct {
        const char *word;
        enum FakeCard_fault fault;
    } words[] = {
        {"xrun", FAKE_XRUN}, {"suspend", FAKE_SUSPEND}, {"skip", FAKE_SKIP},   {"storm", FAKE_STORM},
        {"gone", FAKE_GONE}, {"eio", FAKE_EIO},         {"stall", FAKE_STALL}, {"busy", FAKE_BUSY},
        {"hang", FAKE_HANG},
    };
    *number = 0;
    int descriptor = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    // A confined program may only read the file; that is enough for faults that last.
    if (path && descriptor < 0) descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return FAKE_NONE;
    char text[32] = {0};
    ssize_t length = read(descriptor, text, sizeof text - 1);
    enum FakeCard_fault fault = FAKE_NONE;
    for (size_t index = 0; length > 0 && index < sizeof words / sizeof *words; index++) {
        size_t letters = strlen(words[index].word);
        if (strncmp(text, words[index].word, letters)) continue;
        fault = words[index].fault;
        *number = strtol(text + letters, NULL, 10);
    }
    bool happens_once = fault == FAKE_XRUN || fault == FAKE_SUSPEND || fault == FAKE_SKIP || fault == FAKE_STORM;
    if (happens_once && takes && ftruncate(descriptor, 0) < 0) fault = FAKE_NONE;
    close(descriptor);
    return fault;
}

void FakeCard_hang(const char *path) {
    long number;
    while (FakeCard_fault(path, false, &number) == FAKE_HANG) usleep(10000);
}
