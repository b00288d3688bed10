// SPDX-License-Identifier: Apache-2.0
// The transactions of Tidemark's store through bare libpq, with prepared statements, binary parameters and results, one
// thread and one connection a client, each in a zone of its own, one transaction after the other.
//
//   prepare  makes the tables, and the zone that is read in pages
//   save     two pipelined round trips: [BEGIN; lock the zone; read the records] [write them, move the zone; COMMIT]
//   page     reads the zone's changes in pages, from the first to the last, again and again
//
// The tables are the smallest that cost what a write path costs: a zone's row that locks and counts, records by name, and
// an index by number for the changes.
#define _GNU_SOURCE
#include "database.h"
#include "yardstick.h"

#include <arpa/inet.h>
#include <endian.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TYPE_INT4 = 23, TYPE_INT8 = 20, TYPE_TEXT = 25, TYPE_BYTEA = 17, TYPE_TEXTS = 1009, TYPE_BYTEAS = 1001 };
enum { NAMES_PER_ZONE = 10000, PAGED_ZONE = 1000000, NAME_BYTES_MAX = 16, DURATIONS_MAX = 200000 };

struct worker {
    pthread_t thread;
    PGconn *database;
    int zone;
    unsigned seed;
    long record_count, transaction_count, byte_count;
    double *durations;
    size_t duration_count;
};

static long records_per_transaction, bytes_per_record;
static bool is_paging;
static atomic_bool has_begun, has_ended;

static void prepare_statements(PGconn *database) {
    // A table that was filled a moment ago has no statistics: without them only what forbids all else has records looked
    // up by their whole key, which is the least work.
    execute_sql(database, "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off");
    static const Oid save[] = {TYPE_INT4, TYPE_TEXTS, TYPE_BYTEAS, TYPE_INT4};
    static const Oid page[] = {TYPE_INT4, TYPE_INT8, TYPE_INT4};
    prepare_statement(database, "begin", "BEGIN", 0, NULL);
    prepare_statement(database, "commit", "COMMIT", 0, NULL);
    prepare_statement(database, "lock", "SELECT number FROM zone WHERE id = $1 FOR UPDATE", 1, save);
    prepare_statement(
        database, "read",
        "SELECT found.* FROM unnest($2) AS wanted (name) CROSS JOIN LATERAL (SELECT name, number, payload FROM record "
        "WHERE zone = $1 AND name BETWEEN wanted.name AND wanted.name ORDER BY name LIMIT 1) AS found",
        2, save);
    prepare_statement(
        database, "save",
        "WITH moved AS (UPDATE zone SET number = number + $4 WHERE id = $1 RETURNING number - $4 AS base) "
        "INSERT INTO record (zone, name, type, payload, number) "
        "SELECT $1, saved.name, 'Note', saved.payload, moved.base + saved.place "
        "FROM moved, unnest($2, $3) WITH ORDINALITY AS saved (name, payload, place) "
        "ON CONFLICT (zone, name) DO UPDATE SET payload = excluded.payload, number = excluded.number",
        4, save);
    prepare_statement(
        database, "page",
        "SELECT name, type, payload, number FROM record WHERE zone = $1 AND number > $2 ORDER BY number LIMIT $3",
        3, page);
}

// ---- parameters ----

static char *put_int(char *at, int32_t number) {
    number = (int32_t)htonl((uint32_t)number);
    memcpy(at, &number, 4);
    return at + 4;
}

// PostgreSQL's binary form of an array of one dimension.
static char *put_array_head(char *at, int type, long count) {
    at = put_int(put_int(put_int(at, 1), 0), type);
    return put_int(put_int(at, (int32_t)count), 1);
}

struct batch {
    char *names, *payloads, *content;
    int name_bytes, payload_bytes;
};

// Made once: what is measured is the database, not the making of contents.
static void make_content(char *content, struct worker *worker) {
    for (long k = 0; k + 4 <= bytes_per_record; k += 4) put_int(content + k, rand_r(&worker->seed));
}

