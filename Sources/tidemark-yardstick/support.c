// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "yardstick.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

const char *option(int count, char **arguments, const char *name, const char *otherwise) {
    for (int i = 0; i + 1 < count; i++)
        if (!strcmp(arguments[i], name)) return arguments[i + 1];
    return otherwise;
}

long number_option(int count, char **arguments, const char *name, long otherwise) {
    const char *text = option(count, arguments, name, NULL);
    if (!text) return otherwise;
    char *end;
    long number = strtol(text, &end, 10);
    if (*end || end == text || number < 0) {
        fprintf(stderr, "tidemark-yardstick: %s is not a number: %s\n", name, text);
        exit(64);
    }
    return number;
}

void stop_with(const char *what) {
    fprintf(stderr, "tidemark-yardstick: %s (%s)\n", what, strerror(errno));
    exit(1);
}

double monotonic_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

double processor_seconds(int process) {
    if (!process) return 0;
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE *file = fopen(path, "r");
    if (!file) stop_with(path);
    unsigned long user = 0, kernel = 0;
    // The name of the program, in parentheses, may hold anything: fields are counted after it (proc(5)).
    char *fields = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (!fields || sscanf(fields + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &kernel) != 2)
        stop_with(path);
    fclose(file);
    return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

long resident_kibibytes(int process) {
    if (!process) return 0;
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", process);
    FILE *file = fopen(path, "r");
    if (!file) stop_with(path);
    long resident = 0;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %ld", &resident) == 1) break;
    fclose(file);
    return resident;
}

void raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit)) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int compare_doubles(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double quantile(const double *sorted, size_t count, double fraction) {
    if (!count) return 0;
    size_t index = (size_t)(fraction * (double)count);
    return sorted[index < count ? index : count - 1];
}

// ---- queues ----

unsigned char *queue_reserve(struct queue *queue, size_t count) {
    if (queue->end + count > queue->capacity && queue->start) {
        memmove(queue->bytes, queue->bytes + queue->start, queue_count(queue));
        queue->end -= queue->start;
        queue->start = 0;
    }
    if (queue->end + count > queue->capacity) {
        queue->capacity = (queue->end + count) * 2;
        queue->bytes = realloc(queue->bytes, queue->capacity);
        if (!queue->bytes) stop_with("out of memory");
    }
    return queue->bytes + queue->end;
}

void queue_append(struct queue *queue, const void *bytes, size_t count) {
    memcpy(queue_reserve(queue, count), bytes, count);
    queue->end += count;
}

void queue_discard(struct queue *queue, size_t count) {
    queue->start += count;
    if (queue->start < queue->end) return;
    free(queue->bytes);
    *queue = (struct queue){0};
}

// ---- frames ----

static void unmask(unsigned char *bytes, size_t count, const unsigned char key[4]) {
    uint64_t wide;
    for (int i = 0; i < 8; i++) ((unsigned char *)&wide)[i] = key[i & 3];
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        word ^= wide;
        memcpy(bytes + i, &word, 8);
    }
    for (; i < count; i++) bytes[i] ^= key[i & 3];
}

size_t take_frame(unsigned char *bytes, size_t count, struct frame *frame) {
    if (count < 2) return 0;
    size_t size = bytes[1] & 127, head = 2;
    int length_bytes = size == 126 ? 2 : size == 127 ? 8 : 0;
    if (length_bytes) {
        if (count < head + (size_t)length_bytes) return 0;
        size = 0;
        for (int i = 0; i < length_bytes; i++) size = size << 8 | bytes[head + (size_t)i];
        head += (size_t)length_bytes;
    }
    unsigned char *key = NULL;
    if (bytes[1] & 128) {
        key = bytes + head;
        head += 4;
    }
    if (count < head || count - head < size) return 0;
    if (key) unmask(bytes + head, size, key);
    *frame = (struct frame){.opcode = bytes[0] & 15, .payload = bytes + head, .count = size};
    return head + size;
}

void append_frame(struct queue *queue, int opcode, bool is_masked, const void *payload, size_t count) {
    unsigned char *head = queue_reserve(queue, count + FRAME_HEADER_MAX);
    size_t used = 2;
    head[0] = (unsigned char)(0x80 | opcode);
    head[1] = is_masked ? 0x80 : 0;
    int length_bytes = count < 126 ? 0 : count < 65536 ? 2 : 8;
    head[1] |= (unsigned char)(length_bytes == 0 ? count : length_bytes == 2 ? 126 : 127);
    for (int i = length_bytes; i--;) head[used++] = (unsigned char)(count >> (8 * i));
    if (is_masked) {
        memset(head + used, 0, 4);
        used += 4;
    }
    memcpy(head + used, payload, count);
    queue->end += used + count;
}
