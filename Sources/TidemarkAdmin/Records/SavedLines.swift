// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// Finds the records in lines of `records export`, or those of one zone in lines of `accounts export`.
struct SavedLines {
    /// Nil: records of any container are taken.
    let container: ContainerKey?
    let zone: String
    /// Where the lines of an archive are.
    private var archiveContainer: ContainerKey?
    private var archiveZone: String?

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
        guard let archived = try? ArchiveLine(parsing: line) else { return try RecordLine(parsing: line) }
        switch archived {
        case .container(let line):
            archiveContainer = ContainerKey(identifier: line.container, environment: line.environment.value)
            archiveZone = nil
        case .zone(let line): archiveZone = line.zone
        case .record(let record):
            let isHere = archiveZone == zone && (container == nil || archiveContainer == container)
            return isHere ? record : nil
        case .account, .zoneKey, .asset, .share, .end: break
        }
        return nil
    }
}