// Records that follow each other, from a random one on, each with a new beginning.
static void fill(struct batch *batch, struct worker *worker) {
    char *name_at = put_array_head(batch->names, TYPE_TEXT, records_per_transaction);
    char *payload_at = put_array_head(batch->payloads, TYPE_BYTEA, records_per_transaction);
    int first = rand_r(&worker->seed) % NAMES_PER_ZONE;
    for (long i = 0; i < records_per_transaction; i++) {
        char name[NAME_BYTES_MAX + 1];
        int count = snprintf(name, sizeof name, "r%ld", (first + i) % NAMES_PER_ZONE);
        name_at = put_int(name_at, count);
        memcpy(name_at, name, (size_t)count);
        name_at += count;
        payload_at = put_int(payload_at, (int32_t)bytes_per_record);
        memcpy(payload_at, batch->content, (size_t)bytes_per_record);
        if (bytes_per_record >= 4) put_int(payload_at, rand_r(&worker->seed));
        payload_at += bytes_per_record;
    }
    batch->name_bytes = (int)(name_at - batch->names);
    batch->payload_bytes = (int)(payload_at - batch->payloads);
}

// ---- transactions ----

static void finish_trip(PGconn *database) {
    PQpipelineSync(database);
    for (bool is_synced = false; !is_synced;) {
        PGresult *result = PQgetResult(database);
        if (!result) continue; // the end of one statement's results
        check_result(database, result);
        is_synced = PQresultStatus(result) == PGRES_PIPELINE_SYNC;
        PQclear(result);
    }
}

static void save(struct worker *worker, struct batch *batch) {
    PGconn *database = worker->database;
    fill(batch, worker);
    int32_t zone = (int32_t)htonl((uint32_t)worker->zone), count = (int32_t)htonl((uint32_t)records_per_transaction);
    const char *values[] = {(char *)&zone, batch->names, batch->payloads, (char *)&count};
    int lengths[] = {4, batch->name_bytes, batch->payload_bytes, 4}, formats[] = {1, 1, 1, 1};
    PQsendQueryPrepared(database, "begin", 0, NULL, NULL, NULL, 1);
    PQsendQueryPrepared(database, "lock", 1, values, lengths, formats, 1);
    PQsendQueryPrepared(database, "read", 2, values, lengths, formats, 1);
    finish_trip(database);
    PQsendQueryPrepared(database, "save", 4, values, lengths, formats, 1);
    PQsendQueryPrepared(database, "commit", 0, NULL, NULL, NULL, 1);
    finish_trip(database);
    worker->record_count += records_per_transaction;
}

static void page(struct worker *worker, int64_t *token) {
    PGconn *database = worker->database;
    int32_t zone = (int32_t)htonl(PAGED_ZONE), count = (int32_t)htonl((uint32_t)records_per_transaction);
    int64_t after = (int64_t)htobe64((uint64_t)*token);
    const char *values[] = {(char *)&zone, (char *)&after, (char *)&count};
    int lengths[] = {4, 8, 4}, formats[] = {1, 1, 1};
    PGresult *result = PQexecPrepared(database, "page", 3, values, lengths, formats, 1);
    check_result(database, result);
    int rows = PQntuples(result);
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < 4; column++) worker->byte_count += PQgetlength(result, row, column);
    *token = 0;
    if (rows == records_per_transaction) {
        memcpy(token, PQgetvalue(result, rows - 1, 3), 8);
        *token = (int64_t)be64toh((uint64_t)*token);
    }
    worker->record_count += rows;
    PQclear(result);
}

static void *work(void *argument) {
    struct worker *worker = argument;
    size_t record_bytes = (size_t)(bytes_per_record + NAME_BYTES_MAX + 8);
    struct batch batch = {
        .names = malloc(64 + (size_t)records_per_transaction * record_bytes),
        .payloads = malloc(64 + (size_t)records_per_transaction * record_bytes),
        .content = calloc(1, (size_t)bytes_per_record + 1)};
    if (!batch.names || !batch.payloads || !batch.content) stop_with("out of memory");
    make_content(batch.content, worker);
    int64_t token = 0;
    while (!has_begun) usleep(100);
    while (!has_ended) {
        double start = monotonic_seconds();
        if (is_paging) page(worker, &token);
        else save(worker, &batch);
        worker->transaction_count++;
        if (worker->duration_count < DURATIONS_MAX)
            worker->durations[worker->duration_count++] = monotonic_seconds() - start;
    }
    free(batch.names);
    free(batch.payloads);
    free(batch.content);
    return NULL;
}

