// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkKit
import TidemarkTestSupport

/// An account that behaves: it saves, fetches, queries, uploads and signs in, one after the other.
struct Neighbour {
    /// What it met.
    struct Figures: CustomStringConvertible {
        var times: [Duration] = []
        var refusals: [String] = []

        /// All but one of a hundred were faster.
        var p99: Duration { times.sorted()[(times.count - 1) * 99 / 100] }

        var description: String {
            let worst = Double(p99.components.attoseconds) / 1e15 + Double(p99.components.seconds) * 1_000
            return "\(times.count) requests, p99 \(String(format: "%.1f", worst)) ms, \(refusals.count) refused"
        }
    }

    private static let zoneID = CKRecordZone.ID(zoneName: "Neighbour")

    private let database: CKDatabase
    /// A device that has never been here, for each call.
    private let newcomer: () -> CKDatabase
    private let file: URL

    /// - Parameter directory: for the file that it uploads.
    init(_ place: OperatorPlace, token: String) async throws {
        database = place.database(token: token)
        newcomer = { place.database(token: token) }
        file = URL(fileURLWithPath: "\(place.directory.path)/neighbour")
        try await database.save(CKRecordZone(zoneID: Self.zoneID))
    }

    /// Lives on for so long.
    func live(for duration: Duration) async throws -> Figures {
        var figures = Figures()
        let clock = ContinuousClock()
        let end = clock.now + duration
        repeat {
            let round = Int.random(in: 0..<Int(Int32.max))
            for step in [save, fetch, query, upload, signIn] {
                let began = clock.now
                do {
                    try await step(round)
                } catch {
                    figures.refusals.append("\(error)")
                }
                figures.times.append(clock.now - began)
            }
        } while clock.now < end
        return figures
    }

    private func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: Self.zoneID) }

    private func save(_ round: Int) async throws {
        let record = CKRecord(recordType: "Letter", recordID: id("letter \(round)"))
        record["number"] = round
        try await database.save(record)
    }

    private func fetch(_ round: Int) async throws {
        _ = try await database.record(for: id("letter \(round)"))
    }

    private func query(_ round: Int) async throws {
        let query = CKQuery(recordType: "Letter", predicate: NSPredicate(format: "number == %d", round))
        let found = try await database.records(matching: query, inZoneWith: Self.zoneID)
        guard found.matchResults.count == 1 else { throw NeverHappened(description: "letter \(round) is not found") }
    }

    private func upload(_ round: Int) async throws {
        var bytes = Data(repeating: 7, count: 60_000)
        bytes.append(contentsOf: "\(round)".utf8)
        try bytes.write(to: file)
        let record = CKRecord(recordType: "Picture", recordID: id("picture \(round % 10)"))
        record["file"] = CKAsset(fileURL: file)
        _ = try await database.modifyRecords(saving: [record], deleting: [], savePolicy: .allKeys)
    }

    private func signIn(_ round: Int) async throws {
        _ = try await newcomer().recordZone(for: Self.zoneID)
    }
}
