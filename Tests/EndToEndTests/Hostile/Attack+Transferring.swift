// SPDX-License-Identifier: Apache-2.0

import TidemarkCrypto
import TidemarkWire

/// Attacks by uploads. Nobody uploads without a credential.
extension Attack {
    static let transferring = [uploads, repeatedUploads, lastChunks]

    /// Uploads that begin and never end.
    private static let uploads = Attack(
        testDescription: "uploads that never end", connections: 4, underWay: 32, period: nil,
        byNobody: .none("nobody uploads"),
        fill: {
            $0.uploadAssetChunk = WireUploadAssetChunk()
            $0.uploadAssetChunk.database = $1
            $0.uploadAssetChunk.zone = defaultZone
            $0.uploadAssetChunk.sha256 = (0..<32).map { _ in UInt8.random(in: 0...255) }
            $0.uploadAssetChunk.byteCount = 1 << 28
            $0.uploadAssetChunk.content = Array(repeating: 7, count: 65_536)[...]
        })

    /// More uploads of each device than an account may have open, and each chunk goes on with another one. If what is
    /// there were read and hashed again each time, the server would read far more than all that it was sent.
    private static let repeatedUploads = Attack(
        testDescription: "uploads that go on in turn", company: .assets, connections: 4, period: nil,
        readBytesMax: 33_554_432, byNobody: .none("nobody uploads"),
        fill: {
            // The chunks of an upload come in order, and those that came before change nothing.
            let (upload, part) = ($0.id % 64, $0.id / 64 % 8)
            $0.uploadAssetChunk = WireUploadAssetChunk()
            $0.uploadAssetChunk.database = $1
            $0.uploadAssetChunk.zone = defaultZone
            $0.uploadAssetChunk.sha256 = Array(repeating: UInt8(upload), count: 32)
            $0.uploadAssetChunk.byteCount = 1 << 24
            $0.uploadAssetChunk.offset = part * UInt64(quarter.count)
            $0.uploadAssetChunk.content = quarter[...]
        })

    /// A quarter of a megabyte.
    private static let quarter = [UInt8](repeating: 7, count: 262_144)

    /// Each is an asset's last chunk, and its first. All find room when they begin. If the quota were not checked again where
    /// an asset is kept, those that begin at once would be more than it has room for.
    private static let lastChunks = Attack(
        testDescription: "uploads that end at once over a quota", company: .assets, period: 64, isStaggered: true,
        byNobody: .none("nobody uploads"),
        arrange: { ground in
            let set = try await ground.place.admin("accounts", "set-quota", ground.account.name, "--megabytes", "1")
            guard set.status == 0 else { throw NeverHappened(description: "no quota: \(set.output)") }
        },
        holds: {
            $0.holds(
                """
                SELECT coalesce(sum(byte_count), 0) BETWEEN 1 AND 1048576 FROM asset WHERE database_id = \($0.database)
                """)
        },
        fill: {
            let content = [UInt8](repeating: UInt8($0.id), count: 200_000)
            $0.uploadAssetChunk = WireUploadAssetChunk()
            $0.uploadAssetChunk.database = $1
            $0.uploadAssetChunk.zone = defaultZone
            $0.uploadAssetChunk.sha256 = ContentHash.of(content)
            $0.uploadAssetChunk.byteCount = UInt64(content.count)
            $0.uploadAssetChunk.content = content[...]
        })
}
