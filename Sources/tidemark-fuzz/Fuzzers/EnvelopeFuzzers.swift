// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkTranslation
internal import TidemarkWire

extension Fuzzer {
    /// A client's message: read, translated and judged by the rules that need no store, as a session does.
    static let envelope = Fuzzer(name: "envelope", seeds: { EnvelopeSeeds.clients }) { input throws(Finding) in
        guard let message = try? ClientMessage(input), message.request != nil else { return false }
        _ = try Envelopes.checkWriting(WireClientEnvelope.self, input)
        do {
            try Envelopes.translate(message)
            return true
        } catch is Refusal {
            return false
        } catch {
            throw Finding("\(error)")
        }
    }

    /// A server's message, as a client reads it.
    static let serverEnvelope = Fuzzer(name: "server-envelope", seeds: { EnvelopeSeeds.servers }) {
        input throws(Finding) in
        try Envelopes.checkWriting(WireServerEnvelope.self, input)
    }
}

private enum Envelopes {
    static let viewpoint = Viewpoint(
        user: UserID(7), userRecordName: "_0123456789abcdef0123456789abcdef", database: DatabaseID(3),
        device: DeviceID(high: 1, low: 2), store: StoreIncarnation(0xFEED))
    static let limits = Limits.ofFuzzers

    /// False if the bytes are no such message. What was read is written to bytes that say the same.
    static func checkWriting<Message: WireMessage>(
        _ type: Message.Type, _ input: [UInt8]
    ) throws(Finding) -> Bool {
        guard let message = try? Message(reading: input) else { return false }
        let written = message.encoded
        try Finding.unless(written.count == message.size, "written as \(written.count) bytes, not \(message.size)")
        guard let again = try? Message(reading: written) else { throw Finding("read, but not written") }
        let twice = again.encoded
        // Bytes, not values: a number that is not one is not equal to itself.
        try Finding.unless(written == twice, "written as \(written), then as \(twice)")
        return true
    }

    static func translate(_ message: ClientMessage) throws {
        switch message.request {
        case nil: break
        case .hello(let hello):
            let greeting = try Greeting(hello)
            try Finding.unless(greeting.shownName.unicodeScalars.count <= 1_024, "a name to show of any length")
        case .modifyRecords(let request):
            _ = try DatabaseScope(request.database)
            try check(RecordsPart.parts(of: request, by: viewpoint, limits: limits))
        case .fetchRecords(let request):
            _ = try DatabaseScope(request.database)
            _ = try RecordsQuery(request, by: viewpoint, limits: limits)
        case .modifyZones(let request):
            _ = try DatabaseScope(request.database)
            _ = try ZonesRequest(request, by: viewpoint, limits: limits)
        case .fetchZones(let request):
            try checkZones(request)
        case .fetchZoneChanges(let request):
            try checkZoneChanges(request)
        case .fetchDatabaseChanges(let request):
            let query = DatabaseChangesQuery(request, by: viewpoint)
            _ = ChangeToken.position(
                inDatabaseFeedOf: viewpoint.database, from: query.token, store: viewpoint.store)
        case .modifySubscriptions(let request):
            try checkSubscriptions(request.saves)
        case .prepareAssetUpload(let request):
            try checkAsset(request.sha256, request.byteCount, request.zone)
        case .uploadAssetChunk(let request):
            try checkAsset(request.sha256, request.byteCount, request.zone)
        case .fetchAssetChunk(let request):
            try checkAsset(request.sha256, request.byteCount, request.zone)
        case .verifyZone(let request):
            _ = viewpoint.zoneKey(of: request.zone)
        case .joinPresence(let request):
            _ = try DatabaseScope(request.database)
            _ = viewpoint.zoneKey(of: request.zone)
        case .publishPresence, .leavePresence: break
        case .fetchKeys(let request):
            _ = request.zones.map(viewpoint.zoneKey(of:))
        case .saveAccountKey(let request):
            _ = try AccountKey(request.account).refusal
        case .saveZoneKey(let request):
            _ = WrappedZoneKey(request.key).refusal
        case .grantKeys(let request):
            _ = viewpoint.zoneKey(of: request.zone)
            _ = KeyGrant.place(request.after)
            for grant in request.grants { _ = KeyGrant(grant, for: UserID(1)).refusal }
        case .fetchShareMetadata(let request):
            try checkLinks(request.links)
        case .acceptShares(let request):
            try checkLinks(request.links)
        case .requestShareAccess(let request):
            try checkLinks(request.links)
        case .fetchShareParticipants(let request):
            try checkAddresses(request.lookups)
        case .fetchSubscriptions(let request):
            _ = SubscriptionsCursor.opened(request.cursor)
        case .queryRecords(let request):
            try checkQuery(request)
        }
    }

