// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

@Suite struct CKSyncEngineSerializationTests {
    private var full: SyncEngineSnapshot {
        var snapshot = SyncEngineSnapshot(deviceIdentity: Array(200..<216))
        snapshot.user = user("alice")
        snapshot.subscriptionID = "subscription"
        snapshot.databaseToken = CKServerChangeToken(bytes: [0, 255, 7])
        let shared = CKRecordZone.ID(zoneName: "A", ownerName: "_bob")
        snapshot.zoneTokens = [zone("A"): .of("z1.1"), shared: .of("z2.2")]
        snapshot.unfetchedZones = KeyedList([shared, zone("B")])
        snapshot.pendingRecords = KeyedList([
            change("A/1"), .deleteRecord(CKRecord.ID(recordName: "a:b \"ü", zoneID: shared)), change("C/s0:x"),
        ])
        snapshot.inFlightRecords = [change("-A/9"), change("A/1")]
        let encrypted = CKRecordZone(zoneName: "E")
        encrypted.encryptionScope = .perZone
        snapshot.pendingZones = KeyedList([zoneChange("D"), .saveZone(encrypted), zoneChange("-F")])
        snapshot.inFlightZones = [zoneChange("G")]
        snapshot.resyncZones = [zone("A"), shared]
        snapshot.resyncsZoneList = true
        snapshot.hasUntrackedChanges = true
        snapshot.journalID = "0011223344556677"
        return snapshot
    }

    private func expectEqual(_ left: SyncEngineSnapshot, _ right: SyncEngineSnapshot, _ name: String) {
        #expect(left.deviceIdentity == right.deviceIdentity, "\(name)")
        #expect(left.user == right.user && left.subscriptionID == right.subscriptionID, "\(name)")
        #expect(left.databaseToken == right.databaseToken && left.zoneTokens == right.zoneTokens, "\(name)")
        #expect(left.unfetchedZones == right.unfetchedZones, "\(name)")
        #expect(left.resyncZones == right.resyncZones && left.resyncsZoneList == right.resyncsZoneList, "\(name)")
        #expect(left.pendingRecords == right.pendingRecords, "\(name)")
        #expect(left.inFlightRecords == right.inFlightRecords, "\(name)")
        #expect(left.pendingZones == right.pendingZones && left.inFlightZones == right.inFlightZones, "\(name)")
        #expect(left.hasUntrackedChanges == right.hasUntrackedChanges, "\(name)")
        #expect(left.journalID == right.journalID, "\(name)")
        let scopes = [left, right].map { snapshot in
            snapshot.pendingZones.elements.map { $0.zoneToSave?.encryptionScope }
        }
        #expect(scopes[0] == scopes[1], "\(name)")
    }

    @Test func `R-524: the state survives JSON and property lists`() throws {
        for snapshot in [full, SyncEngineSnapshot(deviceIdentity: Array(0..<16))] {
            let state = CKSyncEngine.State.Serialization(snapshot: snapshot)
            let json = try JSONEncoder().encode(state)
            let fromJSON = try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: json)
            expectEqual(fromJSON.snapshot, snapshot, "JSON")
            for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
                let encoder = PropertyListEncoder()
                encoder.outputFormat = format
                let data = try encoder.encode(state)
                let decoded = try PropertyListDecoder().decode(CKSyncEngine.State.Serialization.self, from: data)
                expectEqual(decoded.snapshot, snapshot, "\(format)")
            }
        }
    }

    @Test func `R-524: a state is stored within an app's own data`() throws {
        struct AppData: Codable {
            var name: String
            var state: CKSyncEngine.State.Serialization?
        }
        let data = AppData(name: "x", state: .init(snapshot: full))
        let decoded = try JSONDecoder().decode(AppData.self, from: JSONEncoder().encode(data))
        expectEqual(try #require(decoded.state).snapshot, full, "nested")
    }

    /// A state that was written once and for all: a later version that cannot read it would strand every app's state.
    private static let recorded = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Fixtures/SyncEngineState-1.json").standardizedFileURL

    @Test func `R-524: the recorded state is read, and written as it was`() throws {
        let data = try Data(contentsOf: Self.recorded)
        let state = try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: data)
        expectEqual(state.snapshot, full, "recorded")
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let written = String(decoding: try encoder.encode(state), as: UTF8.self)
        #expect(written + "\n" == String(decoding: data, as: UTF8.self))
    }

    @Test func `R-524: version 1 is read as it was first written`() throws {
        let json = """
            {"version": 1, "device": "000102030405060708090a0b0c0d0e0f", "user": "_alice", "subscription": "s",
             "databaseToken": "AAEC", "zones": [{"name": "A"}, {"name": "B", "owner": "_bob"}],
             "zoneTokens": [{"zone": 1, "token": "Aw=="}], "unfetchedZones": [1, 0],
             "pendingRecords": ["s0:1", "d1:2"], "inFlightRecords": ["s1:3"],
             "pendingZones": ["s0", "d1"], "inFlightZones": ["s0:1"], "untrackedChanges": false}
            """
        let state = try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: Data(json.utf8)).snapshot
        let shared = CKRecordZone.ID(zoneName: "B", ownerName: "_bob")
        #expect(state.deviceIdentity == Array(0..<16))
        #expect(state.user == user("alice") && state.subscriptionID == "s" && !state.hasUntrackedChanges)
        #expect(state.databaseToken?.bytes == [0, 1, 2])
        #expect(state.zoneTokens == [shared: CKServerChangeToken(bytes: [3])])
        #expect(state.unfetchedZones.elements == [shared, zone("A")])
        #expect(
            state.pendingRecords.elements == [
                change("A/1"), .deleteRecord(CKRecord.ID(recordName: "2", zoneID: shared)),
            ])
        #expect(state.inFlightRecords == [.saveRecord(CKRecord.ID(recordName: "3", zoneID: shared))])
        #expect(state.pendingZones.elements == [zoneChange("A"), .deleteZone(shared)])
        #expect(state.inFlightZones.first?.zoneToSave?.encryptionScope == .perZone)
    }

    @Test(
        arguments: [
            #"{}"#, #"[]"#, #"{"version": 2}"#, #"{"version": "1"}"#,
            #"{"version": 1, "device": "00", "X"}"#, #"{"version": 1, "device": "00"}"#,
        ])
    func `R-525: what is no state throws`(json: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: Data(json.utf8))
        }
    }

    @Test(
        arguments: [
            (#""device":"c8c9cacbcccdcecfd0d1d2d3d4d5d6d7""#, #""device":"c8c9""#),
            (#""s0:1""#, #""s9:1""#), (#""s0:1""#, #""s-1:1""#), (#""s0:1""#, #""x0:1""#), (#""s0:1""#, #""s0:""#),
            (#""s0:1""#, #""s""#), (#""s0:1""#, #""""#), (#""unfetchedZones":[0,"#, #""unfetchedZones":[77,"#),
        ])
    func `R-525: a damaged state throws`(part: String, damage: String) throws {
        var snapshot = full
        snapshot.unfetchedZones = KeyedList([zone("A"), zone("B")])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = String(
            decoding: try encoder.encode(CKSyncEngine.State.Serialization(snapshot: snapshot)), as: UTF8.self)
        let damaged = json.replacing(part, with: damage)
        #expect(damaged != json)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: Data(damaged.utf8))
        }
    }
}
