// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// Keys of a zone with which nothing more is encrypted.
@Suite struct KeysRetiredTests {
    private static func id(_ number: UInt8) -> [UInt8] { Array(repeating: number, count: 16) }

    private static func key(_ number: UInt8) -> WrappedZoneKey {
        WrappedZoneKey(id: id(number), accountKeyID: id(100), wrapped: Array(repeating: number, count: 60))
    }

    /// A request that saves one record, with a value under that key.
    private static func saving(
        _ name: String, under number: UInt8, counter: UInt64, _ fixture: ServiceFixture
    ) throws -> RecordsRequest {
        let value = SealedValue(
            keyID: id(number), nonce: Array(repeating: 7, count: 12), ciphertext: Array(repeating: 9, count: 20))
        let fields = try FieldMap([Field("secret", .bytes(value.bytes), isEncrypted: true)])
        return RecordsRequest(
            id: RequestID(DeviceID(high: 2, low: 2), counter), key: fixture.key(),
            saves: [RecordSave(name: name, type: "Note", tag: nil, fields: fields, parent: .unchanged)], deletes: [],
            policy: .allKeys, isAtomic: false, user: fixture.identity.user, access: .owner(fixture.identity.user))
    }

    private static func reasons(_ outcome: Result<RecordsOutcome, FailureReason>) -> [FailureReason?] {
        switch outcome {
        case .failure(let reason): [reason]
        case .success(let outcome):
            outcome.saves.map { if case .failed(let failure) = $0 { failure.reason } else { nil } }
        }
    }

    @Test(arguments: [true, false])
    func `R-967: a server that knows the zone refuses retired keys too, whichever server has retired them`(
        isSame: Bool
    ) throws {
        let fixture = try ServiceFixture()
        let (knowing, other) = (fixture.server(), fixture.server())
        try fixture.scheduler.simulate {
            let zone = fixture.key()
            _ = try await knowing.saveZoneKey(Self.key(1), in: zone, after: nil).get()
            var counter: UInt64 = 0
            func save(_ name: String, under number: UInt8) async throws -> [FailureReason?] {
                counter += 1
                return Self.reasons(
                    await knowing.modify(try Self.saving(name, under: number, counter: counter, fixture)))
            }
            // From its second write on it decides by what it knows.
            for name in ["a", "b", "c"] { #expect(try await save(name, under: 1) == [nil]) }
            let second = try await other.saveZoneKey(Self.key(2), in: zone, after: Self.id(1)).get()
            #expect(second.map(\.id) == [Self.id(1), Self.id(2)])
            #expect(try await save("d", under: 1) == [nil], "another key retires none by itself")
            #expect(try await save("d", under: 2) == [nil])
            let third = try await (isSame ? knowing : other).saveZoneKey(
                Self.key(3), in: zone, after: Self.id(2), retiringOlder: true
            ).get()
            #expect(third.map(\.id) == [Self.id(1), Self.id(2), Self.id(3)], "they are there to be read")
            #expect(try await save("e", under: 1) == [.zoneKeyUnknown])
            #expect(try await save("a", under: 2) == [.zoneKeyUnknown])
            #expect(try await save("e", under: 3) == [nil])
            #expect(try await save("e", under: 1) == [.zoneKeyUnknown], "and not once it knows the zone again")
        }
    }

    @Test func `R-967: who is not the last to add a key retires none`() throws {
        let fixture = try ServiceFixture()
        let server = fixture.server()
        try fixture.scheduler.simulate {
            let zone = fixture.key()
            _ = try await server.saveZoneKey(Self.key(1), in: zone, after: nil).get()
            // Another device was faster: the key is not saved.
            let late = try await server.saveZoneKey(Self.key(2), in: zone, after: nil, retiringOlder: true).get()
            #expect(late.map(\.id) == [Self.id(1)])
            let request = try Self.saving("a", under: 1, counter: 1, fixture)
            #expect(Self.reasons(await server.modify(request)) == [nil])
        }
    }
}
