// SPDX-License-Identifier: Apache-2.0
#include "database.h"

#include <stdio.h>
#include <stdlib.h>

PGconn *connect_to(const char *url) {
    PGconn *database = PQconnectdb(url);
    if (PQstatus(database) == CONNECTION_OK) return database;
    fprintf(stderr, "tidemark-yardstick: %s", PQerrorMessage(database));
    exit(1);
}

void check_result(PGconn *database, PGresult *result) {
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_PIPELINE_SYNC) return;
    fprintf(stderr, "tidemark-yardstick: %s %s\n", PQresStatus(status), PQerrorMessage(database));
    exit(1);
}

void execute_sql(PGconn *database, const char *sql) {
    PGresult *result = PQexec(database, sql);
    check_result(database, result);
    PQclear(result);
}

void prepare_statement(PGconn *database, const char *name, const char *sql, int count, const Oid *types) {
    PGresult *result = PQprepare(database, name, sql, count, types);
    check_result(database, result);
    PQclear(result);
}
