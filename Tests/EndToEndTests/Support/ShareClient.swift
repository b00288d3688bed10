// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Synchronization
import TidemarkWire

/// A device of an account that asks what it is told to ask about shares. It keeps all that it receives.
final class ShareClient: Sendable {
    private struct State {
        var lastID: UInt64 = 1
        var counter: UInt64 = 0
    }

    let raw: RawClient
    /// The user's record name.
    let name: String
    private let state = Mutex(State())

    init(_ site: Site, _ account: String, device: UInt8 = 1) async throws {
        let raw = try await RawClient(site)
        try raw.send(.hello(site, account, device: device))
        let answer = try await raw.answer(to: 1)
        guard case .hello(let hello)? = answer.answer else { throw NeverHappened(description: "\(answer)") }
        self.raw = raw
        name = hello.userRecordName
    }

    func stamp() -> WireRequestStamp {
        var stamp = WireRequestStamp()
        stamp.counter = state.withLock { state in
            state.counter += 1
            return state.counter
        }
        stamp.lowestUnanswered = 1
        return stamp
    }

    /// - Returns: the request's id.
    @discardableResult
    func send(_ request: ShareRequests.Request) throws -> UInt64 {
        var envelope = WireClientEnvelope()
        envelope.id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        envelope.request = request
        try raw.send(envelope)
        return envelope.id
    }

    func ask(_ request: ShareRequests.Request) async throws -> WireServerEnvelope {
        try await raw.answer(to: try send(request))
    }

    /// The answer to something that must not fail.
    @discardableResult
    func succeed(_ request: ShareRequests.Request) async throws -> WireServerEnvelope {
        let answer = try await ask(request)
        guard answer.failureCodes.isEmpty else { throw NeverHappened(description: "\(request): \(answer)") }
        return answer
    }

    func hasAnswer(to id: UInt64) -> Bool { raw.answers.contains { $0.id == id } }

    var pushes: [WirePush] {
        raw.answers.compactMap { if case .push(let push)? = $0.answer { push } else { nil } }
    }
}

// MARK: What owners and participants do

extension ShareClient {
    /// Makes a zone with one record.
    func makeZone(_ name: String, with record: String = "a") async throws {
        try await succeed(ShareRequests.make(name, stamp()))
        let save = try ShareRequests.saving([record], in: ShareRequests.zone(name), stamp())
        try await succeed(.modifyRecords(save))
    }

    /// The CKShare record of a zone as it is now; nil if there is none.
    func shareRecord(of zone: String) async throws -> WireRecord? {
        try await ask(ShareRequests.shareRecord(of: ShareRequests.zone(zone))).records.first
    }

    /// Shares a zone with everybody, or changes what everybody may do.
    ///
    /// - Returns: the link.
    @discardableResult
    func share(_ zone: String, _ permission: WireSharePermission = .readWrite) async throws -> String {
        let tag = try await shareRecord(of: zone)?.tag ?? []
        let answer = try await succeed(.modifyRecords(ShareRequests.share(zone, permission, tag: tag, stamp())))
        return answer.records.first?.share.link ?? ""
    }

    /// The code with which reading a record of a zone fails; nil: it is read.
    func readingFails(_ record: String = "a", in zone: WireZoneID) async throws -> WireErrorCode? {
        try await ask(ShareRequests.records([record], in: zone)).failureCodes.first
    }

    /// The names of the zones in the list of the shared database.
    func listedZones() async throws -> Set<String> {
        guard case .fetchZones(let zones)? = try await ask(ShareRequests.sharedZones()).answer else { return [] }
        return Set(zones.zones.map(\.zone.id.name))
    }

    /// The names of the zones that a first fetch of the shared database tells of.
    func fedZones() async throws -> Set<String> {
        var names: Set<String> = []
        var token: [UInt8] = []
        // Bounded: there are not so many zones.
        for _ in 0..<100 {
            let answer = try await ask(ShareRequests.sharedFeed(after: token)).answer
            guard case .fetchDatabaseChanges(let page)? = answer else { return names }
            names.formUnion(page.changed.map(\.name))
            guard page.moreComing else { break }
            token = page.token
        }
        return names
    }
}
