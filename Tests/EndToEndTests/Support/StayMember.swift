// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import TidemarkTestSupport
import TidemarkWire

/// A device of the owner or of the guest of ``GuestStay``s: it does anything, and has a replica of each zone.
struct StayMember: Sendable {
    /// What a device has of a zone.
    struct Replica: Sendable {
        /// Of all records, by their names.
        fileprivate(set) var tags: [String: [UInt8]] = [:]
        fileprivate var token: [UInt8] = []

        fileprivate mutating func take(_ page: WireFetchZoneChangesAnswer) {
            for change in page.changes {
                switch change.change {
                case .record(let record)?: tags[record.name] = record.tag
                case .deleted(let end)?: tags[end.name] = nil
                case nil: break
                }
            }
            token = page.token
        }
    }

    let client: RovingClient
    /// What all its records' names begin with.
    let label: String
    /// Of the guest; nil: it is the owner's.
    let link: String?
    let zones: [WireZoneID]
    private(set) var replicas: [Replica]
    /// Of the records that nobody else writes: the tag of the last save that was answered. One that may have been carried out
    /// without an answer is not here.
    private(set) var saved: [[String: [UInt8]]]
    /// Whether the guest was told last that there is no such zone.
    private var isOut = true

    private static let ownNameCount = 12
    /// Small, so that changes happen between two pages.
    private static let pageCount: UInt32 = 7

    init(_ client: RovingClient, _ label: String, in stays: [GuestStay], isOwner: Bool) {
        self.client = client
        self.label = label
        link = isOwner ? nil : stays.first?.link
        zones = stays.map { isOwner ? $0.own : $0.shared }
        replicas = stays.map { _ in Replica() }
        saved = stays.map { _ in [:] }
    }

    /// Does one thing.
    mutating func step(_ random: inout SeededRandom) async throws {
        let zone = random.below(zones.count)
        if let link, isOut, random.oneIn(3) { return try await accept(link) }
        switch random.below(10) {
        case 0...3: _ = try await fetch(zone)
        case 4...6: try await save(zone, &random)
        case 7: try await delete(zone, &random)
        case 8: _ = try await client.ask(ShareRequests.notes(in: zones[zone], atMost: 5), "a query")
        default:
            if let link, random.oneIn(2) {
                try await accept(link)
            } else {
                let names = ["\(label)-0", "owner 1-1", "owner 2-2"]
                _ = try await client.ask(ShareRequests.records(names, in: zones[zone]), "records")
            }
        }
    }

    private mutating func accept(_ link: String) async throws {
        let answer = try await client.ask(ShareRequests.accept(link), "an acceptance")
        if answer.failureCodes.isEmpty { isOut = false }
    }

    /// A page of the feed. Who may not see the zone loses what it has of it.
    ///
    /// - Returns: whether there is more.
    private mutating func fetch(_ zone: Int) async throws -> Bool {
        let request = ShareRequests.page(of: zones[zone], after: replicas[zone].token, atMost: Self.pageCount)
        let answer = try await client.ask(request, "a page")
        if case .fetchZoneChanges(let page)? = answer.answer {
            replicas[zone].take(page)
            isOut = false
            return page.moreComing
        }
        let codes = answer.failureCodes
        // A guest who comes again begins anew.
        guard link != nil, codes == [.zoneNotFound] || codes == [.changeTokenExpired] else {
            throw NeverHappened(description: "a page for \(label): \(answer)")
        }
        replicas[zone] = Replica()
        isOut = codes == [.zoneNotFound]
        return codes == [.changeTokenExpired]
    }

    private mutating func save(_ zone: Int, _ random: inout SeededRandom) async throws {
        let name = "\(label)-\(random.below(Self.ownNameCount))"
        let request = try ShareRequests.saving([name], "\(random.next())", in: zones[zone], await client.stamp())
        let answer = try await client.ask(.modifyRecords(request), "a save")
        saved[zone][name] = answer.savedTags.first
        try check(answer)
    }

    private mutating func delete(_ zone: Int, _ random: inout SeededRandom) async throws {
        guard let name = saved[zone].keys.sorted().randomElement(using: &random) else { return }
        let request = ShareRequests.deleting([name], in: zones[zone], await client.stamp())
        let answer = try await client.ask(.modifyRecords(request), "a deletion")
        saved[zone][name] = nil
        try check(answer)
    }

    /// Nothing fails, but what a guest does without access.
    private func check(_ answer: WireServerEnvelope) throws {
        guard Set(answer.failureCodes).isSubset(of: link == nil ? [] : [.zoneNotFound]) else {
            throw NeverHappened(description: "a change by \(label): \(answer)")
        }
    }

    /// Comes, if the guest may, and fetches all that is there.
    mutating func settle(comes: Bool) async throws {
        if comes, let link {
            let answer = try await client.ask(ShareRequests.accept(link), "an acceptance")
            guard answer.failureCodes.isEmpty else { throw NeverHappened(description: "\(label) comes: \(answer)") }
        }
        for zone in zones.indices {
            // Bounded: no zone has so many changes.
            for _ in 0..<100_000 {
                guard try await fetch(zone) else { break }
            }
        }
    }
}
