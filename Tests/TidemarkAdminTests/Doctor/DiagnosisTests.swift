// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@testable import TidemarkAdmin
@testable import TidemarkStore

@Suite struct DiagnosisTests {
    private static let goodSettings = [
        "fsync": "on", "full_page_writes": "on", "autovacuum": "on", "max_connections": "100",
        "superuser_reserved_connections": "3",
    ]

    private func facts(
        version: Int = 160_004, _ changes: [String: String] = [:], oldest: Double? = nil
    ) -> DatabaseFacts {
        DatabaseFacts(
            version: version, settings: Self.goodSettings.merging(changes) { $1 }, now: Timestamp(milliseconds: 0),
            byteCount: 1, connectionCount: 1, oldestTransactionSeconds: oldest)
    }

    private func codes(_ facts: DatabaseFacts, needed: Int = 40) -> [DoctorFinding.Code] {
        Diagnosis.findings(of: facts, connectionsNeeded: needed).map(\.code)
    }

    @Test func `R-870: a healthy PostgreSQL has no findings, and each setting that does harm has one`() {
        #expect(codes(facts()) == [])
        #expect(codes(facts(version: 130_022)) == [.postgresVersion])
        #expect(codes(facts(version: PostgresVersion.oldest.number)).isEmpty)
        #expect(codes(facts(["fsync": "off"])) == [.fsyncOff])
        #expect(codes(facts(["full_page_writes": "off"])) == [.fullPageWritesOff])
        #expect(codes(facts(["autovacuum": "off"])) == [.autovacuumOff])
        #expect(codes(facts(["synchronous_commit": "on"])) == [])
        #expect(codes(facts(["synchronous_commit": "off"])) == [.synchronousCommitOff])
        #expect(codes(facts(), needed: 97) == [])
        #expect(codes(facts(), needed: 98) == [.connectionsFew])
        #expect(codes(facts(oldest: 600)) == [])
        #expect(codes(facts(oldest: 601)) == [.transactionOld])
    }

    private func table(_ name: String, live: Int64, dead: Int64) -> RelationSize {
        RelationSize(
            name: name, table: nil, byteCount: 1, liveRows: live, deadRows: dead, useCount: 0, isValid: true)
    }

    private func index(_ name: String, isValid: Bool) -> RelationSize {
        RelationSize(
            name: name, table: "record", byteCount: 1, liveRows: 0, deadRows: 0, useCount: 0, isValid: isValid)
    }

    @Test func `R-870: dead rows, broken indexes and missing ones are found`() {
        let relations = [
            table("record", live: 100_000, dead: 30_000), table("zone", live: 100_000, dead: 30_001),
            index("record_changes", isValid: true), index("zone_living", isValid: false),
        ]
        let findings = Diagnosis.findings(of: relations, expected: ["record_changes", "zone_living", "audit_age"])
        #expect(findings.map(\.code) == [.deadRows, .indexInvalid, .indexMissing])
        #expect(findings.map(\.text).allSatisfy { $0.contains("zone") || $0.contains("audit_age") })
    }

    private func sums(
        head: Int64 = 5, newest: Int64 = 5, bytes: Int64 = 10, sum: Int64 = 10, tombstones: Int64 = 3,
        tombstoneSum: Int64 = 3
    ) -> ZoneSums {
        ZoneSums(
            key: ZoneKey(database: DatabaseID(1), name: "Notes"), id: ZoneID(1), head: head, newestChange: newest,
            byteCount: bytes, byteSum: sum, tombstoneBytes: tombstones, tombstoneSum: tombstoneSum)
    }

    @Test func `R-870: a zone that counts otherwise than its records sum up to is found`() {
        #expect(Diagnosis.findings(of: sums()) == [])
        #expect(Diagnosis.findings(of: sums(head: 9)) == [])
        #expect(Diagnosis.findings(of: sums(newest: 6)).map(\.code) == [.zoneHead])
        #expect(Diagnosis.findings(of: sums(sum: 11)).map(\.code) == [.zoneBytes])
        #expect(Diagnosis.findings(of: sums(tombstoneSum: 0)).map(\.code) == [.zoneBytes])
    }

    @Test func `R-999: servers of an older version are found, with their names`() {
        func found(_ counts: Int?...) -> [DoctorFinding] {
            let servers = counts.enumerated().map { ListeningServer(name: "host/\($0)", migrationCount: $1) }
            return Diagnosis.findings(of: servers, known: 50)
        }
        #expect(found() == [] && found(50, 50) == [] && found(51, 50) == [])
        let one = found(50, 49)
        #expect(one.map(\.code) == [.serversMixed] && one.map(\.severity) == [.warning])
        #expect(one[0].text.contains("host/1.") && !one[0].text.contains("host/0") && !one[0].text.contains("shared"))
        #expect(found(50, nil)[0].text.contains("no part of a zone can be shared"))
        #expect(found(50, 46)[0].text.contains("no part of a zone can be shared"))
        let nobody = Diagnosis.findings(of: [ListeningServer(name: "", migrationCount: 1)], known: 50)
        #expect(nobody[0].text.contains("one without a name"))
        let many = Diagnosis.findings(
            of: (0..<30).map { ListeningServer(name: "host/\($0)", migrationCount: nil) }, known: 50)
        #expect(many.count == 1 && many[0].text.contains(" and 20 more"))
    }

    @Test func `R-870: clocks that differ by more than two seconds are found, on both sides`() {
        for there: Int64 in [8_000, 10_000, 11_000, 13_000] {
            #expect(Diagnosis.clock(here: 10_000...11_000, there: there) == [])
        }
        for there: Int64 in [7_999, 13_001] {
            #expect(Diagnosis.clock(here: 10_000...11_000, there: there).map(\.code) == [.clockOff])
        }
    }

    @Test func `R-870: credentials and files have findings of their own`() {
        #expect(Diagnosis.credentials(expired: 0, soon: 0) == [])
        #expect(
            Diagnosis.credentials(expired: 1, soon: 2).map(\.code) == [.credentialsExpired, .credentialsExpiring])
        #expect(Diagnosis.file("k", "key", mode: 0o600, forbidden: 0o077) == [])
        #expect(Diagnosis.file("k", "key", mode: 0o640, forbidden: 0o077).map(\.remedy) == ["chmod 600 k"])
        #expect(Diagnosis.file("k", "key", mode: nil, forbidden: 0o077).map(\.code) == [.fileMissing])
    }

    @Test func `R-870: the codes of findings are words with hyphens, each once`() {
        let codes = DoctorFinding.Code.allCases.map(\.rawValue)
        #expect(Set(codes).count == codes.count)
        #expect(codes.allSatisfy { $0.wholeMatch(of: /[a-z]+(-[a-z]+)*/) != nil })
    }
}
