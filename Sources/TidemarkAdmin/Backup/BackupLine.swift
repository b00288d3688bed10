// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkStore

/// A line of a backup's manifest: a JSON object with one of these keys.
struct BackupLine: Codable, Equatable, Sendable {
    /// The first line.
    var backup: Head?
    var migration: Step?
    var container: Container?
    var file: File?
    var asset: Asset?
    /// An asset whose file was missing or damaged when the backup was made.
    var lost: Asset?
    var end: End?

    /// The version of the form.
    static let version = 1

    struct Head: Codable, Equatable, Sendable {
        let version: Int
        /// In ISO 8601, by the database's clock: the moment of all that is in the backup.
        let time: String
        /// The program's version.
        let tidemark: String
        /// PostgreSQL's version, as it counts them: 150_006 is 15.6.
        let postgres: Int
        /// The major version of `pg_dump`.
        let dumpedBy: Int
        /// Of the store.
        let incarnation: String
        /// The digest by which servers know the master key; nil if there is none. The key cannot be computed from it.
        var masterKey: String?
    }

    struct Step: Codable, Equatable, Sendable {
        let number: Int
        let name: String
        let checksum: String
    }

    struct Container: Codable, Equatable, Sendable {
        let container: String
        let environment: EnvironmentName
        let users: Int
        let zones: Int
        let records: Int
    }

    /// A file of the dump.
    struct File: Codable, Equatable, Sendable {
        /// In the directory of the backup.
        let name: String
        let bytes: Int64
        let sha256: String
    }

    /// The content of a file that a record names.
    struct Asset: Codable, Equatable, Sendable {
        let database: Int64
        /// The hash that names the content; for content of up to 32 KiB it is its SHA-256.
        let sha256: String
        let bytes: Int64
    }

    /// The last line.
    struct End: Codable, Equatable, Sendable {
        let assets: Int
        let assetBytes: Int64
        /// Of all bytes before this line.
        let sha256: String
    }

    /// How many of the keys it has. A line has one.
    var kindCount: Int {
        var count = 0
        if backup != nil { count += 1 }
        if migration != nil { count += 1 }
        if container != nil { count += 1 }
        if file != nil { count += 1 }
        if asset != nil { count += 1 }
        if lost != nil { count += 1 }
        if end != nil { count += 1 }
        return count
    }

    /// With the end of the line.
    func bytes() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(self)) + [UInt8(ascii: "\n")]
    }
}

extension BackupLine.Step {
    init(_ migration: AppliedMigration) {
        self.init(number: migration.number, name: migration.name, checksum: migration.checksum)
    }
}

extension BackupLine.Container {
    init(_ contents: BackedUpContainer) {
        self.init(
            container: contents.container.identifier, environment: EnvironmentName(contents.container.environment),
            users: contents.users, zones: contents.zones, records: contents.records)
    }
}

extension BackupLine.Asset {
    init(_ asset: AssetKey) {
        self.init(
            database: asset.database.rawValue, sha256: Hex.encode(asset.content.sha256), bytes: asset.content.byteCount)
    }

    /// Nil if it is none.
    var key: AssetKey? {
        guard let hash = Hex.decode(sha256), hash.count == FieldAsset.sha256ByteCount, bytes >= 0 else { return nil }
        return AssetKey(database: DatabaseID(database), content: FieldAsset(sha256: hash, byteCount: bytes))
    }
}
