// SPDX-License-Identifier: Apache-2.0
// SQLite as any app can import it. SQLITE_TRANSIENT is a cast, which Swift cannot see.
#pragma once
#include <sqlite3.h>

static inline int lists_bind_text(sqlite3_stmt *statement, int place, const void *bytes, int count) {
    return sqlite3_bind_text(statement, place, bytes ? (const char *)bytes : "", count, SQLITE_TRANSIENT);
}

static inline int lists_bind_blob(sqlite3_stmt *statement, int place, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, place, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}
