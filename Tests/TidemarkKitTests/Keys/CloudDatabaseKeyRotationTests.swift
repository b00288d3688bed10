// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// An owner changes the key of a zone to which others add keys at the same time.
@Suite struct CloudDatabaseKeyRotationTests {
    private let scheduler = ManualScheduler()
    private let server: ScriptedServer
    private let container: CKContainer
    private let zoneID = CKRecordZone.ID(zoneName: "Diary")
    private let account: AccountSecret
    /// The zone's keys, oldest first.
    private let keys = Locked<[WireZoneKey]>([])

    init() throws {
        server = ScriptedServer(scheduler)
        container = server.container()
        account = try #require(AccountSecret(AccountSecret.randomKey()))
    }

    /// - Parameter rivalCount: so many requests to save a key find that somebody else's was faster.
    private func serve(rivalCount: Int) {
        let rivalsLeft = Locked(rivalCount)
        let name = container.containerIdentifier ?? ""
        server.answer { [keys, account] envelope in
            switch envelope.request {
            case .fetchKeys:
                var answer = WireFetchKeysAnswer()
                answer.account.mode = .escrowed
                (answer.account.id, answer.account.key) = (account.id, account.key)
                var result = WireZoneKeysResult()
                result.keys.keys = keys.withLock { $0 }
                answer.zones = [result]
                return .fetchKeys(answer)
            case .saveZoneKey(let request):
                let isLate = rivalsLeft.withLock { left in
                    left -= 1
                    return left >= 0
                }
                if isLate {
                    let secret = ZoneSecret.random()
                    var rival = WireZoneKey()
                    (rival.id, rival.accountKeyID) = (secret.id, account.id)
                    rival.wrapped = account.wrap(secret, container: name, zoneName: "Diary")
                    keys.withLock { [rival] in $0.append(rival) }
                }
                var answer = WireSaveZoneKeyAnswer()
                answer.keys.keys = keys.withLock { keys in
                    if (keys.last?.id ?? []) == request.newestID { keys.append(request.key) }
                    return keys
                }
                return .saveZoneKey(answer)
            default: return nil
            }
        }
    }

    private var saved: [WireSaveZoneKey] {
        server.envelopes.compactMap { envelope in
            guard case .saveZoneKey(let request)? = envelope.request else { return nil }
            return request
        }
    }

    /// The error's code, or nil.
    private func rotate() throws -> CKError.Code? {
        try scheduler.complete { [container, zoneID] in
            do {
                try await container.rotateEncryptionKey(of: zoneID)
                return nil
            } catch let error as CKError {
                return error.code
            }
        }
    }

    @Test(arguments: 0...2)
    func `R-967: a change of the key has not succeeded before a key of its own is the newest`(rivalCount: Int) throws {
        serve(rivalCount: rivalCount)
        #expect(try rotate() == nil)
        let all = keys.withLock { $0 }
        #expect(saved.count == rivalCount + 1 && all.count == rivalCount + 1)
        #expect(saved.allSatisfy { $0.retiresOlder })
        #expect(saved.last?.key.id == all.last?.id, "only this one has retired what was before")
        #expect(saved.last?.newestID == (all.dropLast().last?.id ?? []))
        let secret = try scheduler.complete { [container, zoneID] in
            try await container.privateCloudDatabase.cloud.sealingSecrets(of: [zoneID])[zoneID]?.get()
        }
        #expect(secret?.id == all.last?.id)
    }

    @Test func `R-967: a change of the key that others overtake each time fails, and says to try again`() throws {
        serve(rivalCount: 100)
        #expect(try rotate() == .zoneBusy)
        #expect(saved.count == 3)
    }
}
