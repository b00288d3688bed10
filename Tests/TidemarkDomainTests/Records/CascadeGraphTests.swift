// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkTestSupport

/// References between records, and what is deleted with what (R-076 … … R-137).
@Suite struct CascadeGraphTests {
    /// A record that goes with each of `targets`, in fields of its own or in one list.
    private func holder(_ name: String, _ targets: [String], inList: Bool = false, parent: ParentChange = .unchanged)
        -> RecordSave
    {
        let references = targets.map { FieldReference(recordName: $0, action: .deleteSelf) }
        var all = [Field("number", .int64(1))]
        if inList {
            all.append(Field("all", .references(references)))
        } else {
            all += references.enumerated().map { Field("to\($0)", .reference($1)) }
        }
        return save(name, type: "Holder", map(all), parent: parent)
    }

    private func map(_ fields: [Field]) -> FieldMap {
        do { return try FieldMap(fields) } catch { preconditionFailure("\(error)") }
    }

    /// - Parameter graph: `a>b c` is a record a that goes with b and with c.
    private func zone(_ graph: [String], inLists: Bool = false) -> TestZone {
        var zone = TestZone()
        for line in graph {
            let parts = line.split(separator: ">").map(String.init)
            let targets = parts.count > 1 ? parts[1].split(separator: " ").map(String.init) : []
            zone.save(holder(parts[0], targets, inList: inLists))
        }
        return zone
    }

    private func living(_ zone: TestZone) -> String {
        zone.records.values.filter { !$0.isDeleted }.map(\.name).sorted().joined(separator: " ")
    }

    @Test(
        arguments: [
            // The graph, what is deleted, what is left.
            (["t", "a>t", "b"], ["t"], "b"), (["t", "a>t", "b>a", "c>b", "d"], ["t"], "d"),
            // Any one target suffices.
            (["t", "u", "a>t u"], ["t"], "u"), (["t", "u", "a>t u"], ["u"], "t"),
            // Cycles end, also of a record with itself.
            (["a>b", "b>c", "c>a", "d"], ["b"], "d"), (["a>a", "b"], ["a"], "b"), (["a>b", "b>a", "c>a b"], ["a"], ""),
            // What is not referred to goes alone.
            (["t", "a>t"], ["a"], "t"), (["t", "a>t", "b>t"], ["a", "t"], ""), (["a>none", "b"], ["b"], "a"),
            (["t", "a>t", "u", "b>u"], ["t", "u"], ""),
        ] as [([String], [String], String)])
    func `R-133: a deletion takes along what refers to it, and what refers to that`(
        graph: [String], deletes: [String], left: String
    ) {
        for inLists in [false, true] {
            for atomic in [false, true] {
                var zone = zone(graph, inLists: inLists)
                let result = zone.run(zone.request(deletes: deletes, atomic: atomic))
                // the others are not in the results.
                #expect(result.reasons == deletes.map { _ in nil }, "\(graph)")
                #expect(living(zone) == left, "\(graph)")
                #expect(zone.references.allSatisfy { zone.living($0.holder) != nil }, "\(graph)")
            }
        }
    }

    @Test func `R-135: what goes along is in the feed as deletions with their types, after what took it along`() {
        var zone = zone(["t", "a>t", "b>a"])
        let result = zone.run(zone.request(deletes: ["t"], atomic: true, device: laptop, user: bob), now: 7_000)
        #expect(result.reasons == [nil])
        let tombstones = zone.records.values.sorted { $0.changeNumber < $1.changeNumber }
        #expect(tombstones.map(\.name) == ["t", "a", "b"])
        #expect(tombstones.map(\.changeNumber) == [4, 5, 6])
        // I-3: they belong to the batch that deleted the first.
        #expect(tombstones.allSatisfy { $0.batchEnd == 6 && $0.isDeleted && $0.type == "Holder" && $0.fields.isEmpty })
        #expect(tombstones.allSatisfy { $0.createdBy == alice && $0.modifiedBy == bob && $0.modifiedAt >= 7_000 })
        let page = ZonePage.make(
            of: zone.read(query(zone)), for: query(zone), store: store)
        #expect((try? page.get())?.entries.map(\.name) == ["t", "a", "b"])
    }

    private func query(_ zone: TestZone) -> ZonePageQuery {
        ZonePageQuery(
            key: zone.key, after: .init(zone: ZoneID(70), number: 3), recordsMax: 10, bytesMax: 1_000, device: laptop,
            reader: nil, tombstonesPassedMax: 0)
    }

    @Test func `R-077, R-078: the target of a reference need not exist, and a reference without deleteSelf stays`() {
        var zone = TestZone()
        let loose = FieldReference(recordName: "t")
        let sent = save("a", map([Field("to", .reference(loose)), Field("more", .references([loose]))]))
        #expect(zone.save(sent, holder("b", ["nowhere"])).reasons == [nil, nil])
        #expect(zone.save(save("t")).reasons == [nil])
        #expect(zone.delete("t").reasons == [nil])
        #expect(zone.living("a")?.fields == sent.fields)
        #expect(living(zone) == "a b")
        #expect(zone.references == [HeldReference(holder: "b", target: "nowhere")])
    }

