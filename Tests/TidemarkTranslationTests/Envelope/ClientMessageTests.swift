// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkTranslation
import TidemarkWire

@Suite struct ClientMessageTests {
    private static func envelope(_ request: WireClientEnvelope.OneOfRequest?, id: UInt64 = 3) -> [UInt8] {
        var envelope = WireClientEnvelope()
        envelope.id = id
        envelope.request = request
        return envelope.encoded
    }

    /// Everything that is done to a message before the rules see it.
    private func translate(_ bytes: [UInt8]) -> Bool {
        guard let message = try? ClientMessage(bytes), let request = message.request else { return false }
        let viewpoint = Examples.viewpoint
        do {
            switch request {
            case .hello(let hello): _ = try Greeting(hello)
            case .modifyRecords(let request):
                _ = try RecordsPart.parts(of: request, by: viewpoint, limits: Examples.limits)
            case .fetchRecords(let request): _ = try RecordsQuery(request, by: viewpoint, limits: Examples.limits)
            case .modifyZones(let request): _ = try ZonesRequest(request, by: viewpoint, limits: Examples.limits)
            case .fetchZones(let request): _ = try ZoneNames.read(request.zones, by: viewpoint, limits: Examples.limits)
            case .fetchZoneChanges(let request): _ = try ZoneChangesQuery(request, by: viewpoint)
            case .fetchDatabaseChanges(let request): _ = DatabaseChangesQuery(request, by: viewpoint)
            case .modifySubscriptions(let request):
                for save in request.saves { _ = try Subscription(save, scope: .private) }
            case .queryRecords(let request): _ = try RecordsSearch(request, by: viewpoint, limits: Examples.limits)
            case .prepareAssetUpload(let request):
                _ = try AssetKey(
                    sha256: request.sha256, byteCount: request.byteCount, for: request.zone, by: viewpoint)
            case .saveAccountKey(let request): _ = try AccountKey(request.account)
            case .fetchShareParticipants(let request): _ = request.lookups.map { PersonLookup($0) }
            case .fetchShareMetadata, .acceptShares, .requestShareAccess: break
            case .grantKeys(let request): for grant in request.grants { _ = KeyGrant(grant, for: UserID(1)) }
            case .joinPresence, .publishPresence, .leavePresence: break
            case .uploadAssetChunk, .fetchAssetChunk, .fetchSubscriptions, .fetchKeys, .saveZoneKey, .verifyZone: break
            }
            return true
        } catch {
            return false
        }
    }

    @Test func `a whole message is read`() throws {
        let message = try ClientMessage(Self.envelope(.modifyRecords(Examples.modifyRecords)))
        #expect(message.id == 3)
        #expect(message.request == .modifyRecords(Examples.modifyRecords))
        #expect(translate(Self.envelope(.hello(Examples.hello))))
    }

    @Test func `id 0 and bytes that are no envelope are refused`() {
        #expect(throws: Refusal.self) { try ClientMessage(Self.envelope(.hello(Examples.hello), id: 0)) }
        #expect(throws: Refusal.self) { try ClientMessage([0xFF, 0xFF]) }
        #expect(throws: Refusal.self) { try ClientMessage([]) }
    }

    @Test func `an unknown request keeps its id, unknown fields are ignored`() throws {
        // Field 99, four bytes, after the id.
        let unknown = Self.envelope(nil) + [0x9A, 0x06, 4, 1, 2, 3, 4]
        let message = try ClientMessage(unknown)
        #expect(message.id == 3)
        #expect(message.request == nil)
        let known = Self.envelope(.hello(Examples.hello)) + [0x9A, 0x06, 4, 1, 2, 3, 4]
        #expect(try ClientMessage(known).request != nil)
    }

