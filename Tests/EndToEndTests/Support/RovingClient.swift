// SPDX-License-Identifier: Apache-2.0

import Foundation
import SessionTestSupport
import TidemarkTestSupport
import TidemarkWire

/// A device that goes on at another server when its own is killed. What was not answered it sends again there, as it was.
actor RovingClient {
    private let sites: [Site]
    private let account: String
    private let device: UInt8
    private let ledger: AccessLedger?
    private var random: SeededRandom
    private var raw: RawClient?
    private var lastID: UInt64 = 1
    private var counter: UInt64 = 0
    /// The user's record name, once it has been connected.
    private(set) var name = ""
    /// How often it has connected.
    private(set) var connectionCount = 0
    /// Pushes that say more than that something has changed.
    private(set) var pushesWithContent: [WirePush] = []

    /// How long a request may take, with all its repeats.
    private static let patience = Duration.seconds(120)
    /// What a server says that is about to go, or has not found its store again. Nothing is carried out.
    private static let passing: Set<WireErrorCode> = [
        .networkFailure, .networkUnavailable, .serviceUnavailable, .zoneBusy, .requestRateLimited,
    ]

    /// - Parameters:
    ///   - sites: of all servers.
    ///   - ledger: holds what it receives against what its user may see; nil: the user may see all.
    init(_ sites: [Site], _ account: String, device: UInt8, ledger: AccessLedger? = nil, seed: UInt64) {
        (self.sites, self.account, self.device, self.ledger) = (sites, account, device, ledger)
        random = SeededRandom(seed: seed)
    }

    /// For a request that changes something. It asks one thing after the other.
    func stamp() -> WireRequestStamp {
        counter += 1
        var stamp = WireRequestStamp()
        (stamp.counter, stamp.lowestUnanswered) = (counter, counter)
        return stamp
    }

    /// Asks until there is an answer.
    ///
    /// - Parameter what: it is for the ledger.
    func ask(_ request: ShareRequests.Request, _ what: String) async throws -> WireServerEnvelope {
        let deadline = ContinuousClock.now + Self.patience
        while ContinuousClock.now < deadline {
            if let answer = await attempt(request, what) { return answer }
            // As devices do, which do not come back in the same instant.
            try await Task.sleep(for: .milliseconds(Int64.random(in: 10...60, using: &random)))
        }
        throw NeverHappened(description: "\(what) of \(account) \(device) is answered")
    }

    /// - Returns: nil: the connection has ended, or it has to be asked again.
    private func attempt(_ request: ShareRequests.Request, _ what: String) async -> WireServerEnvelope? {
        do {
            let raw = try await connected()
            lastID += 1
            var envelope = WireClientEnvelope()
            (envelope.id, envelope.request) = (lastID, request)
            let sent = ledger?.now
            try raw.send(envelope)
            let answer = try await raw.answer(to: envelope.id)
            if let ledger, let sent { ledger.receives(answer, sentAt: sent, what) }
            return answer.failureCodes.contains(where: Self.passing.contains) ? nil : answer
        } catch {
            disconnect()
            return nil
        }
    }

    private func connected() async throws -> RawClient {
        if let raw, !raw.isClosed { return raw }
        disconnect()
        let site = random.pick(sites)
        let new = try await RawClient(site)
        do {
            try new.send(.hello(site, account, device: device))
            let answer = try await new.answer(to: 1)
            guard case .hello(let hello)? = answer.answer else { throw NeverHappened(description: "\(answer)") }
            name = hello.userRecordName
        } catch {
            new.disconnect()
            throw error
        }
        raw = new
        connectionCount += 1
        return new
    }

    /// Looks at what was pushed, and goes.
    func disconnect() {
        guard let old = raw else { return }
        raw = nil
        old.disconnect()
        for envelope in old.answers {
            guard case .push(let push)? = envelope.answer else { continue }
            if !push.zones.isEmpty || push.hasChanges { pushesWithContent.append(push) }
        }
    }
}
