// SPDX-License-Identifier: Apache-2.0
// SQLite as Swift can see it: SQLITE_TRANSIENT is a cast.
#pragma once
#include <sqlite3.h>

static inline int sqlite_bind_text(sqlite3_stmt *statement, int place, const char *text) {
    return sqlite3_bind_text(statement, place, text, -1, SQLITE_TRANSIENT);
}

static inline int sqlite_bind_blob(sqlite3_stmt *statement, int place, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, place, bytes, count, SQLITE_TRANSIENT);
}
