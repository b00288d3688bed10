// SPDX-License-Identifier: Apache-2.0

/// Which keys of a zone this device knows to be older than another one.
///
/// A server names the newest key. A grant has all keys of the zone in their order, which only the owner can have written. And what was the
/// newest once, and is so no more, does not become it again. That holds beyond a zone's life too: keys of a zone that was made again
/// are new ones.
struct ZoneKeyOrder: Sendable, Equatable {
    /// How many ids are kept: those of ten zones with as many keys as a zone can have. The oldest are forgotten first.
    private static let countMax = 1_000
    private static let idByteCount = 16

    /// The last one is the newest. Each comes once.
    private let ids: [[UInt8]]

    init() { ids = [] }

    private init(_ ids: [[UInt8]]) { self.ids = ids.suffix(Self.countMax) }

    /// With that key as the newest from now on.
    ///
    /// - Parameter given: the ids of the keys that the owner has given, oldest first.
    /// - Returns: nil if a newer key is known.
    func going(to newest: [UInt8], given: [[UInt8]]) -> ZoneKeyOrder? {
        if ids.dropLast().contains(newest) || given.dropLast().contains(newest) { return nil }
        let older = ids + given.filter { !ids.contains($0) }
        return ZoneKeyOrder(older.filter { $0 != newest } + [newest])
    }

    // MARK: Bytes

    var bytes: [UInt8] { Array(ids.joined()) }

    /// - Returns: nil unless there are whole ids, and at least one.
    init?(bytes: [UInt8]) {
        guard !bytes.isEmpty, bytes.count.isMultiple(of: Self.idByteCount) else { return nil }
        self.init(
            stride(from: 0, to: bytes.count, by: Self.idByteCount).map { Array(bytes[$0..<$0 + Self.idByteCount]) })
    }
}
