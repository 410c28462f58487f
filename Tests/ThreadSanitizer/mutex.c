// Makes Swift's Mutex known to the thread sanitizer. Preloaded by `make test-sanitizers`.
//
// The standard library is compiled without the sanitizer. If a mutex is free, its code is inlined, and the sanitizer sees an
// atomic exchange. If not, the kernel takes the lock for the waiting thread (FUTEX_LOCK_PI) and the sanitizer sees nothing:
// it reports a race between two closures that exclude each other. These two functions say to it what the originals do.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

// The sanitizer's; absent in programs without it.
void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

// _MutexHandle._lockSlow(_: UInt32) and _MutexHandle._unlockSlow() of the module Synchronization.
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *

typedef SWIFT void Lock(uint32_t thread, SELF);
typedef SWIFT void Unlock(SELF);

SWIFT void lock(uint32_t thread, SELF mutex) __asm__(LOCK);
SWIFT void lock(uint32_t thread, SELF mutex) {
    ((Lock *)dlsym(RTLD_NEXT, LOCK))(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void unlock(SELF mutex) __asm__(UNLOCK);
SWIFT void unlock(SELF mutex) {
    if (__tsan_release) __tsan_release(mutex);
    ((Unlock *)dlsym(RTLD_NEXT, UNLOCK))(mutex);
}
