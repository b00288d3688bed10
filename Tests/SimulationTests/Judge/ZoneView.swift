// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain

/// What a device knows of one zone from the pages that it was given, and how far its token has come.
struct ZoneView: Equatable {
    struct Seen: Equatable {
        let number: ChangeNumber
        /// Nil for a deletion.
        let text: String?
    }

    var zone: ZoneID?
    /// The life of the store that it was seen in.
    var store: StoreIncarnation?
    var token: [UInt8] = []
    var seen: [String: Seen] = [:]
    /// The history's length when the last list that had the zone was there; nil if its records are still being fetched.
    var toldAt: Int?

    mutating func take(_ page: ZonePage) {
        if zone != page.zone || store != page.token.store { (seen, toldAt) = ([:], nil) }
        (zone, store) = (page.zone, page.token.store)
        for record in page.entries {
            seen[record.name] = Seen(number: record.changeNumber, text: record.isDeleted ? nil : record.text)
        }
        token = page.token.bytes
    }

    /// Names and texts of what lives.
    var living: [String: String] {
        seen.compactMapValues(\.text)
    }

    /// I-2: whether the newest state of everything that was changed before the fetch began has been seen.
    ///
    /// - Parameters:
    ///   - before: the zone when the last page was asked for.
    ///   - after: the zone now.
    func missing(of before: History.Zone, now after: History.Zone) -> String? {
        for (name, version) in before.records.sorted(by: { $0.key < $1.key }) {
            if let seen = seen[name], seen.number >= version.number { continue }
            if seen[name] == nil, version.text == nil { continue }
            // Deleted since, before a first fetch came to it: nothing is told of that.
            if seen[name] == nil, after.wasDeleted(name, since: version.number) { continue }
            return "\(name) at \(version.number), seen at \(seen[name]?.number ?? 0)"
        }
        return nil
    }

    /// Whether a page said something that was never so.
    static func invention(in page: ZonePage, of zone: History.Zone?) -> String? {
        guard let zone else { return "of a zone that never was" }
        for record in page.entries {
            let text = record.isDeleted ? nil : record.text
            guard let (name, version) = zone.versions[record.changeNumber], name == record.name, version.text == text
            else {
                return "\(record.name) at \(record.changeNumber)"
            }
        }
        return nil
    }
}
