// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import TidemarkKit

/// The program JournalHost is killed again and again, and goes on with what it left.
@Suite(.timeLimit(.minutes(10))) struct SyncEngineJournalKillTests {
    private static let lives = 12

    @Test func `R-603: kill -9 at any moment loses no pending change, and brings none back that was removed`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        var random = SeededRandom()
        for life in 0..<Self.lives {
            let moment = Duration.microseconds(Int64.random(in: 0...120_000, using: &random))
            try await live(directory.path, life, for: moment, seed: random.next()) {
                self.log(directory.path).contains("added r\(life)-")
            }
            let ledger = Ledger(log(directory.path))
            let pending = try pendingNow(directory.path)
            let lost = ledger.owed.subtracting(pending)
            let back = pending.intersection(ledger.removed)
            #expect(lost == [], "seed \(random.seed), life \(life)")
            #expect(back == [], "seed \(random.seed), life \(life)")
            if !lost.isEmpty || !back.isEmpty { return }
        }
        // Else nothing was shown.
        let ledger = Ledger(log(directory.path))
        #expect(ledger.additions > 100 && ledger.tellings > 20 && !ledger.removed.isEmpty)
    }

    @Test func `R-614: what fails beside all events is in the log`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let errors = "\(directory.path)/errors"
        try await live(directory.path, 0, for: .zero, seed: 1, errors: errors) {
            try String(contentsOfFile: errors, encoding: .utf8).contains("request refused")
        }
        let log = try String(contentsOfFile: errors, encoding: .utf8)
        let line = try #require(log.split(separator: "\n").first { $0.contains("request refused") })
        #expect(line.contains("tidemark.sync-engine") && line.contains("warning"))
        #expect(line.contains("request=ensureSubscription") && line.contains("code=permissionFailure"))
    }

    /// Runs the program until it has done something, and for a moment more; then kills it.
    private func live(
        _ directory: String, _ life: Int, for moment: Duration, seed: UInt64, errors: String = "/dev/null",
        until hasBegun: () throws -> Bool
    ) async throws {
        let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: bundle).deletingLastPathComponent()
            .appendingPathComponent("JournalHost")
        process.arguments = [directory, "\(seed)", "r\(life)"]
        let input = Pipe()
        process.standardInput = input
        if !FileManager.default.fileExists(atPath: errors) {
            _ = FileManager.default.createFile(atPath: errors, contents: nil)
        }
        process.standardError = FileHandle(forWritingAtPath: errors)
        try process.start()
        let deadline = ContinuousClock.now + .seconds(30)
        while !(try hasBegun()), process.isRunning, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(2))
        }
        try await Task.sleep(for: moment)
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try input.fileHandleForWriting.close()
        #expect(process.terminationReason == .uncaughtSignal, "seed \(seed): it ended by itself")
    }

    private func log(_ directory: String) -> String {
        FileManager.default.contents(atPath: "\(directory)/log").map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// What an engine has to send that starts with what was left.
    private func pendingNow(_ directory: String) throws -> Set<String> {
        let stored = FileManager.default.contents(atPath: "\(directory)/state.json")
        let state = try stored.map { try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: $0) }
        let scheduler = ManualScheduler()
        var configuration = CKSyncEngine.Configuration.on(
            FakeCloud(FakeServer(), scheduler), RecordingDelegate(), state: state)
        configuration.journalFile = URL(fileURLWithPath: "\(directory)/journal")
        let engine = CKSyncEngine(configuration)
        #expect(engine.journalError == nil)
        return Set(engine.state.pendingRecordZoneChanges.map(\.recordID.recordName))
    }
}

/// What the program was promised and told.
private struct Ledger {
    /// Added more often than told of.
    private(set) var owed: Set<String> = []
    /// Not pending any more, and never sent.
    private(set) var removed: Set<String> = []
    private(set) var additions = 0
    private(set) var tellings = 0

    init(_ log: String) {
        var balance: [String: Int] = [:]
        // The last line may lack its end.
        for line in log.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let words = line.split(separator: " ")
            guard words.count == 2 else { continue }
            let name = String(words[1])
            switch words[0] {
            case "added":
                additions += 1
                balance[name, default: 0] += 1
            case "told":
                tellings += 1
                balance[name, default: 0] -= 1
            // Perhaps it is under way already, perhaps the process ends before it is removed.
            case "removing": uncertain.insert(name)
            case "removed": removed.insert(name)
            // A batch was being made, from a list that was read before.
            case "taken": taken.insert(name)
            default: break
            }
        }
        removed.subtract(taken)
        owed = Set(balance.filter { $0.value > 0 }.map(\.key)).subtracting(uncertain)
    }

    private var uncertain: Set<String> = []
    private var taken: Set<String> = []
}