    @Test func `R-076: a reference to another zone fails its record, whatever its action, alone or in a list`() {
        let zone = FieldReference.Zone(name: "Other", ownerName: "__defaultOwner__")
        for action in [FieldReference.Action.none, .deleteSelf] {
            let reference = FieldReference(recordName: "t", zone: zone, action: action)
            for value in [FieldValue.reference(reference), .references([.init(recordName: "x"), reference])] {
                var zone = TestZone()
                let result = zone.save(save("a", map([Field("to", value)])), save("b"))
                #expect(result.reasons == [.referenceElsewhere, nil])
            }
        }
    }

    @Test func `R-731: a record has so many references with deleteSelf, and no more, however they came`() {
        var zone = TestZone()
        zone.limits.targetsMax = 3
        #expect(
            zone.save(holder("a", ["t", "u", "v"]), holder("b", ["t", "u", "v", "w"])).reasons == [
                nil, .tooManyTargets,
            ])
        // One target counts once.
        #expect(zone.save(holder("b", ["t", "t", "t", "t"])).reasons == [nil])
        // Of the record as it would be.
        let more = save(
            "a", type: "Holder", map([Field("more", .reference(.init(recordName: "w", action: .deleteSelf)))]))
        #expect(zone.save(more, policy: .changedKeys).reasons == [.tooManyTargets])
        let other = save("a", type: "Holder", map([Field("more", .reference(.init(recordName: "w")))]))
        #expect(zone.save(other, policy: .changedKeys).reasons == [nil])
        // From a server without the limit: other fields can be changed, and targets can go.
        zone.limits.targetsMax = 2
        let title = save("a", type: "Holder", map([Field("title", .string("x"))]))
        #expect(zone.save(title, policy: .changedKeys).reasons == [nil])
        #expect(zone.save(more, policy: .changedKeys).reasons == [.tooManyTargets])
        #expect(zone.save(holder("a", ["t", "u", "x"]), policy: .allKeys).reasons == [.tooManyTargets])
        let fewer = save("a", type: "Holder", map([Field("to0", .removed)]))
        #expect(zone.save(fewer, policy: .changedKeys).reasons == [nil])
    }

    @Test func `R-079: so many records may refer to one with deleteSelf, and no more`() {
        var zone = TestZone()
        zone.limits.referencesMax = 3
        #expect(zone.save(holder("a", ["t"]), holder("b", ["t", "u"]), holder("c", ["t"])).reasons == [nil, nil, nil])
        #expect(zone.save(holder("d", ["t"]), holder("e", ["u"])).reasons == [.tooManyReferences, nil])
        // Who refers already is not counted twice; who stops makes room, also in the same request.
        #expect(zone.save(holder("a", ["t"]), policy: .changedKeys).reasons == [nil])
        let request = zone.request(
            saves: [save("a", type: "Holder", map([Field("to0", .removed)])), holder("d", ["t"]), holder("f", ["t"])],
            policy: .changedKeys)
        #expect(zone.run(request).reasons == [nil, nil, .tooManyReferences])
        zone.delete("b")
        #expect(zone.save(holder("f", ["t"])).reasons == [nil])
        // In a group the later request sees what the earlier one took.
        let group = ["g", "h", "i"].map { zone.request(saves: [holder($0, ["u"])]) }
        #expect(zone.run(group).map(\.reasons) == [[nil], [nil], [.tooManyReferences]])
        // References without the action are not counted.
        let loose = Field("to", .reference(FieldReference(recordName: "t")))
        #expect(zone.save(save("z", map([loose]))).reasons == [nil])
    }

    @Test func `R-119, R-133: a request's saves come before its deletes`() {
        // It refers to the deleted record afterwards: saved, then deleted.
        var moved = zone(["t", "u"])
        let doomed = moved.run(moved.request(saves: [holder("a", ["t"])], deletes: ["t"], atomic: true))
        #expect(doomed.reasons == [nil, nil])
        #expect(living(moved) == "u")
        #expect(moved.records["a"]?.isDeleted == true)
        // It does not refer to it any more: it stays.
        var saved = zone(["t", "u", "a>t"])
        let kept = saved.run(saved.request(saves: [holder("a", ["u"])], deletes: ["t"], policy: .changedKeys))
        #expect(kept.reasons == [nil, nil])
        #expect(living(saved) == "a u")
        #expect(saved.references == [HeldReference(holder: "a", target: "u")])
    }

    @Test func `R-136, R-137: what goes along must not leave a child behind`() {
        var zone = zone(["t", "a>t", "u"])
        zone.save(save("child", parent: .set("a")))
        #expect(zone.delete("t").reasons == [.stillParent])
        #expect(zone.run(zone.request(deletes: ["t", "u"])).reasons == [.stillParent, nil])
        #expect(living(zone) == "a child t")
        // With the child in the request, or the child going along as well.
        var both = zone
        #expect(both.run(both.request(deletes: ["child", "t"])).reasons == [nil, nil])
        #expect(living(both) == "")
        let reference = Field("to", .reference(FieldReference(recordName: "t", action: .deleteSelf)))
        #expect(zone.save(save("child", map([reference])), policy: .changedKeys).reasons == [nil])
        #expect(zone.run(zone.request(deletes: ["t"])).reasons == [nil])
        #expect(living(zone) == "")
    }

    @Test func `R-133: a group of requests is decided as one after another`() {
        var zone = zone(["t", "k>h", "h"])
        let group = [
            // h, which something refers to already, is made to refer to t …
            zone.request(saves: [holder("h", ["t"])], policy: .changedKeys),
            zone.request(saves: [holder("n", ["k"])]),
            // … so that this takes h along, k, and what has just been made.
            zone.request(deletes: ["t"]),
            zone.request(saves: [save("n", tag: .foreign)]),
        ]
        #expect(zone.run(group).map(\.reasons) == [[nil], [nil], [nil], [.recordMissing]])
        #expect(living(zone) == "")
        #expect(zone.references.isEmpty)
    }

    @Test func `R-133: a cascade of more than may be followed is refused, and what may have holders waits`() {
        var zone = zone(["t", "a>t", "alone"])
        let request = zone.request(deletes: ["t", "alone"])
        var snapshot = zone.snapshot(for: request.read(within: Limits()))
        snapshot.isCascadeCut = true
        let overlay = ZoneOverlay(snapshot: snapshot, store: store, limits: Limits())
        #expect(overlay.apply(request, now: 1).reasons == [.cascadeTooLarge, .tooMuchAtOnce])
        // Nobody counts how many more there are.
        #expect(
            FailureReason.cascadeTooLarge.text(within: Limits()).hasSuffix(
                "The limit is 50000 references or children per deletion."))
    }

    @Test func `R-728: deletions of which each keeps another from being deleted are not visited for ever`() {
        var zone = TestZone()
        let line = (1...6).map { "p\($0)" }
        for (parent, child) in zip(line, line.dropFirst() + ["child"]) {
            zone.save(save(parent), save(child, parent: .set(parent)), policy: .changedKeys)
        }
        #expect(zone.run(zone.request(deletes: line)).reasons == line.map { _ in .stillParent })
        // Six are visited, then five, then four.
        zone.limits.cascadeReferencesMax = 1
        #expect(
            zone.run(zone.request(deletes: line)).reasons
                == Array(repeating: .cascadeTooLarge, count: 4) + [.stillParent, .stillParent])
        #expect(zone.run(zone.request(deletes: ["p4"])).reasons == [.stillParent], "in parts")
        #expect(zone.run(zone.request(deletes: line + ["child"])).reasons == (line + ["child"]).map { _ in nil })
    }

    @Test func `saves of records without deleteSelf references ask and write nothing about them`() {
        var zone = zone(["t", "a>t"])
        let request = zone.request(
            saves: [save("p"), save("a", type: "Holder", fields(["number": 2]))], policy: .changedKeys)
        let read = request.read(within: Limits())
        #expect(read.holderNames.isEmpty && read.referenceTargets.isEmpty && read.cascadeRoots.isEmpty)
        let overlay = ZoneOverlay(snapshot: zone.snapshot(for: read), store: store, limits: Limits())
        #expect(overlay.apply(request, now: 1).reasons == [nil, nil])
        #expect(overlay.changes?.references.isEmpty == true)
    }

    /// Random graphs and requests, decided in groups, against a model that knows only records.
    @Test(arguments: 0..<60 as Range<UInt64>)
    func `R-133: what is left is what the model leaves, in groups or one by one`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var grouped = TestZone()
        var single = TestZone()
        var model: [String: Set<String>] = [:]
        let names = (0..<8).map { "r\($0)" }
        for _ in 0..<12 {
            var requests: [RecordsRequest] = []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let shuffled = names.shuffled(using: &random)
                let saves = shuffled.prefix(Int.random(in: 0...3, using: &random)).map { name in
                    holder(
                        name, Array(names.shuffled(using: &random).prefix(Int.random(in: 0...2, using: &random))),
                        inList: true)
                }
                let deletes = Array(shuffled.suffix(Int.random(in: 0...2, using: &random)))
                requests.append(grouped.request(saves: saves, deletes: deletes, policy: .changedKeys))
                for save in saves { model[save.name] = save.fields.deleteSelfTargets }
                var waiting = deletes.filter { model[$0] != nil }
                while let name = waiting.popLast() {
                    model[name] = nil
                    waiting += model.filter { $0.value.contains(name) }.keys
                }
            }
            let outcomes = grouped.run(requests)
            #expect(outcomes == requests.map { single.run($0) }, "seed \(seed)")
            #expect(living(grouped) == model.keys.sorted().joined(separator: " "), "seed \(seed)")
            #expect(grouped.records == single.records, "seed \(seed)")
            let held = model.flatMap { holder, targets in targets.map { HeldReference(holder: holder, target: $0) } }
            #expect(grouped.references == Set(held), "seed \(seed)")
        }
    }
}