    @Test func `a request with more parts than the protocol allows is refused, and the session goes on`() throws {
        var request = WireFetchRecords()
        request.zones = [WireZoneRecordNames()]
        request.zones[0].names = Array(repeating: "", count: 4_096)
        #expect(try ClientMessage(Self.envelope(.fetchRecords(request))).request == .fetchRecords(request))
        request.zones[0].names.append("")
        let message = try ClientMessage(Self.envelope(.fetchRecords(request)))
        #expect(message.id == 3 && message.request == nil)
        #expect(message.refusal?.code == .tooManyItems)
        // Nothing can be answered.
        #expect(throws: Refusal.self) { try ClientMessage(Self.envelope(.fetchRecords(request), id: 0)) }
    }

    /// A query that is too large, by the bound of its message or by the rule.
    private func query(_ change: (inout WireQuery) -> Void) throws -> ClientMessage {
        var request = WireQueryRecords()
        change(&request.query)
        return try ClientMessage(Self.envelope(.queryRecords(request)))
    }

    @Test func `R-720: what is a little over a rule is read and told by the rule, what is far over it is not read`()
        throws
    {
        let limits = Limits()
        for (rule, far) in [(limits.sortsMax, 20), (limits.predicateNodesMax, 2_000), (limits.keyZonesMax, 104)] {
            #expect(rule < far)
        }
        #expect(limits.predicateDepthMax < 40 && limits.itemsMax < 4_096 && limits.participantsMax < 256)
        let value = WireQueryValue()
        for (count, isRead) in [(limits.predicateNodesMax + 1, true), (2_001, false)] {
            let message = try query { $0.predicate.isIn.values = Array(repeating: value, count: count) }
            #expect((message.request != nil) == isRead, "\(count)")
        }
        for (count, isRead) in [(limits.sortsMax + 1, true), (21, false)] {
            let message = try query { $0.sorts = Array(repeating: WireSort(), count: count) }
            #expect((message.request != nil) == isRead, "\(count)")
        }
        for (count, isRead) in [(limits.keyZonesMax + 1, true), (105, false)] {
            var request = WireFetchKeys()
            request.zones = Array(repeating: WireZoneID(), count: count)
            let message = try ClientMessage(Self.envelope(.fetchKeys(request)))
            #expect((message.request != nil) == isRead, "\(count)")
        }
    }

    @Test func `R-403: a message has the operation group of its request`() throws {
        var envelope = WireClientEnvelope()
        envelope.id = 3
        envelope.modifyRecords = Examples.modifyRecords
        #expect(try ClientMessage(envelope.encoded).operationGroup == nil)
        envelope.operationGroup.id = "group"
        envelope.operationGroup.name = "tap"
        #expect(try ClientMessage(envelope.encoded).operationGroup == envelope.operationGroup)
    }

    @Test(arguments: [0, 1, 5_000, 262_144])
    func `the bytes of an asset are a part of the message, and are read to where they are sent from`(
        _ count: Int
    ) throws {
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        var chunk = WireUploadAssetChunk()
        chunk.offset = 77
        chunk.content = content[...]
        guard case .uploadAssetChunk(let read)? = try ClientMessage(Self.envelope(.uploadAssetChunk(chunk))).request
        else { throw Refusal(.requestInvalid) }
        #expect(read == chunk)

        let answer = try WireServerEnvelope(reading: ServerMessage.assetChunkHead(300, byteCount: count) + content)
        #expect(answer.id == 300)
        #expect(Array(answer.fetchAssetChunk.content) == content)
    }

    @Test func `I-6: messages cut at every byte and with every bit wrong do no harm`() {
        for whole in [Self.envelope(.modifyRecords(Examples.modifyRecords)), Self.envelope(.hello(Examples.hello))] {
            #expect(translate(whole))
            for count in 0..<whole.count { _ = translate(Array(whole[..<count])) }
            for position in whole.indices {
                for bit in 0..<8 {
                    var wrong = whole
                    wrong[position] ^= 1 << UInt8(bit)
                    _ = translate(wrong)
                }
            }
        }
    }
}
