// SPDX-License-Identifier: Apache-2.0
// Shows the thread sanitizer (`make test-threads`) what it cannot see for itself, and would report as races that are none:
//
// `Synchronization.Mutex` has a fast path that the compiler puts into our code, where the sanitizer sees it, and slow paths
// in a library that is not instrumented: each lock that had to be waited for looked like none. Both slow paths pass through
// here, which tells the sanitizer that a lock is taken after it was given up; nothing else changes, and without the
// sanitizer nothing at all.
#define _GNU_SOURCE
#include "CTidemarkTestSettings.h"
#include <dlfcn.h>
#include <stdint.h>

#if defined(__linux__)

extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

// Synchronization._MutexHandle._lockSlow(UInt32) and ._unlockSlow(); `self` is the lock's address.
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT_CALL __attribute__((swiftcall))
#define SWIFT_SELF __attribute__((swift_context))

typedef SWIFT_CALL void (*lock_function)(uint32_t thread, SWIFT_SELF void *handle);
typedef SWIFT_CALL void (*unlock_function)(SWIFT_SELF void *handle);

SWIFT_CALL void tidemark_lock_slow(uint32_t thread, SWIFT_SELF void *handle) __asm__(LOCK_SLOW);
SWIFT_CALL void tidemark_unlock_slow(SWIFT_SELF void *handle) __asm__(UNLOCK_SLOW);

int tidemark_is_thread_sanitized(void) { return __tsan_acquire != 0; }

static lock_function library_lock;
static unlock_function library_unlock;

__attribute__((constructor)) static void find_library_functions(void) {
    library_lock = (lock_function)dlsym(RTLD_NEXT, LOCK_SLOW);
    library_unlock = (unlock_function)dlsym(RTLD_NEXT, UNLOCK_SLOW);
}

SWIFT_CALL void tidemark_lock_slow(uint32_t thread, SWIFT_SELF void *handle) {
    library_lock(thread, handle);
    if (__tsan_acquire) __tsan_acquire(handle);
}

SWIFT_CALL void tidemark_unlock_slow(SWIFT_SELF void *handle) {
    if (__tsan_release) __tsan_release(handle);
    library_unlock(handle);
}

#else

int tidemark_is_thread_sanitized(void) { return 0; }

#endif
