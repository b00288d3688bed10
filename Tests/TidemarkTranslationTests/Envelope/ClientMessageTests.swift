// SPDX-License-Identifier: Apache-2.0

import SwiftProtobuf
import Testing
import TidemarkDomain
import TidemarkTranslation
import TidemarkWire

@Suite struct ClientMessageTests {
    private static func envelope(_ request: WireClientEnvelope.OneOf_Request?, id: UInt64 = 3) -> [UInt8] {
        var envelope = WireClientEnvelope()
        envelope.id = id
        envelope.request = request
        do { return try envelope.serializedBytes() } catch { return [] }
    }

    /// Everything that is done to a message before the rules see it.
    private func translate(_ bytes: [UInt8]) -> Bool {
        guard let message = try? ClientMessage(bytes), let request = message.request else { return false }
        let viewpoint = Examples.viewpoint
        do {
            switch request {
            case .hello(let hello): _ = try Greeting(hello)
            case .modifyRecords:
                guard let modifications = message.modifications else { return false }
                _ = try RecordsPart.parts(of: modifications, by: viewpoint, limits: Examples.limits)
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
            case .uploadAssetChunk, .fetchAssetChunk, .fetchSubscriptions, .fetchKeys, .saveZoneKey: break
            }
            return true
        } catch {
            return false
        }
    }

    @Test func `a whole message is read`() throws {
        let message = try ClientMessage(Self.envelope(.modifyRecords(Examples.modifyRecords)))
        #expect(message.id == 3)
        #expect(message.request == .modifyRecords(WireModifyRecords()))
        #expect(message.modifications == RecordModifications(Examples.modifyRecords))
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
