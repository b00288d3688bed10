// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkBytes
internal import TidemarkCrypto
internal import TidemarkDomain
internal import TidemarkFields

/// Reads a backup's manifest, piece by piece, and believes nothing of it: each line is in its place, names nothing outside
/// of the backup, and the last one has the checksum of all others.
struct ManifestReader {
    /// A longer line is no line of a manifest. The longest one has the name of a container, of 255 bytes.
    static let lineBytesMax = 16_384
    /// Migrations and containers are kept in memory.
    private static let keptLinesMax = 100_000

    /// The kinds of lines in their order.
    private enum Place: Int, Comparable {
        case beginning, head, migrations, containers, files, assets, end

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    private(set) var head: BackupLine.Head?
    private(set) var migrations: [BackupLine.Step] = []
    private(set) var containers: [BackupLine.Container] = []
    private(set) var files: [BackupLine.File] = []
    private(set) var assetCount = 0
    private(set) var assetBytes: Int64 = 0
    private(set) var lostCount = 0
    private(set) var firstLost: [AssetKey] = []

    private var place = Place.beginning
    private var lineNumber = 0
    /// A line that has not come to its end.
    private var rest: [UInt8] = []
    private let hash = RunningHash()
    private var lastAsset: AssetKey?

    /// - Returns: the assets of the lines that have come to their end, with whether the file is in the backup.
    mutating func read(_ bytes: ArraySlice<UInt8>) throws -> [(asset: AssetKey, isThere: Bool)] {
        var assets: [(asset: AssetKey, isThere: Bool)] = []
        var bytes = bytes
        while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
            rest += bytes[..<end]
            bytes = bytes[(end + 1)...]
            lineNumber += 1
            guard rest.count <= Self.lineBytesMax else { throw fault("is too long") }
            let line = rest
            rest = []
            if let asset = try take(line) { assets.append(asset) }
        }
        guard rest.count + bytes.count <= Self.lineBytesMax else {
            lineNumber += 1
            throw fault("is too long")
        }
        rest += bytes
        return assets
    }

    /// - Throws: ``ManifestFault`` if something is missing.
    func finish() throws(ManifestFault) {
        guard rest.isEmpty, place == .end else {
            throw ManifestFault(description: "The manifest has no end: it was cut off.")
        }
    }

    /// - Returns: the asset that the line names.
    private mutating func take(_ bytes: [UInt8]) throws -> (asset: AssetKey, isThere: Bool)? {
        guard place != .end else { throw fault("comes after the end") }
        guard let line = try? JSONDecoder().decode(BackupLine.self, from: Data(bytes)) else {
            throw fault("is none of a manifest")
        }
        if let end = line.end {
            try go(to: .end, line)
            try self.end(end)
            return nil
        }
        hash.update(bytes)
        hash.update([UInt8(ascii: "\n")])
        if let asset = line.asset ?? line.lost { return try add(asset, line) }
        if let new = line.backup {
            try begin(new, line)
        } else if let migration = line.migration {
            try go(to: .migrations, line)
            guard migration.number == migrations.count + 1 else { throw fault("is out of order") }
            migrations.append(migration)
        } else if let container = line.container {
            try go(to: .containers, line)
            containers.append(container)
        } else if let file = line.file {
            try add(file, line)
        } else {
            throw fault("is none of a manifest")
        }
        return nil
    }

    private mutating func add(_ file: BackupLine.File, _ line: BackupLine) throws(ManifestFault) {
        try go(to: .files, line)
        guard Self.isName(file.name), file.bytes >= 0, Hex.decode(file.sha256)?.count == SHA256.byteCount,
            !files.contains(where: { $0.name == file.name })
        else { throw fault("names a file that cannot be in a backup") }
        files.append(file)
    }

    private mutating func add(
        _ asset: BackupLine.Asset, _ line: BackupLine
    ) throws(ManifestFault) -> (asset: AssetKey, isThere: Bool) {
        try go(to: .assets, line)
        guard let key = asset.key else { throw fault("names an asset that is none") }
        if let lastAsset, !(lastAsset < key) { throw fault("is out of order") }
        lastAsset = key
        guard line.lost == nil else {
            lostCount += 1
            if lostCount <= AdminBackup.lostToldMax { firstLost.append(key) }
            return (key, false)
        }
        let (sum, overflow) = assetBytes.addingReportingOverflow(key.content.byteCount)
        guard !overflow else { throw fault("names an asset that is none") }
        assetCount += 1
        assetBytes = sum
        return (key, true)
    }

    private mutating func begin(_ new: BackupLine.Head, _ line: BackupLine) throws(ManifestFault) {
        guard new.version == BackupLine.version else {
            throw ManifestFault(
                description: "The manifest has the form \(new.version), and this version of tidemark reads the form "
                    + "\(BackupLine.version).")
        }
        guard place == .beginning else { throw fault("is out of order") }
        try go(to: .head, line)
        head = new
    }

    private mutating func end(_ end: BackupLine.End) throws(ManifestFault) {
        guard Hex.encode(hash.finish()) == end.sha256, end.assets == assetCount,
            end.assetBytes == assetBytes
        else { throw ManifestFault(description: "The manifest is damaged: its checksum is another.") }
    }

    private mutating func go(to next: Place, _ line: BackupLine) throws(ManifestFault) {
        guard line.kindCount == 1 else { throw fault("is none of a manifest") }
        let least = Self.least(before: next)
        guard place >= least, next >= place else { throw fault("is out of order") }
        guard migrations.count + containers.count + files.count <= Self.keptLinesMax else { throw fault("is too much") }
        place = next
    }

    /// A dump is in each backup.
    private static func least(before next: Place) -> Place {
        switch next {
        case .end, .assets: .files
        case .beginning, .head: .beginning
        case .migrations, .containers, .files: .head
        }
    }

    private func fault(_ what: String) -> ManifestFault {
        ManifestFault(description: "Line \(lineNumber) of the manifest \(what).")
    }

    /// Of a file in the directory of the backup: no path leads out of it, and nothing hidden is meant.
    static func isName(_ name: String) -> Bool {
        (1...255).contains(name.utf8.count) && !name.hasPrefix(".")
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

/// What is wrong with a manifest.
struct ManifestFault: Error, Equatable, CustomStringConvertible {
    let description: String
}
