// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkSessions
import TidemarkTestSupport
import TidemarkWire

/// Keys of zones that devices give to others.
@Suite struct KeysHandlersGrantsTests {
    private let world = SessionWorld()

    private static func grant(to user: String) -> WireKeyGrant {
        var grant = WireKeyGrant()
        grant.user = user
        grant.publicKey = [UInt8](repeating: 1, count: 32)
        grant.newestID = [UInt8](repeating: 2, count: 16)
        grant.keyCount = 1
        grant.sealed = [UInt8](repeating: 3, count: 96)
        return grant
    }

    private static func user(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "_" + String(repeating: "0", count: 32 - digits.count) + digits
    }

    private func ask(
        _ client: TestClient, _ grants: [WireKeyGrant] = [], zone: WireZoneID = TestClient.zone("notes"),
        after: [UInt8] = []
    ) throws -> Result<WireGrantKeysAnswer, RefusedBecause> {
        var request = WireGrantKeys()
        (request.zone, request.grants, request.after) = (zone, grants, after)
        switch try client.ask(.grantKeys(request)) {
        case .grantKeys(let answer): return .success(answer)
        case .failure(let failure): return .failure(RefusedBecause(code: failure.code))
        case let answer: throw SessionWorld.Unexpected(answer)
        }
    }

    private struct RefusedBecause: Error, Equatable {
        let code: WireErrorCode
    }

    @Test func `R-969: grants are refused as a whole if there are too many, or two for one user`()
        throws
    {
        let client = try world.enter()
        try client.makeZone("notes")
        #expect(try ask(client).get() == WireGrantKeysAnswer(), "a zone that nobody reads")
        let fifty = (0..<50).map { Self.grant(to: Self.user(0xABC0 + $0)) }
        #expect(try ask(client, fifty).get() == WireGrantKeysAnswer(), "nobody is there")
        #expect(try ask(client, [Self.grant(to: "no user"), Self.grant(to: "")]).get() == WireGrantKeysAnswer())
        #expect(try ask(client, fifty + [Self.grant(to: Self.user(1))]) == .failure(.init(code: .limitExceeded)))
        #expect(try ask(client, [fifty[0], fifty[0]]) == .failure(.init(code: .invalidArguments)))
        #expect(try ask(client, after: [1, 2, 3]) == .failure(.init(code: .invalidArguments)))
        #expect(try ask(client, after: [UInt8](repeating: 0xFF, count: 8)).get() == WireGrantKeysAnswer())
        #expect(try ask(client, zone: TestClient.zone("never")) == .failure(.init(code: .zoneNotFound)))
        var foreign = TestClient.zone("notes")
        foreign.owner = Self.user(1)
        #expect(try ask(client, zone: foreign) == .failure(.init(code: .zoneNotFound)), "nobody gives keys of others")
    }

    @Test func `R-269: an owner hears who lacks keys, and the participant hears nothing of it`() throws {
        let world = SessionWorld()
        let pair = try SharingPair(world)
        var zone = pair.zone
        zone.owner = ""
        // Anybody may join by the URL. So there is nobody whom the owner has invited.
        #expect(try ask(pair.alice, zone: zone).get().readers == [])
        #expect(try ask(pair.bob, zone: pair.zone) == .failure(.init(code: .zoneNotFound)))
        #expect(try ask(pair.bob, zone: zone) == .failure(.init(code: .zoneNotFound)), "bob's own has no such name")
    }
}
