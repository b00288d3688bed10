// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

/// A random history of one zone whose records are shared by their hierarchies. A server and the naive model live through it
/// together. What people are answered must be what the model says, and their devices must come to what it shows them.
struct HierarchyHistory {
    static let people = [NaiveHierarchies.owner, "bob", "carol", "dave"]
    private static let devicesOfEach = 3
    /// Records that live at once, so that each history has deep trees and many moves.
    private static let noteCountMax = 14

    private let world = SessionWorld()
    private var random: SeededRandom
    private(set) var model: NaiveHierarchies
    /// The users' record names.
    private var userNames: [String: String] = [:]
    private var replicas: [String: [HierarchyReplica]] = [:]
    private var watch = NameWatch()
    private var nameCount = 0
    private var textCount = 0
    /// What the owner was last told.
    private var tags: [String: [UInt8]] = [:]
    /// Of roots that were shared since the zone was made (R-306).
    private var links: [String: String] = [:]
    private var dead: [String] = []
    /// How often the set of shares changed in which each user takes part, or the zone began anew: their tokens expire with it.
    private var views: [String: Int] = [:]
    /// How often each user has lost their last share of the zone, or the zone ended.
    private var losses: [String: Int] = [:]
    /// How often each kind of answer was given.
    private(set) var tally: [String: Int] = [:]

    init(seed: UInt64, mistake: NaiveHierarchies.Mistake? = nil) throws {
        random = SeededRandom(seed: seed)
        model = NaiveHierarchies(mistake: mistake)
        for name in ["carol", "dave"] { world.issue(name) }
        for (index, person) in Self.people.enumerated() {
            for device in 0..<Self.devicesOfEach {
                let client = world.connect()
                let number = UInt64(10 * index + device + 1)
                guard case .hello(let hello)? = try client.ask(.hello(SessionWorld.hello(person, device: number)))
                else {
                    throw SessionWorld.Unexpected(nil)
                }
                userNames[person] = hello.userRecordName
                let isOwner = person == NaiveHierarchies.owner
                let size = UInt32.random(in: 1...20, using: &random)
                replicas[person, default: []].append(HierarchyReplica(client, pageSize: size, isOwner: isOwner))
            }
        }
        try client(NaiveHierarchies.owner).makeZone(HierarchyRequests.zoneName)
    }

    /// Does something, and says what is wrong then; nil: nothing is.
    mutating func step() throws -> String? {
        let before = model
        let difference = try act()
        for person in Self.people where before.parts(of: person) != model.parts(of: person) {
            views[person, default: 0] += 1
        }
        for person in Self.people where before.hasAccess(person) && !model.hasAccess(person) {
            losses[person, default: 0] += 1
        }
        watch.learn(model, Self.people)
        if let difference { return difference }
        for person in Self.people {
            for replica in replicas[person] ?? [] {
                if let name = watch.secret(in: replica.client, of: person) { return "\(person) was told of \(name)" }
            }
        }
        return nil
    }

    /// Each device reads to the end, and must have what the model shows its user.
    mutating func judge() throws -> String? {
        for person in Self.people {
            for device in 0..<Self.devicesOfEach {
                if let difference = try judge(person, device) { return difference }
            }
        }
        return nil
    }

    private mutating func judge(_ person: String, _ device: Int) throws -> String? {
        guard var replica = replicas[person]?[device] else { return nil }
        let fault = try replica.finish(inView: views[person] ?? 0, losses: losses[person] ?? 0)
        replicas[person]?[device] = replica
        if let fault { return "device \(device) of \(person): \(fault)" }
        if let name = watch.secret(in: replica.client, of: person) { return "\(person) was told of \(name)" }
        let expected = model.copies(for: person)
        guard replica.copies != expected else { return nil }
        let names = Set(replica.copies.keys).union(expected.keys).sorted()
        let differences = names.filter { replica.copies[$0] != expected[$0] }.map { name in
            "\(name): \(replica.copies[name].map { "\($0)" } ?? "absent"), not "
                + "\(expected[name].map { "\($0)" } ?? "absent")"
        }
        return "device \(device) of \(person), \(replica.pageSize) a page: \(differences.joined(separator: "; "))"
    }

