// SPDX-License-Identifier: Apache-2.0
// One statement through bare libpq: prepared and planned once a connection, binary parameters and results, one thread and
// one connection a client, each waiting for its rows before it asks again. Every value of the result is looked at, as
// whoever makes something of it must, and nothing is made of it.
//
// The file has, numbers in network byte order: the settings of the session as SQL and the statement, each after its length
// in 4 bytes; the number of parameters in 4 bytes, and the type of each in 4; then any number of samples, each of which has
// for every parameter its length in 4 bytes (-1: null) and its bytes in PostgreSQL's binary form.
#define _GNU_SOURCE
#include "database.h"
#include "yardstick.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PARAMETERS_MAX = 64 };

struct sample {
    const char *values[PARAMETERS_MAX];
    int lengths[PARAMETERS_MAX];
};

struct worker {
    pthread_t thread;
    PGconn *database;
    unsigned seed;
    long run_count, row_count, byte_count;
};

// What the file says. Read before the threads begin, and not changed after.
static char *settings, *sql;
static int parameter_count, formats[PARAMETERS_MAX];
static Oid types[PARAMETERS_MAX];
static struct sample *samples;
static size_t sample_count;
static atomic_bool has_begun, has_ended;

// ---- the file ----

struct reader {
    const char *bytes, *end;
};

static const char *take(struct reader *reader, size_t count) {
    if ((size_t)(reader->end - reader->bytes) < count) stop_with("the file ends too early");
    const char *start = reader->bytes;
    reader->bytes += count;
    return start;
}

static int32_t take_int(struct reader *reader) {
    uint32_t number;
    memcpy(&number, take(reader, 4), 4);
    return (int32_t)ntohl(number);
}

static char *take_text(struct reader *reader) {
    size_t count = (size_t)take_int(reader);
    char *text = strndup(take(reader, count), count);
    if (!text) stop_with("out of memory");
    return text;
}

static struct reader open_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) stop_with(path);
    long count = ftell(file);
    char *bytes = count < 0 ? NULL : malloc((size_t)count + 1);
    rewind(file);
    if (!bytes || fread(bytes, 1, (size_t)count, file) != (size_t)count) stop_with(path);
    fclose(file);
    return (struct reader){.bytes = bytes, .end = bytes + count};
}

static void read_file(const char *path) {
    struct reader reader = open_file(path);
    settings = take_text(&reader);
    sql = take_text(&reader);
    parameter_count = take_int(&reader);
    if (parameter_count < 0 || parameter_count > PARAMETERS_MAX) stop_with("too many parameters");
    for (int i = 0; i < parameter_count; i++) {
        types[i] = (Oid)take_int(&reader);
        formats[i] = 1;
    }
    while (reader.bytes < reader.end) {
        samples = realloc(samples, (sample_count + 1) * sizeof *samples);
        if (!samples) stop_with("out of memory");
        struct sample *sample = &samples[sample_count++];
        for (int i = 0; i < parameter_count; i++) {
            int length = take_int(&reader);
            sample->lengths[i] = length < 0 ? 0 : length;
            sample->values[i] = length < 0 ? NULL : take(&reader, (size_t)length);
        }
    }
    if (!sample_count) stop_with("the file has no samples");
}

// ---- clients ----

static void ask(struct worker *worker) {
    const struct sample *sample = &samples[(size_t)rand_r(&worker->seed) % sample_count];
    PGresult *result = PQexecPrepared(
        worker->database, "statement", parameter_count, sample->values, sample->lengths, formats, 1);
    check_result(worker->database, result);
    int rows = PQntuples(result), columns = PQnfields(result);
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++) worker->byte_count += PQgetlength(result, row, column);
    worker->row_count += rows;
    worker->run_count++;
    PQclear(result);
}

static void *work(void *argument) {
    struct worker *worker = argument;
    while (!has_begun) usleep(100);
    while (!has_ended) ask(worker);
    return NULL;
}

static void start(struct worker *worker, const char *url, unsigned seed) {
    worker->database = connect_to(url);
    worker->seed = seed;
    execute_sql(worker->database, settings);
    // The least work: a plan that is made once.
    execute_sql(worker->database, "SET plan_cache_mode = force_generic_plan");
    prepare_statement(worker->database, "statement", sql, parameter_count, types);
    // The first time it is planned, and caches of the session are filled.
    ask(worker);
    worker->run_count = worker->row_count = worker->byte_count = 0;
    if (pthread_create(&worker->thread, NULL, work, worker)) stop_with("a thread");
}

int run_statement(int count, char **arguments) {
    const char *url = option(count, arguments, "--database", NULL), *path = option(count, arguments, "--file", NULL);
    if (!url || !path) stop_with("--database and --file are needed");
    long connections = number_option(count, arguments, "--connections", 1);
    double seconds = (double)number_option(count, arguments, "--seconds", 2);
    read_file(path);
    struct worker *workers = calloc((size_t)connections, sizeof *workers);
    if (!workers) stop_with("out of memory");
    for (long i = 0; i < connections; i++)
        start(&workers[i], url, (unsigned)i * 7919 + (unsigned)(monotonic_seconds() * 1e6));
    double begin = monotonic_seconds(), runs = 0, rows = 0, bytes = 0;
    has_begun = true;
    usleep((useconds_t)(seconds * 1e6));
    has_ended = true;
    for (long i = 0; i < connections; i++) {
        pthread_join(workers[i].thread, NULL);
        runs += (double)workers[i].run_count;
        rows += (double)workers[i].row_count;
        bytes += (double)workers[i].byte_count;
        PQfinish(workers[i].database);
    }
    double elapsed = monotonic_seconds() - begin;
    printf("runs_per_second=%.1f\nrows_per_run=%.3f\nbytes_per_second=%.1f\n", runs / elapsed, runs ? rows / runs : 0,
           bytes / elapsed);
    return 0;
}
