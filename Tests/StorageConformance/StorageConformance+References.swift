// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkService

extension StorageConformance {
    static let references: [Scenario] = [
        Scenario("R-081: the ancestors of new parents are read, up to the last, and a cycle ends") { store in
            let key = try await store.referenceZones()[0]
            try await store.writeHolders(
                [
                    RecordDraft("a", parent: "b"), RecordDraft("b", parent: "c"), RecordDraft("c", parent: "d"),
                    RecordDraft("d"), RecordDraft("x", parent: "y"), RecordDraft("y", parent: "x"),
                    RecordDraft("gone", isDeleted: true),
                ], in: key)
            func ancestors(of names: String...) async throws -> [String: String] {
                let read = ZoneRead(
                    key: key, recordNames: ["b"], parentNames: [], newParentNames: names, lives: [])
                return try await store.peek([read])[0].records.mapValues { $0.parent ?? "" }
            }
            try expectEqual(try await ancestors(of: "a"), ["a": "b", "b": "c", "c": "d", "d": ""], "the whole line")
            try expectEqual(
                try await ancestors(of: "never", "x"), ["b": "c", "x": "y", "y": "x"], "each record once")
        },
        Scenario("R-133: all that a deletion may reach is read, with its children, and cycles end") { store in
            let keys = try await store.referenceZones()
            try await store.writeHolders(
                ["t", "a", "b", "c", "x"].map { RecordDraft($0, text: "of \($0)") } + [RecordDraft("k", parent: "b")],
                in: keys[0], references: [("a", "t"), ("b", "a"), ("c", "b"), ("a", "c"), ("x", "none")])
            try await store.writeHolders([RecordDraft("o")], in: keys[1], references: [("o", "t")])
            let snapshots = try await store.peek([
                keys[0].cascade(deleting: ["t"], records: ["t", "b"]), keys[1].cascade(deleting: ["a"]),
            ])
            let holders = snapshots[0].holders.mapValues { $0.sorted() }
            try expectEqual(holders, ["t": ["a"], "a": ["b"], "b": ["c"], "c": ["a"]], "who goes with whom")
            try expectEqual(snapshots[0].children.filter { !$0.value.isEmpty }, ["b": ["k"]], "whose parent they are")
            try expectEqual(
                Set(snapshots[0].records.keys), ["t", "a", "b", "c"], "the records that are named or reached")
            try expectEqual(
                snapshots[0].records["a"]?.fields.isEmpty, true, "what is only reached comes without fields")
            let unread = snapshots[0].unread
            try expectEqual(Set(unread.keys), ["a", "c"], "which is said")
            try expect(unread.values.allSatisfy { $0 > 0 } && unread["a"] == unread["c"], "with how much they are")
            try expectEqual(snapshots[0].records["b"]?.fields.isEmpty, false, "what is named comes with them")
            try expectEqual(snapshots[0].records["a"]?.changeNumber, 2, "and with everything else")
            try expect(!snapshots[0].isCascadeCut, "it is all of it")
            for (followedMax, isCut) in [(4, false), (3, true)] {
                let read = keys[0].cascade(deleting: ["t"], followedMax: followedMax)
                try expectEqual(try await store.peek([read])[0].isCascadeCut, isCut, "of 4 references \(followedMax)")
            }
            try expect(snapshots[1].holders.isEmpty, "another zone's references are its own")
        },
        Scenario("R-776: no more ancestors and references are read than the read allows, and it is said") { store in
            let key = try await store.referenceZones()[0]
            try await store.writeHolders(
                [
                    RecordDraft("a"), RecordDraft("b", parent: "a"), RecordDraft("c", parent: "b"),
                    RecordDraft("d", parent: "c"), RecordDraft("h"), RecordDraft("i"),
                ], in: key, references: [("h", "a"), ("i", "h")])
            func areCut(_ read: ZoneRead, relativesMax: Int) async throws -> [Bool] {
                var read = read
                read.relativesMax = relativesMax
                let snapshot = try await store.peek([read])[0]
                return [snapshot.areAncestorsCut, snapshot.isCascadeCut, snapshot.areRelativesCut]
            }
            let parents = ZoneRead(
                key: key, recordNames: ["d"], parentNames: [], newParentNames: ["d"], lives: [])
            try expectEqual(try await areCut(parents, relativesMax: 3), [false, false, false], "three ancestors")
            try expectEqual(try await areCut(parents, relativesMax: 2), [true, false, true], "one too many")
            let cascade = key.cascade(deleting: ["a"], records: ["a"])
            try expectEqual(try await areCut(cascade, relativesMax: 2), [false, false, false], "two references")
            try expectEqual(try await areCut(cascade, relativesMax: 1), [false, true, true], "one too many")
        },
        Scenario("R-133: what is saved with references is a place where a cascade may begin, once something is deleted")
        {
            store in
            let key = try await store.referenceZones()[0]
            try await store.writeHolders(["t", "h", "k"].map { RecordDraft($0) }, in: key, references: [("k", "h")])
            func holders(deleting deleted: [String]) async throws -> [String: [String]] {
                let read = ZoneRead(
                    key: key, recordNames: ["h"], parentNames: deleted, holderNames: ["h"], lives: [])
                let snapshots = try await store.peek([read])
                return snapshots[0].holders
            }
            try expectEqual(try await holders(deleting: ["t"]), ["h": ["k"]], "what goes with it is known")
            try expectEqual(try await holders(deleting: []), [:], "nothing is asked where nothing is deleted")
        },
        Scenario("R-079: references to a record are counted, and forgotten when their holders change") { store in
            let key = try await store.referenceZones()[0]
            try await store.writeHolders(
                ["a", "b", "c"].map { RecordDraft($0) }, in: key,
                references: [("a", "t"), ("b", "t"), ("b", "u"), ("c", "u")])
            func counts() async throws -> [String: Int] {
                let read = ZoneRead(
                    key: key, recordNames: [], parentNames: [], referenceTargets: ["none", "t", "u"], lives: [])
                return try await store.peek([read])[0].referenceCounts.filter { $0.value > 0 }
            }
            try expectEqual(try await counts(), ["t": 2, "u": 2], "each holder once")
            try await store.writeHolders([RecordDraft("b")], in: key, dropping: ["b"], references: [("b", "t")])
            try expectEqual(try await counts(), ["t": 2, "u": 1], "another version holds others")
            try await store.writeHolders([RecordDraft("a", isDeleted: true)], in: key, dropping: ["a", "never"])
            try expectEqual(try await counts(), ["t": 1, "u": 1], "a tombstone holds none")
        },
        Scenario("R-133: a changed record keeps, loses and adds references, and each record its own") { store in
            let keys = try await store.referenceZones()
            for key in keys {
                try await store.writeHolders(
                    ["a", "b"].map { RecordDraft($0) }, in: key,
                    references: [("a", "t"), ("a", "u"), ("b", "t"), ("b", "u"), ("b", "v")])
            }
            func holders() async throws -> [[String: [String]]] {
                try await store.peek(keys.map { $0.cascade(deleting: ["t", "u", "v", "w"]) })
                    .map { $0.holders.mapValues { $0.sorted() } }
            }
            let before = ["t": ["a", "b"], "u": ["a", "b"], "v": ["b"]]
            try expectEqual(try await holders(), [before, before], "as saved")
            try await store.writeHolders(
                ["a", "b", "c"].map { RecordDraft($0) }, in: keys[0], dropping: ["a", "b"],
                references: [("a", "t"), ("a", "w"), ("b", "u"), ("c", "t"), ("c", "v")])
            let after = ["t": ["a", "c"], "u": ["b"], "v": ["c"], "w": ["a"]]
            try expectEqual(try await holders(), [after, before], "another holder's reference keeps none")
            try await store.writeHolders([RecordDraft("c")], in: keys[0], references: [("c", "t"), ("c", "u")])
            let more = ["t": ["a", "c"], "u": ["b", "c"], "v": ["c"], "w": ["a"]]
            try expectEqual(try await holders(), [more, before], "what is not dropped stays")
        },
        Scenario("R-036: the references of a zone end with it") { store in
            let key = try await store.referenceZones()[0]
            let database = key.database
            try await store.writeHolders([RecordDraft("a"), RecordDraft("t")], in: key, references: [("a", "t")])
            try await store.changeZones(in: database, remove: [key.name])
            try await store.createZones(key.name, in: database)
            let snapshot = try await store.peek([key.cascade(deleting: ["t"])])[0]
            try expect(snapshot.holders.isEmpty && snapshot.records.isEmpty, "the new incarnation has none")
        },
    ]
}