    private static func checkZones(_ request: WireFetchZones) throws {
        _ = try DatabaseScope(request.database)
        _ = try ZoneNames.read(request.zones, by: viewpoint, limits: limits)
        _ = ZonesCursor.opened(request.cursor, in: viewpoint.database)
    }

    private static func checkSubscriptions(_ saves: [WireSubscription]) throws {
        for save in saves {
            _ = try Subscription(save, scope: .private).refusal(within: limits)
        }
    }

    private static func checkZoneChanges(_ request: WireFetchZoneChanges) throws {
        _ = try DatabaseScope(request.database)
        let query = try ZoneChangesQuery(request, by: viewpoint)
        _ = ZonePageQuery.make(
            key: query.key ?? ZoneKey(database: viewpoint.database, name: ""), token: query.token,
            limit: query.limit, device: viewpoint.device, reader: nil, store: viewpoint.store, limits: limits)
    }

    private static func checkAsset(_ sha256: [UInt8], _ byteCount: UInt64, _ zone: WireZoneID) throws {
        _ = try AssetKey(sha256: sha256, byteCount: byteCount, for: zone, by: viewpoint)
    }

    private static func checkQuery(_ request: WireQueryRecords) throws {
        let search = try RecordsSearch(request, by: viewpoint, limits: limits)
        if search.query.refusal(fields: .unknown, scope: .private, limits: limits) != nil { return }
        try Finding.unless(search.query.size.refusal(within: limits) == nil, "a query of any size")
        _ = QueryEvaluator(search.query.predicate)
        _ = QueryCursor.opened(search.cursor, for: search.query, in: viewpoint.database, viewer: nil)
    }

    /// An address that was made normal is normal.
    private static func checkAddresses(_ lookups: [WireParticipantLookup]) throws {
        for lookup in lookups {
            guard case .address(let address?) = PersonLookup(lookup) else { continue }
            try Finding.unless(PersonAddress(normal: address.text) == address, "\(address) is read as another")
        }
    }

    /// A link says which secret it has, and a secret which link.
    private static func checkLinks(_ links: [String]) throws {
        for link in links {
            guard let secret = ShareLink.secret(in: link) else { continue }
            try Finding.unless(ShareLink.secret(in: ShareLink.text(of: secret)) == secret, "another link than \(link)")
        }
    }

    /// What the rules are given is within their limits, and they can judge it against an empty zone.
    private static func check(_ parts: [RecordsPart]) throws {
        for case .request(let request) in parts {
            try Finding.unless(request.saves.count + request.deletes.count <= limits.itemsMax, "too many items")
            let read = request.read(within: limits)
            let zone = ZoneState(id: ZoneID(11), key: read.key, createdAt: Timestamp(milliseconds: 0))
            let snapshot = ZoneSnapshot(
                key: read.key, zone: zone, lastRemoval: nil, records: [:], children: [:], memories: [:])
            let overlay = ZoneOverlay(snapshot: snapshot, store: viewpoint.store, limits: limits)
            guard case .success(let outcome) = overlay.apply(request, now: Timestamp(milliseconds: 1)) else { continue }
            try Finding.unless(
                outcome.saves.count == request.saves.count && outcome.deletes.count == request.deletes.count,
                "\(outcome) for \(request)")
            var answer = RecordsAnswer(viewpoint: viewpoint, limits: limits)
            answer.append(outcome)
            _ = try WireServerEnvelope(reading: answer.message(1))
        }
    }
}

