// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@Suite struct ChangedTypesTests {
    private static func changes(
        _ types: [String], replacing replaced: [String] = [], seen: [String] = []
    ) -> ZoneChanges {
        ZoneChanges(
            database: database, zone: ZoneID(1), changeNumber: 9,
            records: types.map { QueryIndexTests.record(type: $0) },
            replaced: replaced.map { QueryIndexTests.record(type: $0) }, memories: [:], clientTokensMax: 1,
            shareRecords: seen.map {
                ShareRecord(share: ShareNumber(1), name: "r", type: $0, number: 9, enteredNumber: 9, hasLeft: false)
            })
    }

    private static func types(_ names: String...) -> ChangedTypes { ChangedTypes(of: changes(names)) }

    @Test func `R-262: the types of a commit are those of the versions before and after, and of what others see anew`()
    {
        let types = ChangedTypes(
            of: Self.changes(["Note", "Task", "Note"], replacing: ["Note", "Old"], seen: ["Photo"]))
        for type in ["Note", "Task", "Old", "Photo"] { #expect(types.mayInclude(type)) }
        for type in ["", "note", "Other"] { #expect(!types.mayInclude(type)) }
        #expect(types.byteCount == "NoteTaskOldPhoto".utf8.count)
        #expect(ChangedTypes(of: Self.changes([])) == .none && !ChangedTypes.none.mayInclude("Note"))
    }

    @Test func `R-262, I-7: of more types than are kept any may have changed, and that stays so`() {
        let names = (0..<8).map { "T\($0)" }
        var types = ChangedTypes(of: Self.changes(names))
        #expect(types.mayInclude("T7") && !types.mayInclude("T8"))
        types.formUnion(Self.types("T3"))
        #expect(!types.mayInclude("T8"), "none is new")
        types.formUnion(Self.types("T8"))
        #expect(types == .any && types.mayInclude("Note") && types.byteCount == 0)
        types.formUnion(Self.types("Note"))
        types.formUnion(.none)
        #expect(types == .any)
        #expect(ChangedTypes(of: Self.changes(names + ["T8"])) == .any)
        #expect(ChangedTypes(of: Self.changes(names, replacing: ["T8"])) == .any)
        #expect(ChangedTypes(of: Self.changes(names, seen: ["T8"])) == .any)
        var none = ChangedTypes.none
        none.formUnion(Self.types("Note"))
        #expect(none == Self.types("Note"))
    }

    /// Every combination of what a zone or database subscription may look at with what may have moved.
    @Test func `R-247, R-262: which zones a push names, by the record type of the subscription`() {
        let changed: [(what: String, types: ChangedTypes?, hasNote: Bool)] = [
            ("not known", nil, true), ("any", .any, true), ("nothing", ChangedTypes.none, false),
            ("a task", Self.types("Task"), false), ("a note", Self.types("Note"), true),
            ("both", Self.types("Task", "Note"), true),
        ]
        for first in changed {
            for second in changed {
                let known = ["Notes": first.types, "Other": second.types].compactMapValues(\.self)
                for isNarrowed in [false, true] {
                    let type = isNarrowed ? "Note" : nil
                    let ofDatabase = Subscription(
                        id: "d", scope: .private, kind: .database, recordType: type, notificationInfo: [])
                    let ofZone = Subscription(
                        id: "z", scope: .private, kind: .recordZone, recordType: type, zoneName: "Notes",
                        notificationInfo: [])
                    #expect(ofDatabase.isNarrowed == isNarrowed && ofZone.isNarrowed == isNarrowed)
                    let inNotes = !isNarrowed || first.hasNote
                    let inOther = !isNarrowed || second.hasNote
                    let named = (inNotes ? ["Notes"] : []) + (inOther ? ["Other"] : [])
                    let all = ["Notes", "Other"]
                    let text: Comment = "\(first.what), \(second.what), \(isNarrowed)"
                    #expect(ofDatabase.zonesPushed(ofMoved: all, types: known) == (named.isEmpty ? nil : named), text)
                    #expect(ofZone.zonesPushed(ofMoved: all, types: known) == (inNotes ? ["Notes"] : nil), text)
                    #expect(ofZone.zonesPushed(ofMoved: ["Other"], types: known) == nil, text)
                    // Anything may have changed.
                    #expect(ofDatabase.zonesPushed(ofMoved: [], types: known) == [], text)
                    #expect(ofZone.zonesPushed(ofMoved: [], types: known) == ["Notes"], text)
                }
            }
        }
    }

    @Test func `R-247, R-262: a new zone has no records, and one that has ended may have had any`() {
        let narrowed = Subscription(
            id: "d", scope: .private, kind: .database, recordType: "Note", notificationInfo: [])
        #expect(narrowed.zonesPushed(ofMoved: [""], types: ["": .none]) == nil)
        #expect(narrowed.zonesPushed(ofMoved: [""]) == [])
        #expect(narrowed.zonesPushed(ofMoved: ["", "Notes"], types: ["": .none]) == ["Notes"])
        #expect(narrowed.zonesPushed(ofMoved: ["", "Notes"], types: ["Notes": .none]) == [])
        // A query subscription has a record type of its own, and never fires on zones.
        let query = watching("q").subscription
        #expect(!query.isNarrowed && query.zonesPushed(ofMoved: ["Notes"], types: ["Notes": Self.types("Item")]) == nil)
    }
}
