// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkTestSupport

/// Long histories of saves, moves, deletes and shares, against a model that walks up the parents each time.
struct HierarchiesHistoryTests {
    private static let users = [UserID(2), UserID(3), UserID(4)]
    private static let names = (0..<14).map { "r\($0)" }

    @Test func `R-980: covers, rights and replicas are those of the model after each step`() throws {
        let histories = RandomHistories(of: "covers of hierarchies", stepCount: 150, count: 40)
        for seed in histories.seeds { try live(SeededRandom(seed: seed), histories.stepCount) }
    }

    private func live(_ random: SeededRandom, _ stepCount: Int) throws {
        var random = random
        var zone = TestZone.ofHierarchies()
        var replicas = Self.users.map { _ in Replica() }
        for step in 0..<stepCount {
            Self.act(on: &zone, &random)
            try #require(zone.wronglyCovered == [], "seed \(random.seed), step \(step)")
            try #require(
                zone.zone?.hasHierarchies == zone.sharing.hasHierarchies, "seed \(random.seed), step \(step)")
            for (user, index) in zip(Self.users, Self.users.indices) where Int.random(in: 0..<3, using: &random) == 0 {
                try replicas[index].fetch(from: zone, as: user, limit: Int.random(in: 1...5, using: &random))
                try #require(
                    replicas[index].records == Self.visible(to: user, in: zone),
                    "seed \(random.seed), step \(step), user \(user.rawValue)")
            }
        }
    }

    /// What the model shows a user: names and versions. Tokens may be older than the end of all shares, and than a share of the
    /// whole zone.
    private static func visible(to user: UserID, in zone: TestZone) -> [String: ChangeNumber] {
        let access = ShareAccess(of: user, in: zone.sharing)
        var visible: [String: ChangeNumber] = [:]
        for record in zone.records.values where !record.isDeleted {
            if access.readsEverything {
                visible[record.name] = record.changeNumber
                continue
            }
            guard let root = zone.rootByWalking(record.name), let share = zone.sharing.hierarchy(rootNamed: root),
                access.hierarchies.contains(share.number)
            else { continue }
            visible[record.name] = record.changeNumber
        }
        return visible
    }

    /// What a device has.
    private struct Replica {
        var token: [UInt8] = []
        var records: [String: ChangeNumber] = [:]

        mutating func fetch(from zone: TestZone, as user: UserID, limit: Int) throws {
            while true {
                switch zone.page(for: user, after: token, limit: limit) {
                case .failure(.zoneNotFound): return self = Replica()
                case .failure(.tokenExpired): self = Replica()
                case .failure(let reason): throw reason
                case .success(let page):
                    for entry in page.entries {
                        records[entry.name] = entry.isDeleted ? nil : entry.changeNumber
                    }
                    token = page.token.bytes
                    if !page.moreComing { return }
                }
            }
        }
    }

    private static func act(on zone: inout TestZone, _ random: inout SeededRandom) {
        func any() -> String { names[Int.random(in: 0..<names.count, using: &random)] }
        let writer = Int.random(in: 0..<3, using: &random) == 0 ? users[Int.random(in: 0..<3, using: &random)] : alice
        let name = any()
        switch Int.random(in: 0..<15, using: &random) {
        case 0...3:
            let parent: ParentChange = Int.random(in: 0..<4, using: &random) == 0 ? .removed : .set(any())
            let tag = zone.living(name).flatMap { zone.tag($0.name) }
            let value = Int64.random(in: 0..<9, using: &random)
            zone.ask(writer, save(name, tag: tag, fields(["k": value]), parent: parent), policy: .changedKeys)
        case 4:
            let other = any()
            guard other != name else { return }
            zone.ask(
                writer, save(name, parent: .set(other)), save(other, parent: .set(any())), policy: .changedKeys,
                atomic: Bool.random(using: &random))
        case 5: zone.ask(writer, save(name, fields(["k": 7])), policy: .changedKeys)
        case 6: zone.ask(writer, deleting: [name])
        case 7, 8:
            guard zone.living(name) != nil else { return }
            zone.share(name, as: "S" + name, with: users[Int.random(in: 0..<3, using: &random)])
        case 9:
            guard let share = zone.sharing.hierarchies.randomElement(using: &random) else { return }
            zone.ask(writer, deleting: [share.recordName])
        case 10:
            guard let share = zone.sharing.hierarchies.randomElement(using: &random) else { return }
            let user = users[Int.random(in: 0..<3, using: &random)]
            let tag = zone.tag(share.recordName)
            zone.ask(alice, hierarchySave(share.recordName, root: nil, tag: tag, [guest(user)]))
            zone.accept(user, shareNamed: share.recordName)
        case 11: zone.act(.leave(users[Int.random(in: 0..<3, using: &random)]))
        case 12:
            // while hierarchies are shared that is refused.
            let user = users[Int.random(in: 0..<3, using: &random)]
            zone.share(with: [guest(user)])
            zone.accept(user)
        case 13: zone.ask(alice, deleting: [Share.zoneWideName])
        default:
            // All shares end from time to time, so that the zone is one without any.
            if Int.random(in: 0..<4, using: &random) == 0 { zone.act(.end) }
        }
    }
}