    // MARK: Chance

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : random.pick(elements)
    }

    private mutating func note(_ what: String) { tally[what, default: 0] += 1 }

    /// Nobody hears of a name by chance.
    private mutating func newName() -> String {
        nameCount += 1
        return NameWatch.name(nameCount)
    }

    private mutating func newText() -> String {
        textCount += 1
        return "text \(textCount)"
    }

    // MARK: Asking

    private func client(_ person: String) throws -> TestClient {
        guard let client = replicas[person]?.first?.client else { throw SessionWorld.Unexpected(nil) }
        return client
    }

    private func zone(of person: String) -> WireZoneID {
        HierarchyRequests.zone(of: person == NaiveHierarchies.owner ? "" : userNames[NaiveHierarchies.owner] ?? "")
    }

    /// - Returns: the results in the order of the items.
    private mutating func modify(
        _ saves: [WireRecordSave] = [], deleting deletes: [String] = [], by person: String,
        policy: WireSavePolicy = .allKeys
    ) throws -> (saves: [WireSaveResult], deletes: [WireDeleteResult]) {
        let client = try client(person)
        let request = HierarchyRequests.modifying(
            zone(of: person), saves, deleting: deletes, policy: policy, client.stamp())
        let answer = try client.ask(request)
        guard case .modifyRecords(let records)? = answer, let part = records.zones.first,
            part.saves.count == saves.count, part.deletes.count == deletes.count
        else { throw SessionWorld.Unexpected(answer) }
        for (save, result) in zip(saves, part.saves) {
            if case .saved(let saved)? = result.result { tags[save.name] = saved.tag }
        }
        return (part.saves, part.deletes)
    }

    private static func code(_ result: WireSaveResult) -> WireErrorCode? {
        if case .failure(let failure)? = result.result { failure.failure.code } else { nil }
    }

    private static func code(_ result: WireDeleteResult) -> WireErrorCode? {
        if case .failure(let failure)? = result.result { failure.code } else { nil }
    }

    private func text(_ code: WireErrorCode?) -> String { code.map { "\($0)" } ?? "success" }

    private func check(_ what: String, _ code: WireErrorCode?, _ expected: NaiveHierarchies.Codes) -> String? {
        expected.contains(code) ? nil : "\(what): \(text(code)), not \(expected.map(text).sorted())"
    }

    // MARK: What people do

    private mutating func act() throws -> String? {
        switch Int.random(in: 0..<1_000, using: &random) {
        case ..<250: try saveNote(by: chance(60) ? NaiveHierarchies.owner : random.pick(Self.people))
        case ..<330: try deleteNotes()
        case ..<420: try shareNote()
        case ..<480: try changeShare()
        case ..<600: try accept()
        case ..<640: try leave()
        case ..<670: try endShare()
        case ..<675: try endZone()
        case ..<740: try lookUp()
        case ..<770: try query()
        case ..<970: try fetch()
        default: try judge(random.pick(Self.people), Int.random(in: 0..<Self.devicesOfEach, using: &random))
        }
    }

    /// One page for one device, so that fetches are cut by what others do.
    private mutating func fetch() throws -> String? {
        let person = random.pick(Self.people)
        let device = Int.random(in: 0..<Self.devicesOfEach, using: &random)
        guard var replica = replicas[person]?[device] else { return nil }
        let fault = try replica.step(inView: views[person] ?? 0, losses: losses[person] ?? 0)
        replicas[person]?[device] = replica
        return fault.map { "device \(device) of \(person): \($0)" }
    }

    private mutating func saveNote(by person: String) throws -> String? {
        let all = model.notes.keys.sorted()
        let seen = all.filter { model.mayRead(person, $0) }
        // Most people know what they see. Others try names that they were told.
        let living = seen.isEmpty || chance(30) ? all : seen
        let isNew = living.isEmpty || all.count < Self.noteCountMax && chance(45)
        // A deleted record may come again, in another place.
        let name = isNew ? (chance(85) ? newName() : pick(dead) ?? newName()) : random.pick(living)
        let isRoot = model.share(of: name) != nil
        // What becomes of the parent of a root is its owner's business.
        let parent = person == NaiveHierarchies.owner || !isRoot ? makeParent(of: name, living) : .unchanged
        // R-081 is not the question here.
        if case .set(let other) = parent, other == name || model.isAbove(name, other) { return nil }
        let tag = model.notes[name] != nil && chance(50) ? tags[name] ?? [] : []
        let text = newText()
        let before = model.notes[name]
        let save = try HierarchyRequests.note(name, text, parent, tag: tag)
        let expected = model.save(name, text, parent, isKnown: !tag.isEmpty, by: person)
        let policy: WireSavePolicy = tag.isEmpty ? .allKeys : .ifServerRecordUnchanged
        let code = Self.code(try modify([save], by: person, policy: policy).saves[0])
        note("save: \(self.text(code))")
        if before != nil, code == nil, parent != .unchanged { note("moved") }
        return check("\(person) saves \(name) \(parent)", code, expected)
    }

    private mutating func makeParent(of name: String, _ living: [String]) -> NaiveHierarchies.ParentEdit {
        let isNew = model.notes[name] == nil
        switch Int.random(in: 0..<100, using: &random) {
        case ..<(isNew ? 20 : 45): return .unchanged
        case ..<(isNew ? 20 : 55): return .removed
        case ..<60: return .set(dead.last ?? newName())
        default: return pick(living.filter { $0 != name }).map { .set($0) } ?? .unchanged
        }
    }

    private mutating func deleteNotes() throws -> String? {
        let roots = model.shares.values.map(\.root).sorted()
        guard let name = pick(chance(30) ? roots : model.notes.keys.sorted() + dead.suffix(3)) else { return nil }
        let person = chance(50) ? NaiveHierarchies.owner : random.pick(Self.people)
        // With all below it, or alone.
        let names = person == NaiveHierarchies.owner && chance(40) ? model.family(of: name).reversed() : [name]
        let before = model
        let expected = model.delete(Array(names), by: person)
        let results = try modify(deleting: Array(names), by: person).deletes.map(Self.code)
        for name in before.notes.keys where model.notes[name] == nil { dead.append(name) }
        for share in before.shares.keys where model.shares[share] == nil { tags[share] = nil }
        for (name, (code, codes)) in zip(names, zip(results, expected)) {
            note("delete: \(text(code))")
            if let fault = check("\(person) deletes \(name) of \(Array(names))", code, codes) { return fault }
        }
        return nil
    }

    // MARK: Shares

    private mutating func shareNote() throws -> String? {
        guard let root = chance(85) ? pick(model.notes.keys.sorted()) : newName() else { return nil }
        let (name, text) = (newName(), newText())
        // Of two mistakes the server tells one. Which, is not said.
        let withRoot = chance(90) || model.overlaps(root)
        let everybody: WireSharePermission = chance(50) ? .noAccess : random.pick([.readOnly, .readWrite])
        let invited = everybody == .noAccess ? makeInvited() : [:]
        let expected = model.share(
            root, as: name, text, withRoot: withRoot, everybody: everybody, inviting: invited)
        let share = HierarchyRequests.share(
            name, root: root, everybody, people: everybody == .noAccess ? people(invited) : nil)
        var saves = [share]
        if withRoot { saves.insert(try HierarchyRequests.note(root, text), at: chance(50) ? 0 : 1) }
        let results = try modify(saves, by: NaiveHierarchies.owner).saves
        let codes = results.map(Self.code)
        note("share: \(self.text(expected))")
        for (save, code) in zip(saves, codes) {
            let right = save.name == name ? expected : expected.map { _ in .batchRequestFailed }
            if code != right { return "sharing \(root): \(save.name) \(self.text(code)), not \(self.text(right))" }
        }
        guard expected == nil else {
            tags[name] = nil
            return nil
        }
        // R-306: the same root has the same URL.
        let link = try shareRecord(name).share.link
        if link.isEmpty { return "\(name) has no link" }
        if let known = links[root] {
            note("same link")
            if known != link { return "\(root) has another link" }
        }
        if links.contains(where: { $0.value == link && $0.key != root }) { return "two roots have one link" }
        links[root] = link
        return nil
    }

    private mutating func makeInvited() -> [String: Bool] {
        var invited: [String: Bool] = [:]
        for person in Self.people.dropFirst() where chance(60) { invited[person] = chance(60) }
        return invited
    }

    private func people(_ invited: [String: Bool]) -> [(number: UInt8, user: String, mayWrite: Bool)] {
        Self.people.enumerated().compactMap { index, person in
            invited[person].map { (number: UInt8(index + 1), user: userNames[person] ?? "", mayWrite: $0) }
        }
    }

    /// As the owner is shown it.
    private mutating func shareRecord(_ name: String) throws -> WireRecord {
        let client = try client(NaiveHierarchies.owner)
        let answer = try client.ask(ShareRequests.records([name], in: HierarchyRequests.zone()))
        guard case .fetchRecords(let found)? = answer, case .record(let record)? = found.results.first?.result else {
            throw SessionWorld.Unexpected(answer)
        }
        tags[name] = record.tag
        return record
    }

    private mutating func changeShare() throws -> String? {
        guard let name = pick(model.shares.keys.sorted()), let party = model.shares[name] else { return nil }
        let tag = try shareRecord(name).tag
        let save: WireRecordSave
        if party.everybody == .noAccess, chance(70) {
            let invited = makeInvited()
            model.invite(invited, to: name)
            // The ID of somebody who takes part is the server's.
            save = HierarchyRequests.share(name, people: people(invited), tag: tag)
        } else {
            let permission: WireSharePermission = random.pick([.noAccess, .readOnly, .readWrite])
            model.publish(name, permission)
            save = HierarchyRequests.share(name, permission, tag: tag)
        }
        let code = Self.code(try modify([save], by: NaiveHierarchies.owner).saves[0])
        note("change of a share: \(text(code))")
        return check("the owner changes \(name)", code, [nil])
    }

    private mutating func accept() throws -> String? {
        guard let root = pick(links.keys.sorted()), let link = links[root] else { return nil }
        let person = random.pick(Self.people)
        let share = model.share(of: root)
        let expected = model.accept(root, by: person)
        let answer = try client(person).ask(ShareRequests.accept(link))
        guard case .acceptShares(let results)? = answer, let result = results.results.first else {
            throw SessionWorld.Unexpected(answer)
        }
        var code: WireErrorCode?
        if case .failure(let failure)? = result.result { code = failure.code }
        note("accept: \(text(code))")
        if let fault = check("\(person) accepts \(root)", code, [expected]) { return fault }
        guard expected == nil else { return nil }
        // R-315.
        return result.metadata.root == root && result.metadata.share.name == share
            ? nil : "\(person) accepted \(result.metadata.root) in \(result.metadata.share.name)"
    }

    private mutating func leave() throws -> String? {
        let guests = Self.people.dropFirst().filter { person in model.shares.keys.contains { model.isIn(person, $0) } }
        guard let person = pick(Array(guests)),
            let share = pick(model.shares.keys.filter { model.isIn(person, $0) }.sorted())
        else { return nil }
        guard chance(70) else {
            model.leaveAll(by: person)
            try client(person).leave(zone(of: person))
            note("left all")
            return nil
        }
        model.leave(share, by: person)
        let code = Self.code(try modify(deleting: [share], by: person).deletes[0])
        note("left one")
        return check("\(person) leaves \(share)", code, [nil])
    }

    /// R-326: with the root in the same request, or alone.
    private mutating func endShare() throws -> String? {
        guard let name = pick(model.shares.keys.sorted()), let root = model.shares[name]?.root else { return nil }
        model.end(name)
        var saves: [WireRecordSave] = []
        if chance(50) {
            let text = newText()
            _ = model.save(root, text, .unchanged, by: NaiveHierarchies.owner)
            saves = [try HierarchyRequests.note(root, text)]
        }
        // R-326: the root has a new version then.
        (tags[name], tags[root]) = (nil, nil)
        let results = try modify(saves, deleting: [name], by: NaiveHierarchies.owner)
        note("share ended")
        return check("the share of \(root) ends", Self.code(results.deletes[0]), [nil])
            ?? results.saves.first.flatMap { check("its root is saved", Self.code($0), [nil]) }
    }

    private mutating func endZone() throws -> String? {
        let owner = try client(NaiveHierarchies.owner)
        model.endZone()
        (tags, links, dead) = ([:], [:], [])
        // R-036: also the owner's tokens are of the zone that was.
        views[NaiveHierarchies.owner, default: 0] += 1
        losses[NaiveHierarchies.owner, default: 0] += 1
        try owner.deleteZone(HierarchyRequests.zoneName)
        try owner.makeZone(HierarchyRequests.zoneName)
        note("zone ended")
        return nil
    }

    // MARK: What people read

    private mutating func lookUp() throws -> String? {
        let person = random.pick(Self.people)
        let all = model.notes.keys.sorted() + model.shares.keys.sorted() + dead.suffix(2)
        let names = all.filter { _ in chance(40) }
        guard !names.isEmpty else { return nil }
        let client = try client(person)
        let answer = try client.ask(ShareRequests.records(names, in: zone(of: person)))
        guard case .fetchRecords(let found)? = answer, found.results.count == names.count else {
            throw SessionWorld.Unexpected(answer)
        }
        let copies = model.copies(for: person)
        for (name, result) in zip(names, found.results) {
            switch result.result {
            case .record(let record)? where copies[name] == HierarchyReplica.Copy(record) && record.name == name:
                note("look-up: found")
            case .failure(let failure)? where copies[name] == nil:
                let expected: WireErrorCode = model.hasAccess(person) ? .unknownItem : .zoneNotFound
                note("look-up: \(failure.code)")
                if failure.code != expected { return "\(person) looks up \(name): \(failure.code), not \(expected)" }
            default: return "\(person) looks up \(name): \(result), not \(copies[name].map { "\($0)" } ?? "nothing")"
            }
        }
        return nil
    }

    private mutating func query() throws -> String? {
        let person = random.pick(Self.people)
        let client = try client(person)
        var (cursor, names): ([UInt8], [String]) = ([], [])
        // Bounded: there are not so many records.
        for _ in 0..<100 {
            let limit = UInt32.random(in: 1...5, using: &random)
            switch try client.ask(ShareRequests.notes(in: zone(of: person), after: cursor, atMost: limit)) {
            case .queryRecords(let page)?:
                names += page.matches.map(\.record.name)
                cursor = page.cursor
            case .failure(let failure)?:
                note("query: \(failure.code)")
                if failure.code == .zoneNotFound, !model.hasAccess(person) { return nil }
                // R-171: nobody has saved a record yet.
                let isTypeKnown = tally["save: success"] != nil || tally["share: success"] != nil
                return failure.code == .unknownItem && !isTypeKnown ? nil : "\(person) queries: \(failure.code)"
            case let answer: throw SessionWorld.Unexpected(answer)
            }
            guard !cursor.isEmpty else { break }
        }
        note("query: found")
        let expected = model.visible(to: person).filter { model.notes[$0] != nil }
        return names.sorted() == expected.sorted() && model.hasAccess(person)
            ? nil : "\(person) finds \(names.sorted()), not \(expected.sorted())"
    }
}
