// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService
import TidemarkStore
import TidemarkTelemetry
import TidemarkTestSupport

@Suite struct AdminStoreAuditTests {
    private static let device = DeviceID(high: 1, low: 2)
    private static let hash: [UInt8] = [7, 7, 7]

    /// A store with the account alice, who has a credential.
    private func run(_ body: (PostgresStorage, AdminStore, AccountID) async throws -> Void) async throws {
        try await StoreFixture.run { fixture in
            let storage = try fixture.storage()
            let admin = AdminStore(storage)
            let alice = try #require(try await admin.createAccount("alice"))
            _ = try await admin.issueCredential(hash: Self.hash, label: "", expiresAt: nil, for: alice)
            try await body(storage, admin, alice)
            await storage.stop()
        }
    }

    /// Minutes after some full hour.
    private func time(_ minutes: Int64) -> Timestamp {
        Timestamp(milliseconds: 500_000 * 3_600_000 + minutes * 60_000)
    }

    private func all(_ admin: AdminStore, _ filter: AuditFilter = AuditFilter()) async throws -> [AuditEntry] {
        var (entries, before): ([AuditEntry], Int64?) = ([], nil)
        repeat {
            let page = try await admin.audit(filter, before: before, countMax: 100)
            entries += page.entries
            before = page.next
        } while before != nil
        return entries
    }

    @Test func `R-860: an action is written before it is carried out, and then what became of it`() async throws {
        try await run { _, admin, _ in
            let action = AuditAction(who: "root", address: "10.0.0.1", action: "zones delete", target: "alice Notes\0")
            let id = try await admin.beginAudit(action)
            let begun = try #require(try await all(admin).first)
            #expect(begun.result == .begun && begun.kind == .action && begun.who == "root")
            #expect(begun.action == "zones delete" && begun.target == "alice Notes" && begun.address == "10.0.0.1")
            try await admin.endAudit(id, failure: nil)
            let other = try await admin.beginAudit(action)
            try await admin.endAudit(other, failure: "no such zone")
            let ended = try await all(admin)
            #expect(ended.map(\.result) == [.refused, .done])
            #expect(ended.map(\.detail) == ["no such zone", ""])
            var failures = AuditFilter()
            failures.failuresOnly = true
            #expect(try await all(admin, failures).map(\.id) == [other])
            let older = try await admin.audit(AuditFilter(), before: other, countMax: 5)
            #expect(older.entries.map(\.id) == [id] && older.next == nil)
            let one = try await admin.audit(AuditFilter(), before: nil, countMax: 1)
            #expect(one.entries.map(\.id) == [other] && one.next == other)
            var kind = AuditFilter()
            kind.kind = .signIn
            #expect(try await all(admin, kind).isEmpty)
            kind.kind = .action
            #expect(try await all(admin, kind).map(\.id) == [other, id])
        }
    }

    @Test func `R-860: a text of an action is cut at a bound, between two characters`() {
        let action = AuditAction(who: "é" + String(repeating: "ü", count: 600), action: "", target: "")
        #expect(action.who.utf8.count == 1_024)
        #expect(action.who.hasPrefix("éü"))
    }

    @Test func `R-860: of one device and hour one sign-in is kept`() async throws {
        try await run { storage, admin, alice in
            for minute: Int64 in [0, 1, 59, 60] {
                let mayEnter = try await storage.noteDevice(
                    Self.device, of: alice, name: "phone", from: "10.0.0.2", atMost: 9, now: time(minute))
                #expect(mayEnter)
            }
            let entries = try await all(admin)
            #expect(entries.map(\.at) == [time(60), time(0)])
            #expect(entries.allSatisfy { $0.kind == .signIn && $0.result == .done && $0.who == "alice" })
            #expect(entries.allSatisfy { $0.device == Self.device && $0.address == "10.0.0.2" && $0.detail.isEmpty })
            var actions = AuditFilter()
            actions.kind = .action
            #expect(try await all(admin, actions).isEmpty)
            var late = AuditFilter()
            late.since = time(1)
            #expect(try await all(admin, late).map(\.at) == [time(60)])
            late.since = time(61)
            #expect(try await all(admin, late).isEmpty)
        }
    }

    /// A device that never was here each time.
    @Test func `R-860: of one account and hour as many sign-ins are kept as it may have devices`() async throws {
        try await run { storage, admin, alice in
            func enter(_ number: UInt64, _ minute: Int64) async throws {
                let device = DeviceID(high: 77, low: number)
                let mayEnter = try await storage.noteDevice(
                    device, of: alice, name: "", from: "", atMost: 5, now: time(minute))
                #expect(mayEnter)
            }
            // Those that come again take no room.
            for _ in 0..<3 { for number: UInt64 in 0..<4 { try await enter(number, 1) } }
            #expect(try await all(admin).count == 4)
            for number: UInt64 in 10..<40 { try await enter(number, 2) }
            #expect(try await all(admin).count == 5)
            // The next hour.
            for number: UInt64 in 10..<12 { try await enter(number, 61) }
            #expect(try await all(admin).count == 7)
        }
    }

