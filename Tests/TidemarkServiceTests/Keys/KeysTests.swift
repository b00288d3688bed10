// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

@Suite struct KeysTests {
    /// Closes by a number; what another number, or for another user, was closed does not open.
    private struct NumberEscrow: KeyEscrow {
        let number: UInt8
        var check: [UInt8] { [number] }

        func close(_ key: [UInt8], of user: UserID) -> [UInt8] {
            [number, UInt8(truncatingIfNeeded: user.rawValue)] + key
        }

        func open(_ escrow: [UInt8], of user: UserID) -> [UInt8]? {
            escrow.prefix(2) == [number, UInt8(truncatingIfNeeded: user.rawValue)] ? Array(escrow.dropFirst(2)) : nil
        }
    }

    private static let key = AccountKey(
        mode: .escrowed, id: Array(repeating: 1, count: 16), key: Array(repeating: 2, count: 32))

    private func service(_ fixture: ServiceFixture, _ escrow: NumberEscrow?, limits: Limits = Limits()) -> CloudService
    {
        CloudService(
            storage: MemoryStore(fixture.database), escrow: escrow, scheduler: fixture.scheduler, limits: limits,
            onMoved: { _ in })
    }

    private func zoneKey(_ number: UInt8) -> WrappedZoneKey {
        WrappedZoneKey(
            id: Array(repeating: number, count: 16), accountKeyID: Array(repeating: 1, count: 16),
            wrapped: Array(repeating: number, count: 60))
    }

    @Test func `an escrowed key comes to every device, from every server that has the master key`() throws {
        let fixture = try ServiceFixture()
        let user = fixture.identity.user
        try fixture.scheduler.simulate {
            _ = try await MemoryStore(fixture.database).claimMasterKey(check: [5])
            let (first, second) = (service(fixture, NumberEscrow(number: 5)), service(fixture, NumberEscrow(number: 5)))
            let before = try await first.keys(of: user, zones: []).get()
            #expect(before.account == AccountKey(mode: .escrowed, id: nil, key: nil))
            #expect(try await first.saveAccountKey(Self.key, of: user).get() == Self.key)
            let found = try await second.keys(of: user, zones: [fixture.key(), fixture.key("none")]).get()
            #expect(found.account == Self.key)
            #expect(found.zones == [.success([]), .failure(.zoneNotFound)])
            var other = Self.key
            other.id = Array(repeating: 9, count: 16)
            #expect(try await second.saveAccountKey(other, of: user).get() == Self.key)
        }
    }

    @Test func `without a master key, or with another, the reason is told, and nothing is saved`() throws {
        let fixture = try ServiceFixture()
        let user = fixture.identity.user
        try fixture.scheduler.simulate {
            _ = try await MemoryStore(fixture.database).claimMasterKey(check: [5])
            let bare = service(fixture, nil)
            let wrong = service(fixture, NumberEscrow(number: 6))
            let right = service(fixture, NumberEscrow(number: 5))
            #expect(await bare.saveAccountKey(Self.key, of: user).reason == .keysUnavailable)
            #expect(await wrong.saveAccountKey(Self.key, of: user).reason == .masterKeyWrong)
            #expect(try await right.saveAccountKey(Self.key, of: user).get() == Self.key)
            #expect(await bare.keys(of: user, zones: []).map(\.account).reason == .keysUnavailable)
            #expect(await wrong.keys(of: user, zones: []).map(\.account).reason == .masterKeyWrong)
            #expect(await wrong.saveAccountKey(Self.key, of: user).reason == .masterKeyWrong)
        }
    }

    @Test func `a device that is wrong about the mode is told so`() throws {
        let fixture = try ServiceFixture()
        try fixture.scheduler.simulate {
            let endToEnd = AccountKey(mode: .endToEnd, id: Self.key.id, key: nil)
            let service = service(fixture, nil)
            #expect(await service.saveAccountKey(endToEnd, of: fixture.identity.user).reason == .encryptionModeDiffers)
            var malformed = endToEnd
            malformed.key = Self.key.key
            #expect(await service.saveAccountKey(malformed, of: fixture.identity.user).reason == .requestInvalid)
        }
    }

    @Test func `R-744: a page has the keys of whole zones, and names that no zone can have keep their places`() throws {
        let fixture = try ServiceFixture(zones: ["a", "b", "c"])
        try fixture.scheduler.simulate {
            func page(_ names: [String], keysMax: Int) async throws -> [Result<[WrappedZoneKey], FailureReason>] {
                var limits = Limits()
                (limits.pageKeysMax, limits.zoneKeysMax) = (keysMax, 2)
                return try await service(fixture, nil, limits: limits).keys(
                    of: fixture.identity.user, zones: names.map(fixture.key)
                ).get().zones
            }
            let filling = service(fixture, nil)
            _ = try await filling.saveZoneKey(zoneKey(1), in: fixture.key("a"), after: nil).get()
            _ = try await filling.saveZoneKey(zoneKey(2), in: fixture.key("c"), after: nil).get()
            _ = try await filling.saveZoneKey(zoneKey(3), in: fixture.key("c"), after: zoneKey(2).id).get()
            let names = ["_x", "a", "none", "b", "_y", "c", "_z"]
            let all: [Result<[WrappedZoneKey], FailureReason>] = [
                .failure(.zoneNameInvalid), .success([zoneKey(1)]), .failure(.zoneNotFound), .success([]),
                .failure(.zoneNameInvalid), .success([zoneKey(2), zoneKey(3)]), .failure(.zoneNameInvalid),
            ]
            #expect(try await page(names, keysMax: 4) == all)
            #expect(try await page(names, keysMax: 3) == Array(all[..<5]))
            #expect(try await page(Array(names[5...]), keysMax: 3) == Array(all[5...]))
            #expect(try await page(["c"], keysMax: 1) == [all[5]], "there is room for the keys of one zone")
        }
    }

    @Test func `I-7: a zone has so many keys, and a request asks for so many zones`() throws {
        let fixture = try ServiceFixture()
        var limits = Limits()
        limits.zoneKeysMax = 2
        limits.keyZonesMax = 3
        let service = service(fixture, nil, limits: limits)
        try fixture.scheduler.simulate {
            let key = fixture.key()
            let one = try await service.saveZoneKey(zoneKey(1), in: key, after: nil).get()
            #expect(one == [zoneKey(1)])
            let two = [zoneKey(1), zoneKey(2)]
            #expect(try await service.saveZoneKey(zoneKey(2), in: key, after: zoneKey(1).id).get() == two)
            #expect(await service.saveZoneKey(zoneKey(3), in: key, after: zoneKey(2).id).reason == .tooManyZoneKeys)
            // Who was slower is told what there is, as ever.
            #expect(try await service.saveZoneKey(zoneKey(3), in: key, after: zoneKey(1).id).get() == two)
            let zones = Array(repeating: key, count: 4)
            let many = await service.keys(of: fixture.identity.user, zones: zones)
            #expect(many.map(\.account).reason == .tooManyItems)
            let bad = WrappedZoneKey(id: [1], accountKeyID: [], wrapped: [])
            #expect(await service.saveZoneKey(bad, in: key, after: nil).reason == .requestInvalid)
            let gone = ZoneKey(database: key.database, name: "none")
            #expect(await service.saveZoneKey(zoneKey(1), in: gone, after: nil).reason == .zoneNotFound)
        }
    }
}