// ---- commands ----

static int prepare(const char *url, long record_count) {
    PGconn *database = connect_to(url);
    execute_sql(
        database,
        "CREATE TABLE zone (id integer PRIMARY KEY, number bigint NOT NULL DEFAULT 0) WITH (fillfactor = 20);"
        "CREATE TABLE record (zone integer NOT NULL, name text NOT NULL, type text NOT NULL, payload bytea NOT NULL,"
        " number bigint NOT NULL, PRIMARY KEY (zone, name));"
        "CREATE INDEX record_changes ON record (zone, number);"
        "INSERT INTO zone SELECT place FROM generate_series(0, 999) AS place");
    char sql[512];
    snprintf(
        sql, sizeof sql,
        "INSERT INTO record SELECT %d, 'r' || lpad(place::text, 8, '0'), 'Note',"
        " substring(string_agg(sha256((place * 100 + part)::text::bytea), ''::bytea) FROM 1 FOR %ld), place"
        " FROM generate_series(1, %ld) AS place, generate_series(1, %ld) AS part GROUP BY place ORDER BY place",
        PAGED_ZONE, bytes_per_record, record_count, bytes_per_record / 32 + 1);
    execute_sql(database, sql);
    execute_sql(database, "VACUUM ANALYZE");
    PQfinish(database);
    return 0;
}

static int run(const char *url, long connections, double seconds) {
    struct worker *workers = calloc((size_t)connections, sizeof *workers);
    if (!workers) stop_with("out of memory");
    for (long i = 0; i < connections; i++) {
        struct worker *worker = &workers[i];
        worker->database = connect_to(url);
        worker->zone = (int)i;
        worker->seed = (unsigned)i * 7919 + (unsigned)(monotonic_seconds() * 1e6);
        worker->durations = malloc(DURATIONS_MAX * sizeof *worker->durations);
        prepare_statements(worker->database);
        if (!is_paging) PQenterPipelineMode(worker->database);
        if (!worker->durations || pthread_create(&worker->thread, NULL, work, worker)) stop_with("a thread");
    }
    double start = monotonic_seconds(), records = 0, bytes = 0, transactions = 0;
    has_begun = true;
    usleep((useconds_t)(seconds * 1e6));
    has_ended = true;
    double *durations = malloc((size_t)connections * DURATIONS_MAX * sizeof *durations);
    if (!durations) stop_with("out of memory");
    size_t count = 0;
    for (long i = 0; i < connections; i++) {
        struct worker *worker = &workers[i];
        pthread_join(worker->thread, NULL);
        records += (double)worker->record_count;
        bytes += (double)worker->byte_count;
        transactions += (double)worker->transaction_count;
        memcpy(durations + count, worker->durations, worker->duration_count * sizeof *durations);
        count += worker->duration_count;
    }
    double elapsed = monotonic_seconds() - start;
    qsort(durations, count, sizeof *durations, compare_doubles);
    printf("records_per_second=%.1f\ntransactions_per_second=%.1f\nbytes_per_second=%.1f\n", records / elapsed,
           transactions / elapsed, bytes / elapsed);
    printf("median_seconds=%.9f\nseconds_at_99_percent=%.9f\n", quantile(durations, count, 0.5),
           quantile(durations, count, 0.99));
    return 0;
}

int run_transactions(int count, char **arguments) {
    const char *command = count ? arguments[0] : "", *url = option(count, arguments, "--database", NULL);
    if (!url) stop_with("--database is needed");
    records_per_transaction = number_option(count, arguments, "--records", 1);
    bytes_per_record = number_option(count, arguments, "--bytes", 300);
    is_paging = !strcmp(command, "page");
    if (!strcmp(command, "prepare")) return prepare(url, records_per_transaction);
    if (!is_paging && strcmp(command, "save")) stop_with("transactions prepare, save or page");
    return run(
        url, number_option(count, arguments, "--connections", 1), (double)number_option(count, arguments, "--seconds", 2));
}
