// SPDX-License-Identifier: Apache-2.0

/// Why a group of requests was not written from the cache of zones (``KnownZones``). Nothing was written then, and a
/// transaction that locks the zones writes the group instead.
enum CacheMiss: Error, CaseIterable {
    /// The cache does not have a zone, does not trust it, or lacks something of it that is not a record. Or the
    /// requests need something that the cache never has, such as references, assets or roles (``ZoneRead/isPlain``).
    case zoneUnknown
    /// The requests name records that the cache lacks, and reading them first would save nothing. That is so for a
    /// single record, and for several zones. Or they are too large together, known or not. Then a
    /// transaction finds that out.
    case recordsUnknown
    /// Somebody else has written in the zone. It showed when records that the cache lacks were read.
    case zoneMoved
    /// The schema is not remembered in the version that the cache names, or has to learn something from a save.
    case schemaUnknown
    /// The decision writes nothing in a zone, so the commit would not prove that the cache is right about that zone.
    /// The usual reason is a request whose outcome is remembered.
    case nothingToWrite
    /// The decision writes more than records and outcomes (``ZoneChanges/isPlain``), for example a client's token.
    case notPlain
    /// The commit showed that the cache is out of date. Somebody else has written in a zone, or a record that was
    /// assumed to be new is not.
    case outdated
    /// The database refuses the statement. A transaction tells whether it refuses the requests as well.
    case rejected
}
