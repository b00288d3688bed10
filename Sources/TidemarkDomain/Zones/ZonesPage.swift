// SPDX-License-Identifier: Apache-2.0

/// One page of the living zones of a database, oldest first.
package struct ZonesPage: Sendable, Equatable {
    package let zones: [ZoneState]
    /// Where the next page begins. Nil: there are no more zones.
    package let cursor: ZonesCursor?

    /// - Parameter read: the zones after the previous page: at most `Limits.pageZonesMax`, and one more if it exists.
    package init(of read: [ZoneState], in database: DatabaseID, within limits: Limits) {
        zones = Array(read.prefix(limits.pageZonesMax))
        cursor =
            read.count > zones.count ? zones.last.map { ZonesCursor(database: database, lastZone: $0.id) } : nil
    }
}

/// How far a client has read in the zones of a database. Opaque to clients.
///
/// It is the id of the last zone that was read. A newer zone of the same database has a larger id. So a zone that is
/// created or deleted between two pages moves no other zone to another page.
package struct ZonesCursor: Sendable, Hashable {
    package let database: DatabaseID
    package let lastZone: ZoneID

    package init(database: DatabaseID, lastZone: ZoneID) {
        self.database = database
        self.lastZone = lastZone
    }

    private static let version: UInt64 = 1

    package var bytes: [UInt8] {
        var writer = CompactWriter()
        writer.write(Self.version)
        writer.write(signed: database.rawValue)
        writer.write(signed: lastZone.rawValue)
        return TokenChecksum.sealing(writer.bytes)
    }

    /// Nil if the bytes are not a cursor of any version that this server knows.
    package init?(bytes: [UInt8]) {
        guard let content = TokenChecksum.opening(bytes) else { return nil }
        var reader = CompactReader(content)
        guard reader.readNumber() == Self.version, let database = reader.readSigned(),
            let lastZone = reader.readSigned(), reader.isAtEnd
        else { return nil }
        self.init(database: DatabaseID(database), lastZone: ZoneID(lastZone))
    }

    /// A client's cursor; nil if it has none (empty bytes). `cursorInvalid` for a cursor that was cut or garbled, or
    /// that belongs to another database.
    package static func opened(_ bytes: [UInt8], in database: DatabaseID) -> Result<ZonesCursor?, FailureReason> {
        if bytes.isEmpty { return .success(nil) }
        guard let cursor = ZonesCursor(bytes: bytes), cursor.database == database else {
            return .failure(.cursorInvalid)
        }
        return .success(cursor)
    }
}
