// System calls for tests that no test may change for the whole machine. The program under test loads this library before
// all others (LD_PRELOAD).
//
//     FAKE_CLOCK=FILE   the wall clock is as many seconds ahead as the file says (it may change at any time)
//     FAKE_DNS=hang     the look-up of any name that ends with .test never returns
//     FAKE_DNS=hang-all the look-up of any name never returns
//     FAKE_DNS=unknown  a name that ends with .test is not known
//     FAKE_DECODER=FILE no audio file can be opened: libsndfile creates FILE and never returns (sf_open_virtual)
//     FAKE_TITLE=1      arguments and environment are moved before `main`, as what sets titles of processes does
//     FAKE_PACE=FILE    all clocks run as a FakeSystem_pace in the file says, and with them all that waits for a time;
//                       programs that the program under test starts keep the machine's clock

#ifndef FAKE_SYSTEM_H
#define FAKE_SYSTEM_H

#include <stdint.h>
#include <time.h>

// The functions are those of <time.h>, <netdb.h>, <poll.h>, <pthread.h>, <signal.h> and <sys/timerfd.h>.

/// How fast the clocks run. Another program writes it: first the line that is not the newest, then `newest`.
struct FakeSystem_pace {
    /// What the wall clock is ahead of the monotonic clock, in seconds.
    double wall;
    /// The index of the newest line, modulo 2. Before that line begins, the other one holds.
    uint64_t newest;
    /// When the machine's monotonic clock shows `machine`, the program's shows `clock`; from there on it runs `speed` times
    /// as fast.
    struct FakeSystem_line {
        double machine, clock, speed;
    } lines[2];
};

/// Changes the time of the machine's clock to that of the program's clock.
void FakeSystem_pace(clockid_t clock, struct timespec *time);

#endif
