// SPDX-License-Identifier: Apache-2.0

/// How far a client has read in a change feed. Opaque to clients, which store it and send it back.
///
/// It names its feed, so that the server notices a token of another feed.
package enum ChangeToken: Sendable, Equatable {
    /// A place in the feed of one zone. `database` is its owner's, `zoneName` the ``nameMark(of:)`` of its name, and
    /// `viewer` is ``RecordAccess/viewer``.
    case zone(
        store: StoreIncarnation, database: DatabaseID, zoneName: UInt64, viewer: UserID?,
        position: ZonePageQuery.Position)
    /// A place in the feed of a database. `viewer` is the private or shared database of the user who sees it.
    case database(store: StoreIncarnation, viewer: DatabaseID, position: FeedPosition)

    /// A place in the feed of a zone.
    ///
    /// - Parameter viewer: as ``RecordAccess/viewer``.
    package static func zone(
        _ key: ZoneKey, viewer: UserID?, store: StoreIncarnation, position: ZonePageQuery.Position
    ) -> ChangeToken {
        .zone(
            store: store, database: key.database, zoneName: nameMark(of: key.name), viewer: viewer, position: position)
    }

    /// A short hash that stands for a zone's name in a token. It tells a token of another zone (a mistake, R-200) from
    /// one of an earlier incarnation of this zone (expired, R-220). If two names have the same hash, only these two
    /// answers are confused.
    package static func nameMark(of name: String) -> UInt64 {
        name.utf8.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }

    // MARK: Bytes

    // NB: clients read versions and kinds, too (`FeedPlace` in TidemarkKit). They keep tokens for years. A token that
    // was given out once must always be readable, or each device fetches everything again.
    private static let version: UInt64 = 1
    private static let zoneKind: UInt64 = 1
    private static let databaseKind: UInt64 = 2
    /// As ``zoneKind``, and the viewer after that; then the mark of the viewer's shares, if these are of hierarchies.
    private static let viewedZoneKind: UInt64 = 3

    package var bytes: [UInt8] {
        var writer = CompactWriter()
        writer.write(Self.version)
        switch self {
        case .zone(let store, let database, let zoneName, let viewer, let position):
            writer.write(viewer == nil ? Self.zoneKind : Self.viewedZoneKind)
            writer.write(store.rawValue)
            writer.write(UInt64(bitPattern: database.rawValue))
            writer.write(zoneName)
            writer.write(UInt64(bitPattern: position.zone.rawValue))
            writer.write(UInt64(bitPattern: position.number))
            writer.write(UInt64(bitPattern: position.begunAt))
            guard let viewer else { break }
            writer.write(UInt64(bitPattern: viewer.rawValue))
            if let view = position.view { writer.write(view) }
        case .database(let store, let viewer, let position):
            writer.write(Self.databaseKind)
            writer.write(store.rawValue)
            writer.write(UInt64(bitPattern: viewer.rawValue))
            writer.write(UInt64(bitPattern: position.number))
            for ahead in position.ahead {
                writer.write(UInt64(bitPattern: ahead.zone.rawValue))
                writer.write(UInt64(bitPattern: ahead.changeNumber))
            }
        }
        return TokenChecksum.sealing(writer.bytes)
    }

    /// Nil if the bytes are not a token of any version that this server knows.
    package init?(bytes: [UInt8]) {
        guard let content = TokenChecksum.opening(bytes) else { return nil }
        var reader = CompactReader(content)
        guard reader.readNumber() == Self.version, let kind = reader.readNumber(), let store = reader.readNumber(),
            let database = reader.readNumber()
        else { return nil }
        let incarnation = StoreIncarnation(store)
        let owner = DatabaseID(Int64(bitPattern: database))
        switch kind {
        case Self.zoneKind, Self.viewedZoneKind:
            guard let mark = reader.readNumber(), let zone = reader.readNumber() else { return nil }
            guard let number = reader.readChangeNumber(), let begunAt = reader.readChangeNumber() else { return nil }
            var position = ZonePageQuery.Position(
                zone: ZoneID(Int64(bitPattern: zone)), number: number, begunAt: begunAt)
            var viewer: UserID?
            if kind == Self.viewedZoneKind {
                guard let user = reader.readNumber() else { return nil }
                viewer = UserID(Int64(bitPattern: user))
                if !reader.isAtEnd {
                    guard let view = reader.readNumber() else { return nil }
                    position.view = view
                }
            }
            self = .zone(
                store: incarnation, database: owner, zoneName: mark, viewer: viewer, position: position)
        case Self.databaseKind:
            guard let number = reader.readChangeNumber() else { return nil }
            var ahead: [FeedPosition.Ahead] = []
            while !reader.isAtEnd {
                guard ahead.count < FeedPosition.aheadMax, let zone = reader.readNumber(),
                    let changeNumber = reader.readChangeNumber()
                else { return nil }
                ahead.append(.init(zone: ZoneID(Int64(bitPattern: zone)), changeNumber: changeNumber))
            }
            self = .database(
                store: incarnation, viewer: owner, position: FeedPosition(number: number, ahead: ahead))
        default: return nil
        }
        guard reader.isAtEnd else { return nil }
    }

    /// The incarnation of the store that it belongs to.
    package var store: StoreIncarnation {
        switch self {
        case .zone(let store, _, _, _, _), .database(let store, _, _): store
        }
    }

    // MARK: Checking what a client sent

    /// Where a client's token points in the feed of a zone; nil if the client has none (empty bytes).
    ///
    /// `tokenInvalid` for a token of another feed or another viewer, `tokenExpired` for one of another
    /// incarnation of the store. The incarnation is checked first, because the numbers of databases and users
    /// may differ between incarnations. ``ZonePage`` checks what depends on the zone's current state.
    ///
    /// - Parameter viewer: as ``RecordAccess/viewer``.
    package static func position(
        in key: ZoneKey, viewer: UserID?, from bytes: [UInt8], store: StoreIncarnation
    ) -> Result<ZonePageQuery.Position?, FailureReason> {
        if bytes.isEmpty { return .success(nil) }
        guard case .zone(let tokenStore, let database, let mark, let user, let position)? = ChangeToken(bytes: bytes),
            mark == nameMark(of: key.name)
        else { return .failure(.tokenInvalid) }
        guard tokenStore == store else { return .failure(.tokenExpired) }
        guard database == key.database, user == viewer else { return .failure(.tokenInvalid) }
        return .success(position)
    }

    /// Where a client's token points in the database feed of a viewer; nil if the client has none (empty bytes). Errors
    /// as for zones. ``DatabasePage`` checks what depends on the feed's current state.
    package static func position(
        inDatabaseFeedOf viewer: DatabaseID, from bytes: [UInt8], store: StoreIncarnation
    ) -> Result<FeedPosition?, FailureReason> {
        if bytes.isEmpty { return .success(nil) }
        guard case .database(let tokenStore, let tokenViewer, let position)? = ChangeToken(bytes: bytes) else {
            return .failure(.tokenInvalid)
        }
        guard tokenStore == store else { return .failure(.tokenExpired) }
        return tokenViewer == viewer ? .success(position) : .failure(.tokenInvalid)
    }
}

extension CompactReader {
    /// Nil if it is not a change number: those are never negative.
    fileprivate mutating func readChangeNumber() -> ChangeNumber? {
        readNumber().flatMap(ChangeNumber.init(exactly:))
    }
}
