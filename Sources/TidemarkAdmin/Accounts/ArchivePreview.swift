// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields

/// Looks through an account's archive without a store: whether each line stands where it belongs, and all have come (R-839).
/// It refuses what ``ArchiveReader`` refuses of the lines themselves, with the same words.
struct ArchivePreview {
    static let noEnd = "The archive has no end: it was cut off."
    static let missingLines = "The archive is damaged: lines are missing, or come twice. Export it again."

    private enum Place {
        case nowhere, container, zone
    }

    /// What has come, as the last line counts it.
    private(set) var seen = ArchiveLine.End()
    /// The last line; nil: it has not come.
    private var end: ArchiveLine.End?
    private var place = Place.nowhere

    mutating func take(_ line: ArchiveLine) throws(AdminFailure) {
        guard end == nil else { throw ArchiveReader.misplaced }
        switch line {
        case .account(let head): try head.requireVersion()
        case .container: place = .container
        case .zone:
            guard place != .nowhere else { throw ArchiveReader.misplaced }
            place = .zone
            seen.zones += 1
        case .zoneKey(let line):
            guard place == .zone, line.wrappedKey != nil else { throw ArchiveReader.misplaced }
        case .asset(let line):
            guard place != .nowhere, let (asset, data) = line.piece else { throw ArchiveReader.misplaced }
            if line.offset + Int64(data.count) == asset.byteCount { seen.assets += 1 }
        case .record:
            guard place == .zone else { throw ArchiveReader.misplaced }
            seen.records += 1
        case .share(let line):
            guard place == .zone, SharePermission(named: line.publicPermission) != nil else {
                throw ArchiveReader.misplaced
            }
            seen.shares += 1
        case .end(let line): end = line
        }
    }

    /// What is wrong with the archive as a whole; nil: nothing.
    var fault: String? {
        guard var end else { return Self.noEnd }
        let lacks = end.lacks
        end.lacks = seen.lacks
        guard end == seen else { return Self.missingLines }
        return lacks.isNothing ? nil : lacks.text
    }

    /// What it has.
    var text: String {
        "\(Amount.zones(seen.zones)), \(Amount.records(seen.records)), \(Amount.text(seen.assets, "asset")) and "
            + Amount.text(seen.shares, "share")
    }
}

extension ArchiveLine.Account {
    /// - Throws: ``AdminFailure`` for an archive that this version cannot read.
    func requireVersion() throws(AdminFailure) {
        guard version == ArchiveLine.version else {
            throw AdminFailure(.refused, "The archive is of version \(version): use a newer tidemark.")
        }
    }
}
