// SPDX-License-Identifier: Apache-2.0

/// How far a client has read in a query's results. It is a place in a query that is run again, not a snapshot.
/// Opaque to clients, which send it back with the same query.
package struct QueryCursor: Sendable, Hashable {
    package let store: StoreIncarnation
    /// The owner's.
    package let database: DatabaseID
    /// As ``RecordAccess/viewer``.
    package let viewer: UserID?
    /// Stands for the query: its type, zone, predicate and sorts.
    package let digest: UInt64
    package let position: QueryPosition

    package init(
        store: StoreIncarnation, database: DatabaseID, viewer: UserID?, query: Query, position: QueryPosition
    ) {
        self.store = store
        self.database = database
        self.viewer = viewer
        digest = query.digest
        self.position = position
    }

    private static let version: UInt64 = 1
    /// As ``version``, with the viewer after the database.
    private static let viewedVersion: UInt64 = 2

    package var bytes: [UInt8] {
        var writer = CompactWriter()
        writer.write(viewer == nil ? Self.version : Self.viewedVersion)
        writer.write(store.rawValue)
        writer.write(UInt64(bitPattern: database.rawValue))
        if let viewer { writer.write(UInt64(bitPattern: viewer.rawValue)) }
        writer.write(digest)
        writer.write(position.values.count)
        for value in position.values { writer.write(value) }
        writer.write(Array(position.recordName.utf8))
        writer.write(Array(position.zoneName.utf8))
        return TokenChecksum.sealing(writer.bytes)
    }

    /// Nil if the bytes are not a cursor of any version that this server knows.
    package init?(bytes: [UInt8]) {
        guard let content = TokenChecksum.opening(bytes) else { return nil }
        var reader = CompactReader(content)
        guard let version = reader.readNumber(), version == Self.version || version == Self.viewedVersion,
            let store = reader.readNumber(), let database = reader.readNumber()
        else { return nil }
        var viewer: UserID?
        if version == Self.viewedVersion {
            guard let user = reader.readNumber() else { return nil }
            viewer = UserID(Int64(bitPattern: user))
        }
        guard let digest = reader.readNumber(), let count = reader.readCount() else { return nil }
        var values: [IndexValue?] = []
        for _ in 0..<count {
            guard let value = reader.readIndexValue() else { return nil }
            values.append(value)
        }
        guard let recordName = reader.readText(), let zoneName = reader.readText(), reader.isAtEnd else { return nil }
        self.store = StoreIncarnation(store)
        self.database = DatabaseID(Int64(bitPattern: database))
        self.viewer = viewer
        self.digest = digest
        position = QueryPosition(values: values, recordName: recordName, zoneName: zoneName)
    }

    /// A client's cursor; nil if it has none (empty bytes). `cursorInvalid` for a cursor that was cut or garbled, or
    /// that belongs to another query, zone, database or viewer. The caller checks whether it is of this
    /// incarnation of the store, because it learns the incarnation together with the page.
    ///
    /// - Parameter viewer: as ``RecordAccess/viewer``.
    package static func opened(
        _ bytes: [UInt8], for query: Query, in database: DatabaseID, viewer: UserID?
    ) -> Result<QueryCursor?, FailureReason> {
        if bytes.isEmpty { return .success(nil) }
        guard let cursor = QueryCursor(bytes: bytes), cursor.database == database, cursor.viewer == viewer,
            cursor.digest == query.digest, cursor.position.values.count == query.effectiveSorts.count
        else { return .failure(.cursorInvalid) }
        return .success(cursor)
    }
}

extension CompactWriter {
    fileprivate mutating func write(_ value: IndexValue?) {
        switch value {
        case nil: write(UInt64(0))
        case .number(let number):
            write(UInt64(1))
            write(number.rounded.bitPattern)
            write(UInt64(UInt16(bitPattern: number.remainder)))
        case .date(let milliseconds):
            write(UInt64(2))
            write(signed: milliseconds)
        case .text(let text):
            write(UInt64(3))
            write(text.utf8)
        case .reference(let name):
            write(UInt64(4))
            write(name.utf8)
        case .user(let user):
            write(UInt64(5))
            write(signed: user)
        case .distance(let squaredChord):
            write(UInt64(6))
            write(squaredChord.bitPattern)
        }
    }
}

extension CompactReader {
    /// Nil if the bytes are not a value. The inner nil stands for a key that the record lacks.
    fileprivate mutating func readIndexValue() -> IndexValue?? {
        switch readNumber() {
        case 0: return .some(nil)
        case 1:
            guard let bits = readNumber(), let rest = readNumber().flatMap(Int16.init(exactly:)) else { return nil }
            return IndexNumber(rounded: Double(bitPattern: bits), remainder: rest).map { .number($0) }
        case 2: return readSigned().map { .date(milliseconds: $0) }
        case 3: return readText().map { .text(.init(utf8: Array($0.utf8))) }
        case 4: return readText().map { .reference(.init(utf8: Array($0.utf8))) }
        case 5: return readSigned().map { .user($0) }
        case 6:
            guard let chord = readNumber().map(Double.init(bitPattern:)), chord >= 0 else { return nil }
            return .some(.distance(chord))
        default: return nil
        }
    }

    /// Nil for bytes that are not UTF-8 or contain a zero byte, which no indexed text has.
    fileprivate mutating func readText() -> String? {
        guard let bytes = readContent(), !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
