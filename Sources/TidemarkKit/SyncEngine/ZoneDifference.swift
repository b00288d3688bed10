// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkCrypto

/// Versions of one zone that an app has, as far as they are not the server's.
struct ZoneDifference: Sendable {
    private let zoneID: CKRecordZone.ID
    /// The numbers of the versions that the server has not named yet. 0: of another zone, or not to be read.
    private var rest: [String: UInt64] = [:]
    private let digest: [UInt8]
    private let heldCount: Int
    /// How many versions the server has named.
    private(set) var namedCount = 0
    private var missingHere: [String] = []
    private var different: [String] = []

    /// - Parameters:
    ///   - changeTags: as apps know them. Those of other zones are left out.
    ///   - token: of the zone. A tag of another incarnation of the zone is of no version that the server has.
    init(_ changeTags: [CKRecord.ID: String], in zoneID: CKRecordZone.ID, at token: CKServerChangeToken) {
        self.zoneID = zoneID
        let zone = FeedPlace(token)?.zone
        var digest = VersionDigest()
        var hasher = VersionHasher()
        for (id, tag) in changeTags where id.zoneID == zoneID {
            let version = Base64.decodeURLSafe(tag).flatMap { RecordVersion(tag: $0) }
            let number = version.flatMap { $0.zone == zone ? $0.number : nil } ?? 0
            rest[id.recordName] = number
            digest.toggle(id.recordName, number, with: &hasher)
        }
        self.digest = digest.bytes
        heldCount = rest.count
    }

    /// Whether the server has these versions and no others.
    func isSame(as inventory: SyncEngineInventory) -> Bool {
        inventory.digest == digest && inventory.recordCount == UInt64(heldCount)
    }

    /// Takes in a page of what the server has.
    mutating func take(_ versions: [(name: String, number: UInt64)]) {
        namedCount += versions.count
        for version in versions {
            guard let number = rest.removeValue(forKey: version.name) else {
                missingHere.append(version.name)
                continue
            }
            if number != version.number { different.append(version.name) }
        }
    }

    /// What differs once all pages are taken in.
    func report(_ comparison: TidemarkZoneComparison, pending: Set<CKRecord.ID>) -> TidemarkZoneComparison {
        var comparison = comparison
        func sort(_ names: [String], into list: WritableKeyPath<TidemarkZoneComparison, [CKRecord.ID]>) {
            for name in names {
                let id = CKRecord.ID(recordName: name, zoneID: zoneID)
                comparison[keyPath: pending.contains(id) ? \.pending : list].append(id)
            }
        }
        sort(missingHere, into: \.missingHere)
        sort(rest.keys.sorted(), into: \.missingThere)
        sort(different, into: \.different)
        return comparison
    }
}
