// SPDX-License-Identifier: Apache-2.0
// What the yardsticks on libpq share. All of it ends the process where something fails.
#pragma once
#include <libpq-fe.h>

PGconn *connect_to(const char *url);

// Ends the process unless the result is of a statement that went well, or the end of a pipeline's batch.
void check_result(PGconn *database, PGresult *result);

// One or more statements without parameters, whose rows nobody wants.
void execute_sql(PGconn *database, const char *sql);

void prepare_statement(PGconn *database, const char *name, const char *sql, int count, const Oid *types);
