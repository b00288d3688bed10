// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// Finds the records in lines of `records export`, or those of one zone in lines of `accounts export` (R-868).
struct SavedLines {
    /// Nil: records of any container are taken.
    let container: ContainerKey?
    let zone: String
    /// Where the lines of an archive are.
    private var archiveContainer: ContainerKey?
    private var archiveZone: String?
    private var hasEnd = false

    /// Whether an archive has begun, and not ended.
    var isCutOff: Bool { archiveContainer != nil && !hasEnd }

    init(container: ContainerKey?, zone: String) {
        self.container = container
        self.zone = zone
    }

    /// Whether a line is one of these.
    static func has(_ line: [UInt8]) -> Bool {
        (try? ArchiveLine(parsing: line)) != nil || (try? RecordLine(parsing: line)) != nil
    }

    /// Nil if the line has no record of the zone.
    ///
    /// - Throws: ``InputMistake`` if it is none of these lines.
    mutating func record(in line: [UInt8]) throws(InputMistake) -> RecordLine? {
        guard let archived = try? ArchiveLine(parsing: line) else {
            // It may have been that of another zone, whose records follow.
            if Self.isPlace(line) { archiveZone = nil }
            return try RecordLine(parsing: line)
        }
        switch archived {
        case .container(let line):
            archiveContainer = ContainerKey(identifier: line.container, environment: line.environment.value)
            archiveZone = nil
        case .zone(let line): archiveZone = line.zone
        case .record(let record):
            let isHere = archiveZone == zone && (container == nil || archiveContainer == container)
            return isHere ? record : nil
        case .end: hasEnd = true
        case .account, .zoneKey, .asset, .share: break
        }
        return nil
    }

    /// Whether a line begins as that of a container or a zone.
    private static func isPlace(_ line: [UInt8]) -> Bool {
        [#"{"container":{"#, #"{"zone":{"#].contains { line.starts(with: $0.utf8) }
    }
}