    @Test func `R-860: a refused sign-in says why, and whose the credential is`() async throws {
        try await run { storage, admin, alice in
            func refuse(_ hash: [UInt8], _ minute: Int64) async throws {
                try await storage.noteRefusedSignIn(
                    credentialHash: hash, device: Self.device, from: "10.0.0.3", now: time(minute))
            }
            for minute: Int64 in 0..<3 { try await refuse([1], minute) }
            #expect(try await admin.setDisabled(true, alice) == .done)
            try await refuse(Self.hash, 1)
            try await refuse(Self.hash, 2)
            let entries = try await all(admin)
            #expect(entries.map(\.who) == ["alice", ""])
            #expect(entries.map(\.detail) == ["The account is disabled.", "No credential is like this."])
            #expect(entries.allSatisfy { $0.result == .refused })
        }
    }

    @Test func `R-866: a revoked device that tries to sign in is noted once, with that reason`() async throws {
        try await run { storage, admin, alice in
            func enter(_ minute: Int64) async throws -> Bool {
                try await storage.noteDevice(
                    Self.device, of: alice, name: "", from: "", atMost: 9, now: time(minute))
            }
            #expect(try await enter(0))
            let device = AccountDevice(account: alice, device: Self.device)
            #expect(try await admin.revokeDevice(device) == .done)
            for minute: Int64 in 1..<3 {
                #expect(try await !enter(minute))
                try await storage.noteRefusedSignIn(
                    credentialHash: Self.hash, device: Self.device, from: "", now: time(minute))
            }
            let entries = try await all(admin)
            #expect(entries.map(\.result) == [.refused, .done])
            #expect(entries.map(\.detail) == ["The device is revoked.", ""])
        }
    }

    @Test func `R-919: a request leads to the command that it is, or to the sign-in of its session`() async throws {
        try await run { storage, admin, alice in
            func trace(_ session: UInt64, _ number: UInt64) -> RequestTrace {
                RequestTrace(RequestUUID(session: session, number: number))
            }
            func found(_ trace: RequestTrace, _ change: (inout AuditFilter) -> Void = { _ in }) async throws -> [String]
            {
                var filter = AuditFilter()
                filter.request = ChangeCause(trace.uuid)
                change(&filter)
                return try await all(admin, filter).map { "\($0.action) \($0.result.name)" }
            }
            let command = trace(1 << 40, 99)
            let action = AuditAction(who: "root", action: "zones delete", target: "alice")
            let id = try await admin.beginAudit(action, of: ChangeCause(command.uuid))
            #expect(try await found(command) == ["zones delete begun"])
            try await admin.endAudit(id, failure: nil)
            #expect(try await found(command) == ["zones delete done"])
            let mayEnter = try await RequestTrace.$current.withValue(trace(5 << 16, 1)) {
                try await storage.noteDevice(
                    Self.device, of: alice, name: "phone", from: "", atMost: 9, now: time(0))
            }
            #expect(mayEnter)
            // In the same hour the device comes again. The first session stays.
            _ = try await RequestTrace.$current.withValue(trace(6 << 16, 1)) {
                try await storage.noteDevice(
                    Self.device, of: alice, name: "phone", from: "", atMost: 9, now: time(1))
            }
            try await RequestTrace.$current.withValue(trace(7 << 16, 1)) {
                try await storage.noteRefusedSignIn(
                    credentialHash: [1], device: Self.device, from: "", now: time(2))
            }
            #expect(try await found(trace(5 << 16, 1)) == ["sign-in done"])
            #expect(try await found(trace(5 << 16, 4_711)) == ["sign-in done"], "another request of the session")
            #expect(try await found(trace(6 << 16, 1)).isEmpty)
            #expect(try await found(trace(7 << 16, 2)) == ["sign-in refused"])
            #expect(try await found(trace(4 << 16, 1)).isEmpty)
            // Beside the other choices.
            #expect(try await found(command) { $0.kind = .signIn }.isEmpty)
            #expect(try await found(trace(5 << 16, 1)) { $0.kind = .action }.isEmpty)
            #expect(try await found(trace(7 << 16, 1)) { $0.failuresOnly = true } == ["sign-in refused"])
            #expect(try await found(trace(5 << 16, 1)) { $0.failuresOnly = true }.isEmpty)
            #expect(try await found(trace(5 << 16, 1)) { $0.since = self.time(60) }.isEmpty)
            let requests = try await all(admin).compactMap(\.request)
            #expect(requests == [trace(7 << 16, 1), trace(5 << 16, 1), command].map { ChangeCause($0.uuid) })
        }
    }

    @Test func `R-863: the audit forgets what it names of a deleted account's data, and no other's`() async throws {
        try await run { _, admin, alice in
            for target in ["alice Notes", "alicia Notes", "alice"] {
                let id = try await admin.beginAudit(AuditAction(who: "root", action: "zones delete", target: target))
                try await admin.endAudit(id, failure: "no zone Notes")
            }
            try await admin.deleteAccount(alice)
            let entries = try await all(admin)
            #expect(entries.map(\.target) == ["alice", "alicia Notes", "alice"])
            #expect(entries.map(\.detail) == ["no zone Notes", "no zone Notes", ""])
        }
    }

    @Test func `R-860: old rows are forgotten, in steps`() async throws {
        try await run { storage, admin, alice in
            for hour: Int64 in 0..<3 {
                try await storage.noteDevice(
                    Self.device, of: alice, name: "", from: "", atMost: 9, now: time(hour * 60))
            }
            try await storage.forgetAudit(before: time(61))
            #expect(try await all(admin).map(\.at) == [time(120)])
        }
    }
}
