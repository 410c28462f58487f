// A clock that runs faster or slower than the machine's, and what waits by it; see FakeSystem.h.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "FakeSystem.h"

static const struct FakeSystem_pace *pace;

/// Programs that this one starts run at the machine's own pace.
__attribute__((constructor)) static void open_pace(void) {
    const char *path = getenv("FAKE_PACE");
    int descriptor = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (descriptor < 0) return;
    void *map = mmap(NULL, sizeof *pace, PROT_READ, MAP_SHARED, descriptor, 0);
    close(descriptor);
    if (map == MAP_FAILED) return;
    pace = map;
    unsetenv("FAKE_PACE");
    unsetenv("LD_PRELOAD");
}

static double seconds(const struct timespec *time) { return (double)time->tv_sec + (double)time->tv_nsec * 1e-9; }

static struct timespec timespec(double seconds) {
    if (seconds < 0) seconds = 0;
    time_t whole = (time_t)seconds;
    return (struct timespec){whole, (long)((seconds - (double)whole) * 1e9)};
}

static double machine_time(void) {
    struct timespec time;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return seconds(&time);
}

/// The line by which the clock runs at a time of the machine.
static const struct FakeSystem_line *line(double time) {
    uint64_t newest = __atomic_load_n(&pace->newest, __ATOMIC_ACQUIRE) % 2;
    const struct FakeSystem_line *line = &pace->lines[newest];
    return time < line->machine ? &pace->lines[1 - newest] : line;
}

void FakeSystem_pace(clockid_t clock, struct timespec *time) {
    if (!pace || (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME)) return;
    double now = clock == CLOCK_MONOTONIC ? seconds(time) : machine_time();
    const struct FakeSystem_line *by = line(now);
    double there = by->clock + (now - by->machine) * by->speed;
    *time = timespec(clock == CLOCK_MONOTONIC ? there : there + pace->wall);
}

/// How long the machine takes for so many seconds of the clock.
static double machine_seconds(double seconds) { return seconds / line(machine_time())->speed; }

/// When the clock shows this time, on the machine's clock.
static struct timespec machine_end(const struct timespec *time) {
    const struct FakeSystem_line *by = line(machine_time());
    return timespec(by->machine + (seconds(time) - by->clock) / by->speed);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int poll(struct pollfd *requests, nfds_t count, int milliseconds) {
    struct timespec time = timespec(milliseconds / 1e3);
    if (pace && milliseconds > 0) time = timespec(machine_seconds(milliseconds / 1e3));
    return (int)syscall(SYS_ppoll, requests, count, milliseconds < 0 ? NULL : &time, NULL, 0);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
    if (!pace || clock != CLOCK_MONOTONIC) return REAL(clock_nanosleep)(clock, flags, time, left);
    struct timespec there = flags & TIMER_ABSTIME ? machine_end(time) : timespec(machine_seconds(seconds(time)));
    return REAL(clock_nanosleep)(clock, flags, &there, left);
}

int usleep(useconds_t microseconds) {
    struct timespec time = timespec(microseconds / 1e6);
    return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) == 0 ? 0 : -1;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *time) {
    // The service's conditions all use the monotonic clock.
    struct timespec there = pace ? machine_end(time) : *time;
    return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &there);
}

int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *time) {
    struct timespec there = pace && time ? timespec(machine_seconds(seconds(time))) : (struct timespec){0};
    return REAL(sigtimedwait)(set, info, pace && time ? &there : time);
}

int timerfd_settime(int timer, int flags, const struct itimerspec *new, struct itimerspec *old) {
    struct itimerspec there = *new;
    if (pace && !(flags & TFD_TIMER_ABSTIME) && (new->it_value.tv_sec || new->it_value.tv_nsec)) {
        there.it_value = timespec(machine_seconds(seconds(&new->it_value)));
        if (!there.it_value.tv_sec && !there.it_value.tv_nsec) there.it_value.tv_nsec = 1;
    }
    return REAL(timerfd_settime)(timer, flags, &there, old);
}
