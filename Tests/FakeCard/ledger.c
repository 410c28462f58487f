#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "FakeCard.h"

struct FakeCard_ledger *FakeCard_open_ledger(const char *path, size_t *size) {
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return NULL;
    struct stat status;
    void *map = MAP_FAILED;
    if (fstat(descriptor, &status) == 0 && status.st_size >= (off_t)sizeof(struct FakeCard_ledger)) {
        *size = (size_t)status.st_size;
        map = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    }
    close(descriptor);
    return map == MAP_FAILED ? NULL : map;
}

void FakeCard_deliver(struct FakeCard_ledger *ledger, size_t size, uint64_t position, uint64_t count) {
    uint64_t room = (size - sizeof *ledger) / sizeof *ledger->segments;
    struct FakeCard_segment *last = ledger->segment_count > 0 ? &ledger->segments[ledger->segment_count - 1] : NULL;
    if (last && last->end == position) {
        last->end += count;
    } else if (ledger->segment_count < room) {
        ledger->segments[ledger->segment_count] =
            (struct FakeCard_segment){position, position + count, ledger->reason};
        ledger->segment_count++;
    }
    ledger->reason = FAKE_NONE;
    ledger->delivered += count;
}
