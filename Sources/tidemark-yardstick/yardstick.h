// SPDX-License-Identifier: Apache-2.0
// The yardsticks that tidemark-bench measures with: the least work that a program can do for the same task, in C on epoll,
// OpenSSL and libpq. One process and one thread each (on libpq: one thread a connection), no limits, no access control,
// loopback only: they are for measuring, never for serving.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The subcommands: `arguments` are what follows the subcommand's name.
int serve(int count, char **arguments);
int generate_load(int count, char **arguments);
int run_transactions(int count, char **arguments);
int run_statement(int count, char **arguments);
int stream(int count, char **arguments);

// Options: pairs of a name and a value.

// The value after `name`, or `otherwise`.
const char *option(int count, char **arguments, const char *name, const char *otherwise);
long number_option(int count, char **arguments, const char *name, long otherwise);

// Ends the process with a message.
void stop_with(const char *what) __attribute__((noreturn));

// Seconds on the monotonic clock.
double monotonic_seconds(void);

// Seconds of processor time that a process has used, in steps of a clock tick; 0 for process 0.
double processor_seconds(int process);

// Resident memory of a process in KiB; 0 for process 0.
long resident_kibibytes(int process);

// Lets the process have as many descriptors as the system allows.
void raise_descriptor_limit(void);

// The value at `fraction` of `count` sorted numbers.
double quantile(const double *sorted, size_t count, double fraction);

int compare_doubles(const void *left, const void *right);

// Bytes that wait: a growing array with a read position.
struct queue {
    unsigned char *bytes;
    size_t start, end, capacity;
};

static inline size_t queue_count(const struct queue *queue) { return queue->end - queue->start; }
static inline unsigned char *queue_first(const struct queue *queue) { return queue->bytes + queue->start; }

// Room for `count` more bytes at the queue's end.
unsigned char *queue_reserve(struct queue *queue, size_t count);
void queue_append(struct queue *queue, const void *bytes, size_t count);
// Drops bytes at the start. An empty queue keeps no memory.
void queue_discard(struct queue *queue, size_t count);

// WebSocket frames (RFC 6455 section 5.2).

enum { FRAME_HEADER_MAX = 14, OPCODE_BINARY = 2, OPCODE_CLOSE = 8, OPCODE_PING = 9, OPCODE_PONG = 10 };

struct frame {
    int opcode;
    unsigned char *payload;
    size_t count;
};

// Takes the first whole frame of `bytes` and unmasks it in place. Returns the bytes that it takes, 0 if it is not all there.
size_t take_frame(unsigned char *bytes, size_t count, struct frame *frame);

// Appends a frame. A client's is masked with the key 0: valid, and free for the sender.
void append_frame(struct queue *queue, int opcode, bool is_masked, const void *payload, size_t count);
