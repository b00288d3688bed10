// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestKit
import TidemarkTestSupport

/// The apps of the articles that drive an engine themselves, without a replica: each edit is a record of its own, and each is on
/// the server in the end, whatever network, server and accounts do. The app with a replica is in ``NotesFaultTests``.
@Suite struct EngineAppFaultTests {
    enum Fault: CaseIterable { case offline, lostAnswer, cut, serverRestart, switchOfAccounts }

    private static let editCount = 30
    private let cloud = TestCloud()

    /// - Parameter isUnsentKept: whether the app keeps what is unsent when the account changes.
    private func live(_ app: some RecordingApp, seed: UInt64, isUnsentKept: Bool) async throws {
        var random = SimulationRandom(seed: seed)
        let device = cloud.account("alice").device("device")
        try await app.begin(in: device.container.privateCloudDatabase)
        try await cloud.settle()
        for number in 0..<Self.editCount {
            try await app.edit(number)
            let fault = Fault.allCases[random.below(Fault.allCases.count)]
            if fault == .switchOfAccounts, !isUnsentKept {
                device.goOnline()
                try await awaitEdits(of: app, 0...number)
            }
            suffer(fault, device, &random)
            // What the user writes before such an app has heard of the change goes with it, too.
            if (fault == .switchOfAccounts && !isUnsentKept) || random.oneIn(2) { try await cloud.settle() }
            if random.oneIn(4) { try await cloud.clock.advance(by: .seconds(random.below(90))) }
        }
        device.goOnline()
        try await awaitEdits(of: app, 0...(Self.editCount - 1))
    }

    private func suffer(_ fault: Fault, _ device: TestDevice, _ random: inout SimulationRandom) {
        switch fault {
        case .offline: if device.isOnline { device.goOffline() } else { device.goOnline() }
        case .lostAnswer: device.loseNextAnswer()
        case .cut: device.cutConnections()
        case .serverRestart: cloud.restartServer()
        case .switchOfAccounts: device.signIn(cloud.account(random.oneIn(2) ? "alice" : "bob"))
        }
    }

    private func awaitEdits<App: RecordingApp>(of app: App, _ numbers: ClosedRange<Int>) async throws {
        var missing = Set(numbers)
        do {
            try await cloud.run(within: .seconds(7_200)) {
                missing = try await Set(numbers).subtracting(stored(App.self))
                return missing.isEmpty
            }
            try await cloud.settle()
        } catch {
            Issue.record("\(error): \(missing.sorted()) are not on the server")
        }
    }

    /// The numbers that one of the accounts has.
    private func stored<App: RecordingApp>(_: App.Type) async throws -> [Int] {
        var numbers: [Int] = []
        for name in ["alice", "bob"] {
            let database = cloud.account(name).database
            do {
                let page = try await database.recordZoneChanges(inZoneWith: App.zoneID, since: nil)
                #expect(!page.moreComing)
                numbers += try page.modificationResultsByID.values.compactMap { App.number(of: try $0.get().record) }
            } catch CKError.zoneNotFound {}
        }
        return numbers
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `R-518, R-563: the app of the article on the journal loses no reading`(seed: UInt64) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let app = try Thermometer(directory: URL(fileURLWithPath: directory.path))
        try await live(app, seed: seed, isUnsentKept: true)
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `R-518: the app of the article on conflicts loses no note`(seed: UInt64) async throws {
        try await live(CarefulNotes(), seed: seed, isUnsentKept: false)
    }
}

/// An app of which each edit is a new record.
private protocol RecordingApp: Actor {
    static var zoneID: CKRecordZone.ID { get }
    static func number(of record: CKRecord) -> Int?
    func begin(in database: CKDatabase) throws
    func edit(_ number: Int) throws
}

extension Thermometer: RecordingApp {
    static var zoneID: CKRecordZone.ID { CKRecordZone.ID(zoneName: "Readings") }
    static func number(of record: CKRecord) -> Int? { (record["celsius"] as Double?).map { Int($0) } }
    func begin(in database: CKDatabase) throws { try start(in: database) }
    func edit(_ number: Int) throws { try measured(Double(number)) }
}

extension CarefulNotes: RecordingApp {
    static var zoneID: CKRecordZone.ID { zone.zoneID }
    static func number(of record: CKRecord) -> Int? { (record["text"] as String?).flatMap { Int($0) } }
    func begin(in database: CKDatabase) { start(in: database) }
    func edit(_ number: Int) { write("\(number)", to: "note \(number)") }
}
