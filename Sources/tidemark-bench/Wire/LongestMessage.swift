// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkTranslation
internal import TidemarkWire

/// A request of a client that is as long as it may be, or has as many parts.
struct LongestMessage {
    let name: String
    let bytes: [UInt8]

    static let limits = Bench.limits
    /// Bytes of a message of somebody with a credential, and of one without.
    private static let (bytesMax, anonymousBytesMax) = (4_194_304, 65_536)
    static let viewpoint = Viewpoint(
        user: UserID(7), userRecordName: "_0123456789abcdef0123456789abcdef", database: DatabaseID(3),
        device: DeviceID(high: 1, low: 2), store: StoreIncarnation(0xFEED))

    private init(
        _ name: String, mostBytes: Int = Self.bytesMax, _ fill: (inout WireClientEnvelope) -> Void
    ) throws {
        var envelope = WireClientEnvelope()
        envelope.id = 1
        fill(&envelope)
        self.name = name
        bytes = envelope.encoded
        guard bytes.count <= mostBytes else { throw BenchError("\(name) has \(bytes.count) bytes.") }
        guard try read().request != nil else { throw BenchError("\(name) has more parts than a message may have.") }
    }

    /// What a session does with the bytes.
    func read() throws -> ClientMessage { try ClientMessage(bytes) }

    /// What a handler does with the message before it waits for anything. A message that its rules refuse costs as much.
    static func begin(_ message: ClientMessage) {
        do {
            switch message.request {
            case .hello(let request): _ = try Greeting(request)
            case .modifyRecords(let request):
                // Others have their turn after this.
                var reader = try RecordsPartsReader(request, by: viewpoint, limits: limits)
                _ = try reader.read(bytesMax: RecordsPartsReader.bytesPerTurn)
            case .fetchRecords(let request): _ = try RecordsQuery(request, by: viewpoint, limits: limits)
            case .modifyZones(let request): _ = try ZonesRequest(request, by: viewpoint, limits: limits)
            case .fetchZones(let request): _ = try ZoneNames.read(request.zones, by: viewpoint, limits: limits)
            case .fetchZoneChanges(let request): _ = try ZoneChangesQuery(request, by: viewpoint)
            case .modifySubscriptions(let request):
                for save in request.saves { _ = try Subscription(save, scope: .private).refusal(within: limits) }
            case .queryRecords(let request):
                let search = try RecordsSearch(request, by: viewpoint, limits: limits)
                _ = search.query.refusal(fields: .unknown, scope: .private, limits: limits)
            case .fetchKeys(let request): _ = request.zones.map(viewpoint.zoneKey(of:))
            case .fetchShareMetadata(let request): _ = request.links.map(ShareLink.secret(in:))
            case .requestShareAccess(let request): _ = request.links.map(ShareLink.secret(in:))
            case .fetchShareParticipants(let request): _ = request.lookups.map { PersonLookup($0) }
            default: break
            }
        } catch {
            // It was looked at as far as the refusal.
        }
    }

    // MARK: All of them

    static func all() throws -> [LongestMessage] {
        try records() + reads() + queries() + others()
    }

    private static func records() throws -> [LongestMessage] {
        let largest = try smallestFields(byteCount: limits.recordBytesMax)
        let small = try smallestFields(byteCount: limits.requestBytesMax / limits.itemsMax)
        let place = FieldLocation(
            latitude: 1, longitude: 2, altitude: 3, horizontalAccuracy: 4, verticalAccuracy: 5, course: 6, speed: 7,
            timestampMilliseconds: 1_700_000_000_000)
        let places = try list(.locations(Array(repeating: place, count: 14_000)))
        let references = try list(.references(Array(repeating: FieldReference(recordName: "r"), count: 200_000)))
        let asset = FieldAsset(sha256: [UInt8](repeating: 7, count: 32), byteCount: 1)
        let assets = try list(.assets(Array(repeating: asset, count: 26_000)))
        return [
            try LongestMessage("records-of-fields") { $0.modifyRecords = saves(2, fields: largest) },
            try LongestMessage("records") { $0.modifyRecords = saves(limits.itemsMax, fields: small) },
            try LongestMessage("records-of-bytes") {
                $0.modifyRecords = saves(4, fields: [UInt8](repeating: 0, count: bytesMax / 4 - 1_000))
            },
            try LongestMessage("records-of-places") { $0.modifyRecords = saves(2, fields: places) },
            try LongestMessage("records-of-references") { $0.modifyRecords = saves(2, fields: references) },
            try LongestMessage("records-of-assets") { $0.modifyRecords = saves(2, fields: assets) },
            try LongestMessage("records-shared") {
                $0.modifyRecords = saves(40, type: "cloudkit.share", fields: [])
                for index in 0..<40 { $0.modifyRecords.zones[0].saves[index].share = share() }
            },
        ]
    }

    private static func reads() throws -> [LongestMessage] {
        [
            try LongestMessage("names") {
                $0.fetchRecords.zones = [WireZoneRecordNames()]
                $0.fetchRecords.zones[0].zone.name = "zone"
                $0.fetchRecords.zones[0].names = names(limits.itemsMax, byteCount: 5_000)
                $0.fetchRecords.desiredKeys.keys = names(4_096, byteCount: 255)
            },
            try LongestMessage("desired-keys") {
                $0.fetchZoneChanges.zone.name = "zone"
                $0.fetchZoneChanges.desiredKeys.keys = names(4_096, byteCount: 255)
            },
            try LongestMessage("zones") { $0.fetchZones.zones = zones(limits.itemsMax, byteCount: 4_000) },
            try LongestMessage("zones-of-keys") { $0.fetchKeys.zones = zones(limits.keyZonesMax, byteCount: 4_000) },
        ]
    }

