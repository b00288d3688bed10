// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres

/// The SQL of queries. Every record of a zone is looked at, in pieces of one snapshot.
enum QueryStatements {
    static let begin = Statement("begin_query", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    /// Living records of one type by name: 1 database, 2 zone, 3 name after which they begin, 4 type, 5 records at most,
    /// 6 bytes after which no further one is added.
    static let records = Statement(
        "query_records",
        """
        SELECT \(RecordStatements.columns)
          FROM (SELECT c.*, sum(c.byte_count) OVER (ORDER BY c.name) - c.byte_count AS bytes_before
                  FROM (SELECT * FROM record c
                         WHERE c.database_id = $1 AND c.zone_id = $2 AND c.name > $3 AND c.type = $4
                           AND NOT c.is_deleted
                         ORDER BY c.name LIMIT $5) AS c) AS r
         WHERE r.bytes_before < $6
         ORDER BY r.name
        """, [.int8, .int8, .text, .text, .int8, .int8])

    /// Whether a record of the type was ever saved: 1 database, 2 zones, 3 type.
    static let isTypeKnown = Statement(
        "query_is_type_known",
        """
        SELECT EXISTS (
            SELECT FROM unnest($2::bigint[]) AS k (zone_id)
              JOIN record r ON r.database_id = $1 AND r.zone_id = k.zone_id AND r.type = $3)
        """, [.int8, .int8Array, .text])
}