extension ZoneKey {
    fileprivate func cascade(
        deleting names: [String], records: [String] = [], followedMax: Int = 100
    ) -> ZoneRead {
        ZoneRead(
            key: self, recordNames: records, parentNames: names, lives: [], referencesFollowedMax: followedMax)
    }
}

extension StorageFixture {
    /// Two zones of one database.
    fileprivate func referenceZones() async throws -> [ZoneKey] {
        try await createZones("a", "b", in: try await alice().privateDatabase).map(\.key)
    }

    /// What the other server reads under the locks.
    fileprivate func peek(_ reads: [ZoneRead]) async throws -> [ZoneSnapshot] {
        let transaction = try await second.beginWrite(reads)
        await transaction.rollback()
        return transaction.snapshots
    }

    fileprivate func writeHolders(
        _ drafts: [RecordDraft], in key: ZoneKey, dropping dropped: [String] = [],
        references: [(holder: String, target: String)] = []
    ) async throws {
        let transaction = try await first.beginWrite([key.read()])
        let changes = try require(transaction.snapshots.first?.changes(drafts), "zone \(key.name) lives")
        let added = references.map { HeldReference(holder: $0.holder, target: $0.target) }
        try await transaction.commit([
            ZoneChanges(
                database: changes.database, zone: changes.zone, changeNumber: changes.changeNumber,
                records: changes.records, memories: [:], references: ReferenceChanges(dropped: dropped, added: added),
                clientTokensMax: Limits().clientTokensMax)
        ])
    }
}