    private static func queries() throws -> [LongestMessage] {
        let valueCount = limits.predicateNodesMax - 1
        return [
            try LongestMessage("query-list", mostBytes: anonymousBytesMax) {
                $0.queryRecords.query.recordType = "Note"
                $0.queryRecords.query.predicate.isIn.key = "text"
                $0.queryRecords.query.predicate.isIn.values = names(valueCount, byteCount: 36).map(value)
            },
            try LongestMessage("query-conditions", mostBytes: anonymousBytesMax) {
                $0.queryRecords.query.recordType = "Note"
                $0.queryRecords.query.predicate.and.parts = (0..<valueCount / 2).map { number in
                    var part = WirePredicate()
                    part.compare.key = "number"
                    part.compare.operator = .greater
                    part.compare.value.int64 = Int64(number)
                    return part
                }
            },
            try LongestMessage("query-of-text") {
                $0.queryRecords.query.recordType = "Note"
                $0.queryRecords.query.predicate.isIn.key = "text"
                $0.queryRecords.query.predicate.isIn.values = names(30, byteCount: 131_000).map(value)
            },
        ]
    }

    private static func others() throws -> [LongestMessage] {
        [
            try LongestMessage("hello", mostBytes: anonymousBytesMax) { $0.hello.credential = text(65_000) },
            try LongestMessage("new-zones") {
                $0.modifyZones.stamp = stamp
                $0.modifyZones.saves = zones(limits.itemsMax, byteCount: 4_000)
            },
            try LongestMessage("subscriptions") {
                $0.modifySubscriptions.saves = (0..<limits.itemsMax).map { number in
                    var subscription = WireSubscription()
                    subscription.id = "\(number)"
                    subscription.kind = .database
                    subscription.notificationInfo.alertBody = text(10_000)
                    return subscription
                }
            },
            try LongestMessage("upload") {
                $0.uploadAssetChunk.content = [UInt8](repeating: 7, count: bytesMax - 1_000)[...]
            },
            try LongestMessage("links") { $0.fetchShareMetadata.links = names(100, byteCount: 1_024) },
            try LongestMessage("requested links") { $0.requestShareAccess.links = names(100, byteCount: 1_024) },
            try LongestMessage("people") {
                $0.fetchShareParticipants.lookups = names(100, byteCount: 4_096).map { name in
                    var lookup = WireParticipantLookup()
                    lookup.email = name
                    return lookup
                }
            },
        ]
    }

    // MARK: Parts

    /// As many fields as so many bytes have room for: keys of four characters, and small values.
    static func smallestFields(_ value: FieldValue = .emptyList, byteCount: Int) throws -> [UInt8] {
        let digits = Array("0123456789abcdefghijklmnopqrstuvwxyz")
        // An empty list takes none of them for its value.
        let fieldBytes = value == .emptyList ? 10 : 12
        let fields = (0..<(byteCount - 64) / fieldBytes).map { number in
            let last = [number / 1_296, number / 36, number].map { digits[$0 % 36] }
            return Field(String([digits[10 + number / 46_656]] + last), value)
        }
        return try FieldMap(fields, limits: FieldLimits(byteCountMax: byteCount)).bytes
    }

    /// A record with one field.
    private static func list(_ value: FieldValue) throws -> [UInt8] {
        try FieldMap([Field("list", value)], limits: FieldLimits(byteCountMax: limits.recordBytesMax)).bytes
    }

    private static var stamp: WireRequestStamp {
        var stamp = WireRequestStamp()
        (stamp.counter, stamp.lowestUnanswered) = (1, 1)
        return stamp
    }

    private static func saves(_ count: Int, type: String = "Note", fields: [UInt8]) -> WireModifyRecords {
        var request = WireModifyRecords()
        request.stamp = stamp
        request.zones = [WireZoneModifications()]
        request.zones[0].zone.name = "zone"
        request.zones[0].saves = names(count, byteCount: 255).map { name in
            var save = WireRecordSave()
            (save.name, save.type, save.fields) = (name, type, fields)
            return save
        }
        return request
    }

    private static func share() -> WireShareSave {
        var share = WireShareSave()
        share.setsParticipants = true
        share.participants = (1..<limits.participantsMax).map { number in
            var participant = WireParticipantSave()
            participant.id = [UInt8](repeating: UInt8(number), count: 16)
            participant.email = "\(number)@" + text(limits.addressBytesMax - 12) + ".org"
            (participant.role, participant.permission) = (.privateUser, .readWrite)
            return participant
        }
        return share
    }

    private static func text(_ byteCount: Int) -> String { String(repeating: "x", count: byteCount) }

    /// They differ at their ends, so that comparing them takes long.
    private static func names(_ count: Int, byteCount: Int) -> [String] {
        let start = text(byteCount - 6)
        return (0..<count).map { start + "\(100_000 + $0)" }
    }

    private static func zones(_ count: Int, byteCount: Int) -> [WireZoneID] {
        names(count, byteCount: byteCount).map { name in
            var zone = WireZoneID()
            zone.name = name
            return zone
        }
    }

    private static func value(_ text: String) -> WireQueryValue {
        var value = WireQueryValue()
        value.string = text
        return value
    }
}
