// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Testing
import TidemarkDomain
import TidemarkFields

/// The apps of the articles that drive an engine themselves, without a replica: each edit is a record of its own, and each is on
/// the server in the end, whatever network, server, accounts and processes do, also on copied devices. Nothing is pending
/// then. The app with a replica is in ``NotesFaultTests``.
@Suite struct EngineAppFaultTests {
    private func live<App: EngineApp>(_: App.Type) async {
        await ArticleHistories.run(count: 3) { try await EngineAppWorld<App>(seed: $0).run(editCount: 24) }
    }

    @Test func `R-501, R-518, R-563: the app of the article on the journal loses no reading`() async {
        await live(Thermometer.self)
    }

    @Test func `R-501, R-518: the app of the article on conflicts loses no note, and its devices end equal`() async {
        await live(CarefulNotes.self)
    }
}

extension Thermometer: EngineApp {
    static var zoneID: CKRecordZone.ID { CKRecordZone.ID(zoneName: "Readings") }
    static var isOfUser: Bool { false }
    static func number(of record: CKRecord) -> Int? { (record["celsius"] as Double?).map { Int($0) } }

    static func number(of record: RecordState) -> Int? {
        guard case .double(let celsius)? = try? record.fields["celsius"]?.value() else { return nil }
        return Int(celsius)
    }

    static func make(in directory: URL) throws -> Thermometer { try Thermometer(directory: directory) }
    func edit(_ number: Int) throws { try measured(Double(number)) }
    var numbers: Set<Int> { Set(readings.values.map { Int($0.celsius) }) }
    var user: String? { nil }
}

extension CarefulNotes: EngineApp {
    static var zoneID: CKRecordZone.ID { zone.zoneID }
    static var isOfUser: Bool { true }
    static func number(of record: CKRecord) -> Int? { (record["text"] as String?).flatMap { Int($0) } }

    static func number(of record: RecordState) -> Int? {
        guard case .string(let text)? = try? record.fields["text"]?.value() else { return nil }
        return Int(text)
    }

    static func make(in directory: URL) throws -> CarefulNotes { try CarefulNotes(directory: directory) }
    func edit(_ number: Int) { write("\(number)", to: "note \(number)") }
    var numbers: Set<Int> { Set(texts.values.compactMap { Int($0) }) }
}
