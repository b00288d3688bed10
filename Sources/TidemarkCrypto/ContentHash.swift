// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkSHA256

/// The hash that names content, which may be large and come in pieces: SHA-256, as a tree of one level.
///
/// The hash of content of one leaf is its SHA-256. For longer content it is the SHA-256 of the concatenated SHA-256 of
/// all leaves. Always compare it together with the content's length. Contents of the same length have trees of the same
/// shape, so two of them with the same hash would be a collision of SHA-256. A list of hashes, taken for content, is
/// shorter than its content.
///
/// Leaves do not depend on each other: a processor with wide vectors hashes sixteen in the time of seven.
package struct ContentHash: ~Copyable {
    package static let byteCount = SHA256.byteCount
    /// The bytes of each leaf except the last, which may be shorter.
    package static let leafByteCount = 32_768
    /// Pieces of whole multiples of it take the least time.
    package static let pieceByteCount = 16 * leafByteCount

    /// How many leaves are hashed at once.
    package enum Lanes: Int, CaseIterable, Sendable {
        case one = 1
        case two = 2
        case sixteen = 16

        /// Whether this processor supports it.
        package var isAvailable: Bool {
            switch self {
            case .one: true
            case .two: tidemark_sha256_has_two()
            case .sixteen: tidemark_sha256_has_sixteen()
            }
        }
    }

    private static let lanesMax = Lanes.allCases.last { $0.isAvailable } ?? .one

    private let lanes: Lanes
    /// The hash of the bytes after the last complete leaf.
    private var leaf = SHA256()
    private var leafBytes = 0
    /// The hash of the list of leaves.
    private var list: SHA256?

    package init() {
        self.init(lanes: Self.lanesMax)
    }

    /// - Parameter lanes: must be available. The result does not depend on it.
    package init(lanes: Lanes) {
        self.lanes = lanes
    }

    package mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while !rest.isEmpty {
            if leafBytes == Self.leafByteCount { endLeaf() }
            var count = lanes.rawValue * Self.leafByteCount
            if lanes != .one, leafBytes == 0, rest.count >= count {
                addLeaves(rest.baseAddress)
            } else {
                count = min(rest.count, Self.leafByteCount - leafBytes)
                leaf.update(UnsafeRawBufferPointer(rebasing: rest[..<count]))
                leafBytes += count
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// The hash of everything so far, 32 bytes.
    package consuming func finish() -> [UInt8] {
        if list == nil { return leaf.finish() }
        if leafBytes > 0 { endLeaf() }
        return list.take()?.finish() ?? []
    }

    package static func of(_ bytes: [UInt8]) -> [UInt8] {
        var hash = ContentHash()
        hash.update(bytes)
        return hash.finish()
    }

    private mutating func endLeaf() {
        let digest = leaf.finishAndReset()
        leafBytes = 0
        add(digest)
    }

    private mutating func addLeaves(_ bytes: UnsafeRawPointer?) {
        let leaves = bytes?.assumingMemoryBound(to: UInt8.self)
        let hash = lanes == .two ? tidemark_sha256_two : tidemark_sha256_sixteen
        add(
            [UInt8](unsafeUninitializedCapacity: lanes.rawValue * SHA256.byteCount) { digests, count in
                hash(leaves, Self.leafByteCount, digests.baseAddress)
                count = digests.count
            })
    }

    private mutating func add(_ digests: [UInt8]) {
        if list == nil { list = SHA256() }
        list?.update(digests)
    }
}