private enum EnvelopeSeeds {
    static let clients: [[UInt8]] = [
        client { $0.hello = hello }, client { $0.modifyRecords = modifyRecords },
        client {
            $0.fetchRecords.database = .private
            $0.fetchRecords.zones = [names("notes", ["a", "b"])]
            $0.fetchRecords.desiredKeys.keys = ["title"]
        },
        client {
            $0.modifyZones.database = .private
            $0.modifyZones.stamp = stamp
            $0.modifyZones.saves = [zone("notes")]
            $0.modifyZones.deletes = [zone("lists")]
        },
        client {
            $0.uploadAssetChunk.database = .private
            $0.uploadAssetChunk.zone = zone("notes")
            $0.uploadAssetChunk.sha256 = [UInt8](repeating: 1, count: 32)
            $0.uploadAssetChunk.byteCount = 3
            $0.uploadAssetChunk.content = [1, 2, 3]
        },
        client {
            $0.verifyZone.database = .private
            $0.verifyZone.zone = zone("notes")
            $0.verifyZone.lists = true
            $0.verifyZone.after = "note 7"
        },
        client {
            $0.joinPresence.database = .shared
            $0.joinPresence.zone = zone("notes")
            $0.joinPresence.share = "share-1"
            $0.joinPresence.state = [1, 2, 3]
        },
        client {
            $0.publishPresence.topic = 7
            $0.publishPresence.setsState = true
            $0.publishPresence.state = [4]
            $0.publishPresence.sendsMessage = true
            $0.publishPresence.message = [5]
        },
        client { $0.leavePresence.topic = 7 },
        client {
            $0.fetchKeys.database = .private
            $0.fetchKeys.zones = [zone("notes")]
            $0.fetchKeys.inPages = true
            $0.fetchKeys.knowsLinks = true
        },
        client {
            $0.saveAccountKey.account.mode = .escrowed
            $0.saveAccountKey.account.id = [UInt8](repeating: 1, count: 16)
            $0.saveAccountKey.account.key = [UInt8](repeating: 2, count: 32)
        },
        client {
            $0.saveZoneKey.database = .private
            $0.saveZoneKey.zone = zone("notes")
            $0.saveZoneKey.key.id = [UInt8](repeating: 3, count: 16)
            $0.saveZoneKey.key.accountKeyID = [UInt8](repeating: 1, count: 16)
            $0.saveZoneKey.key.wrapped = [UInt8](repeating: 4, count: 60)
            $0.saveZoneKey.retiresOlder = true
        },
        client {
            var grant = WireKeyGrant()
            grant.user = "_" + String(repeating: "0", count: 32)
            grant.publicKey = [UInt8](repeating: 5, count: 32)
            grant.newestID = [UInt8](repeating: 3, count: 16)
            grant.keyCount = 1
            grant.sealed = [UInt8](repeating: 6, count: 96)
            $0.grantKeys.zone = zone("notes")
            $0.grantKeys.grants = [grant]
            $0.grantKeys.after = [UInt8](repeating: 0, count: 8)
        },
        client {
            $0.fetchShareMetadata.links = ["00112233445566778899aabbccddeeff", "no link"]
        },
        client {
            $0.acceptShares.links = ["00112233445566778899aabbccddeeff"]
            $0.acceptShares.declines = true
        },
        client {
            $0.requestShareAccess.links = ["00112233445566778899aabbccddeeff", ""]
        },
        client {
            var lookup = WireParticipantLookup()
            lookup.email = "Ann@example.org"
            $0.fetchShareParticipants.lookups = [lookup]
            (lookup.email, lookup.phone) = ("", "+354 555-0100")
            $0.fetchShareParticipants.lookups.append(lookup)
        },
        client {
            $0.fetchZones.database = .private
            $0.fetchZones.zones = [zone("notes")]
            $0.fetchZones.cursor = ZonesCursor(database: Envelopes.viewpoint.database, lastZone: ZoneID(11)).bytes
        },
        client {
            $0.fetchZoneChanges.database = .private
            $0.fetchZoneChanges.zone = zone("notes")
            $0.fetchZoneChanges.limit = 10
            $0.fetchZoneChanges.token = [UInt8](
                ChangeToken.zone(
                    ZoneKey(database: Envelopes.viewpoint.database, name: "notes"), viewer: nil,
                    store: Envelopes.viewpoint.store, position: .init(zone: ZoneID(11), number: 5)
                ).bytes)
        },
        client {
            $0.fetchDatabaseChanges.database = .private
            $0.fetchDatabaseChanges.token = [UInt8](
                ChangeToken.database(
                    store: Envelopes.viewpoint.store, viewer: Envelopes.viewpoint.database,
                    position: FeedPosition(number: 5)
                ).bytes)
            $0.fetchDatabaseChanges.then.zone.name = "Notes"
        },
        client {
            var subscription = WireSubscription()
            subscription.id = "all"
            subscription.kind = .database
            $0.modifySubscriptions.saves = [subscription]
            $0.modifySubscriptions.deletes = ["old"]
        },
        client {
            $0.fetchSubscriptions.database = .private
            $0.fetchSubscriptions.ids = ["all"]
            $0.fetchSubscriptions.cursor = SubscriptionsCursor(lastID: "all").bytes
            $0.fetchSubscriptions.inPages = true
        },
    ]

