// SPDX-License-Identifier: Apache-2.0
// What Linux servers need and Swift's Glibc module lacks. Macros, enums and variadic functions become static inline
// functions; no logic here.
#pragma once
// NB: _GNU_SOURCE stays undefined: Swift's Glibc module is built without it, and declarations that differ between two
// modules are errors.
#include <errno.h>
#include <malloc.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

static inline int tidemark_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

static inline int tidemark_epoll_control(int epoll, int operation, int fd, uint32_t events, uint64_t data) {
    struct epoll_event event = {.events = events, .data.u64 = data};
    return epoll_ctl(epoll, operation, fd, &event);
}

static inline int tidemark_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static inline int tidemark_socket(int family) { return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

// Declared by <sys/socket.h> under _GNU_SOURCE only.
extern int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
static inline int tidemark_accept(int fd, struct sockaddr_storage *address, socklen_t *length) {
    return accept4(fd, (struct sockaddr *)address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

static inline int tidemark_get_family(const struct sockaddr_storage *address) { return address->ss_family; }

static inline void tidemark_set_thread_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// Declared by <sched.h> under _GNU_SOURCE only.
extern int sched_getaffinity(pid_t process, size_t byte_count, cpu_set_t *cores);
static inline int tidemark_get_usable_cores(cpu_set_t *cores) { return sched_getaffinity(0, sizeof *cores, cores); }

static inline void tidemark_set_heap(int mapped_bytes_min, int kept_bytes_max) {
    mallopt(M_MMAP_THRESHOLD, mapped_bytes_min);
    mallopt(M_TRIM_THRESHOLD, kept_bytes_max);
}

static inline void tidemark_trim_heap(void) { malloc_trim(0); }

static inline size_t tidemark_get_used_heap_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static inline int tidemark_lookup_numeric_service(
    const char *host, const char *service, struct addrinfo **found) {
    struct addrinfo hints = {.ai_flags = AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    return getaddrinfo(host, service, &hints, found);
}