    static let servers: [[UInt8]] = [
        ServerMessage.failure(3, .requestTooLarge, detail: "too large"),
        ServerMessage.answer(4, .modifyZones(WireModifyZonesAnswer())),
        ServerMessage.push(WirePush()),
        ServerMessage.answer(5, .fetchZoneChanges(changes)),
    ]

    private static var changes: WireFetchZoneChangesAnswer {
        var answer = WireFetchZoneChangesAnswer()
        var change = WireZoneChange()
        change.record.name = "a"
        change.record.fields = [UInt8](FieldSeeds.all[1])
        answer.changes = [change]
        answer.token = [1, 2, 3]
        return answer
    }

    private static func client(_ fill: (inout WireClientEnvelope) -> Void) -> [UInt8] {
        var envelope = WireClientEnvelope()
        envelope.id = 3
        fill(&envelope)
        return envelope.encoded
    }

    private static var stamp: WireRequestStamp {
        var stamp = WireRequestStamp()
        stamp.counter = 5
        stamp.lowestUnanswered = 1
        stamp.repeated = true
        stamp.epoch = 7
        return stamp
    }

    private static func zone(_ name: String) -> WireZoneID {
        var zone = WireZoneID()
        zone.name = name
        return zone
    }

    private static func names(_ zoneName: String, _ names: [String]) -> WireZoneRecordNames {
        var named = WireZoneRecordNames()
        named.zone = zone(zoneName)
        named.names = names
        return named
    }

    private static var hello: WireHello {
        var hello = WireHello()
        hello.container = "iCloud.dev.tidemark"
        hello.environment = .development
        hello.credential = "secret"
        hello.device = Envelopes.viewpoint.device.bytes
        hello.clientName = "foldersync/1.0"
        hello.deviceName = "laptop"
        return hello
    }

    private static var modifyRecords: WireModifyRecords {
        var save = WireRecordSave()
        save.name = "a"
        save.type = "Note"
        save.fields = [UInt8](FieldSeeds.all[1])
        save.tag = [UInt8](ChangeTag.version(store: Envelopes.viewpoint.store, zone: ZoneID(11), number: 5).bytes)
        var child = WireRecordSave()
        child.name = "b"
        child.type = "Note"
        child.parentChange = .parentSet
        child.parent = "a"
        var part = WireZoneModifications()
        part.zone = zone("notes")
        part.saves = [save, child]
        part.deletes = ["c"]
        var request = WireModifyRecords()
        request.database = .private
        request.stamp = stamp
        request.atomic = true
        request.zones = [part]
        return request
    }
}
