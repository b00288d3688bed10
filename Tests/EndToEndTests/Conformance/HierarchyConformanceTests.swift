// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing

/// Shares of records with what is below them, on TestKit and on a real server.
@Suite struct HierarchyConformanceTests {
    typealias Lists = Hierarchies
    private typealias Page = (
        modificationResultsByID: [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, any Error>],
        deletions: [CKDatabase.RecordZoneChange.Deletion], changeToken: CKServerChangeToken, moreComing: Bool
    )

    @Test func `R-226, R-302, R-320, R-555: a guest has a list and its items, as they come and go`() async throws {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            try await Lists.make(of: alice)
            let zoneID = try await SharingConformanceTests.join(bob, try await Lists.share("a", of: alice))
            let app = Device(bob.container, .shared, automatically: false)
            var seen = [try await Lists.fetched(app)]
            #expect(app.record(Lists.id("a", zoneID))?.share?.recordID == Lists.id("share-a", zoneID))
            #expect(app.record(Lists.id("a1", zoneID))?.parent?.recordID == Lists.id("a", zoneID))
            #expect(app.record(Lists.id("a1", zoneID))?.share == nil)
            #expect(app.record(Lists.id("share-a", zoneID)) is CKShare)
            #expect(try await bob.container.sharedCloudDatabase.recordZone(for: zoneID).share == nil, "R-034")

            // With what is below it.
            try await Lists.move("b1", under: "x", of: alice)
            try await Lists.move("x", under: "a1", of: alice)
            seen.append(try await Lists.fetched(app))
            let tag = try await alice.database.record(for: Lists.id("b1")).recordChangeTag
            #expect(app.record(Lists.id("b1", zoneID))?.recordChangeTag == tag, "it keeps its version")
            try await Lists.move("x", under: nil, of: alice)
            seen.append(try await Lists.fetched(app))
            try await Lists.move("a1", under: "b", of: alice)
            try await Lists.move("x", under: "a", of: alice)
            seen.append(try await Lists.fetched(app))
            return seen + app.heard.filter { $0.hasPrefix("zones") || $0.contains(" -") }
        }
        #expect(
            seen == [
                "a=a a1=a1 share-a", "a=a a1=a1 b1=b1 share-a x=x", "a=a a1=a1 share-a", "a=a b1=b1 share-a x=x",
                "zones Notes", "zones Notes", "zones Notes", "records -b1 Note -x Note", "zones Notes",
                "records b1=b1 x=x -a1 Note",
            ])
    }

    @Test func `R-301: to its owner a root says its share in queries, fetches and changes alike`() async throws {
        let seen = try await Both.clouds { cloud in
            let alice = try await cloud.device(of: "alice")
            try await Lists.make(of: alice)
            _ = try await Lists.share("a", of: alice)
            func told(_ records: [CKRecord]) -> String {
                records.compactMap { record in
                    record.share.map { "\(record.recordID.recordName)=\($0.recordID.recordName)" }
                }.sorted().joined(separator: " ")
            }
            func everywhere() async throws -> [String] {
                let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
                let found = try await alice.database.records(matching: query, inZoneWith: Both.notes).matchResults
                #expect(found.count == 5)
                let fetched = try await alice.database.records(for: ["a", "a1", "b"].map { Lists.id($0) })
                let page = try await alice.database.recordZoneChanges(inZoneWith: Both.notes, since: nil)
                return [
                    told(try found.map { try $0.1.get() }), told(try fetched.values.map { try $0.get() }),
                    told(try page.modificationResultsByID.values.map { try $0.get().record }),
                ]
            }
            let shared = try await everywhere()
            try await alice.database.deleteRecord(withID: Lists.id("share-a"))
            return shared + (try await everywhere())
        }
        #expect(seen == ["a=share-a", "a=share-a", "a=share-a", "", "", ""])
    }

    @Test func `R-323 to R-325, R-138: a guest writes below the root, and nowhere else`() async throws {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            try await Lists.make(of: alice)
            let zoneID = try await SharingConformanceTests.join(bob, try await Lists.share("a", of: alice))
            let shared = bob.container.sharedCloudDatabase
            var seen: [String] = []
            for record in [
                Lists.note("a2", "bob's", under: "a1", in: zoneID), Lists.note("loose", in: zoneID),
                Lists.note("b2", under: "b", in: zoneID), Lists.note("n", under: "nowhere", in: zoneID),
                Lists.note("x", under: "a", in: zoneID),
            ] {
                seen.append(await Both.code { try await shared.save(record) })
            }
            let made = try await alice.database.record(for: Lists.id("a2"))
            let bobID = try await bob.container.userRecordID()
            #expect(made.creatorUserRecordID == bobID)
            #expect(made.parent?.recordID == Lists.id("a1"))
            for (name, parent) in [("a2", "a"), ("a2", nil), ("a2", "b"), ("a1", nil)] as [(String, String?)] {
                let record = try await shared.record(for: Lists.id(name, zoneID))
                record.setParent(parent.map { Lists.id($0, zoneID) })
                seen.append(await Both.code { try await shared.save(record) })
            }
            for name in ["a", "x", "a2"] {
                seen.append(await Both.code { try await shared.deleteRecord(withID: Lists.id(name, zoneID)) })
            }
            seen.append(await Both.code { _ = try await alice.database.record(for: Lists.id("x")) })
            seen.append(await Both.code { _ = try await alice.database.record(for: Lists.id("a2")) })
            for name in ["a1", "b1", "nowhere"] {
                seen.append(await Both.code { _ = try await shared.record(for: Lists.id(name, zoneID)) })
            }
            return seen
        }
        #expect(
            seen == [
                "done", "permissionFailure", "referenceViolation", "referenceViolation", "permissionFailure",
                "done", "permissionFailure", "referenceViolation", "permissionFailure",
                "permissionFailure", "done", "done", "done", "unknownItem", "done", "unknownItem", "unknownItem",
            ])
    }

    @Test func `R-306, R-326, R-327: a list that is shared again has its URL, and one that is deleted ends its share`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            try await Lists.make(of: alice)
            let url = try await Lists.share("a", of: alice)
            _ = try await SharingConformanceTests.join(bob, url)
            let app = Device(bob.container, .shared, automatically: false)
            var seen = [try await Lists.fetched(app)]
            // The root is in the same request, so its copy has the newest tag.
            let root = try await alice.database.record(for: Lists.id("a"))
            root["text"] = "private"
            let results = try await alice.database.modifyRecords(
                saving: [root], deleting: [Lists.id("share-a")], savePolicy: .ifServerRecordUnchanged, atomically: true)
            seen += Both.told(results.saveResults) + Both.told(results.deleteResults)
            #expect(root.share == nil)
            let stored = try await alice.database.record(for: root.recordID)
            #expect(stored.share == nil && stored.recordChangeTag == root.recordChangeTag)
            seen.append(try await Lists.fetched(app))
            seen.append(await Both.code { _ = try await bob.container.shareMetadata(for: url) })

            seen.append(try await Lists.share("a", of: alice) == url ? "same URL" : "another URL")
            seen.append(try await Lists.share("b", of: alice) == url ? "same URL" : "another URL")
            seen.append(try await Lists.fetched(app))
            _ = try await SharingConformanceTests.join(bob, url)
            seen.append(try await Lists.fetched(app))

            // a root with items stays. With them it goes, and so does the share.
            seen.append(await Both.code { try await alice.database.deleteRecord(withID: Lists.id("a")) })
            let ends = try await alice.database.modifyRecords(
                saving: [], deleting: [Lists.id("a1"), Lists.id("a")], atomically: true)
            seen += Both.told(ends.deleteResults)
            seen.append(await Both.code { _ = try await alice.database.record(for: Lists.id("share-a")) })
            seen.append(await Both.code { _ = try await bob.container.shareMetadata(for: url) })
            seen.append(try await Lists.fetched(app))
            return seen + app.heard.filter { $0.hasPrefix("zones") }
        }
        #expect(
            seen == [
                "a=a a1=a1 share-a", "a done", "share-a done", "", "unknownItem", "same URL", "another URL", "",
                "a=private a1=a1 share-a", "referenceViolation", "a done", "a1 done", "unknownItem", "unknownItem", "",
                "zones Notes", "zones -Notes deleted", "zones Notes", "zones -Notes deleted",
            ])
    }

    @Test func `F-9, R-321, R-330: a second list is joined and the first one left while a fetch is under way`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            try await Lists.make(of: alice)
            let (first, second) = (try await Lists.share("a", of: alice), try await Lists.share("b", of: alice))
            let shared = bob.container.sharedCloudDatabase
            let zoneID = try await SharingConformanceTests.join(bob, first)
            var names: Set<String> = []
            var token: CKServerChangeToken?
            /// - Returns: nil: the token has expired, because the set of bob's shares has changed.
            func page() async throws -> Page? {
                do {
                    return try await shared.recordZoneChanges(inZoneWith: zoneID, since: token, resultsLimit: 1)
                } catch let error as CKError where error.code == .changeTokenExpired && token != nil {
                    (token, names) = (nil, [])
                    return nil
                }
            }
            /// - Returns: whether there is more.
            func fetchOne() async throws -> Bool {
                guard let page = try await page() else { return true }
                for id in page.modificationResultsByID.keys { names.insert(id.recordName) }
                for deletion in page.deletions { names.remove(deletion.recordID.recordName) }
                token = page.changeToken
                return page.moreComing
            }
            func fetchAll() async throws -> String {
                while try await fetchOne() {}
                return names.sorted().joined(separator: " ")
            }
            #expect(try await fetchOne())
            #expect(try await SharingConformanceTests.join(bob, second) == zoneID)
            #expect(try await fetchOne())
            try await alice.database.save(Lists.note("a2", under: "a"))
            var seen = [try await fetchAll()]
            try await alice.database.save(Lists.note("a3", under: "a"))
            #expect(try await fetchOne() || names.contains("a3"))
            try await shared.deleteRecord(withID: Lists.id("share-a", zoneID))
            try await alice.database.save(Lists.note("a4", under: "a"))
            try await alice.database.save(Lists.note("b2", under: "b"))
            seen.append(try await fetchAll())
            seen.append(await Both.code { _ = try await shared.record(for: Lists.id("a", zoneID)) })
            let share = try await alice.database.record(for: Lists.id("share-a")) as? CKShare
            seen.append("\(share?.participants.count ?? 0) in share-a")
            try await shared.deleteRecordZone(withID: zoneID)
            seen.append(await Both.code { _ = try await fetchOne() })
            return seen
        }
        #expect(
            seen == [
                "a a1 a2 b b1 share-a share-b", "b b1 b2 share-b", "unknownItem", "1 in share-a", "zoneNotFound",
            ])
    }

    @Test func `R-301, R-303, R-304: what cannot be shared is refused, with the root, and says why`() async throws {
        let seen = try await Both.clouds { cloud in
            let alice = try await cloud.device(of: "alice")
            try await Lists.make(of: alice)
            try await alice.database.save(Lists.note("a2", under: "a1"))
            func attempt(_ name: String, withRoot: Bool = true) async throws -> String {
                let root = try await alice.database.record(for: Lists.id(name))
                let share = CKShare(rootRecord: root, shareID: Lists.id("new"))
                return try await Lists.told(withRoot ? root : nil, share, by: alice)
            }
            var seen = [try await attempt("a1", withRoot: false)]
            _ = try await Lists.share("a1", of: alice)
            for name in ["a1", "a2", "a"] { seen.append(try await attempt(name)) }
            // Siblings may have different shares. What is in one is not moved below the other.
            _ = try await Lists.share("b", of: alice)
            for (name, parent) in [("a1", "b"), ("a", "b1")] {
                seen.append(await Both.code { try await Lists.move(name, under: parent, of: alice) })
            }
            seen.append(await Both.code { try await Lists.move("a2", under: "b1", of: alice) })
            seen.append(await Both.code { try await alice.database.save(CKShare(recordZoneID: Both.notes)) })
            for name in ["a1", "b"] { try await alice.database.deleteRecord(withID: Lists.id("share-\(name)")) }
            seen.append(await Both.code { try await alice.database.save(CKShare(recordZoneID: Both.notes)) })
            seen.append(try await attempt("x"))
            return seen
        }
        func refused(_ name: String, _ code: String) -> String {
            ["\(name) batchRequestFailed", "new \(code)"].sorted().joined(separator: ", ")
        }
        #expect(
            seen == [
                "new invalidArguments", refused("a1", "alreadyShared"), refused("a2", "alreadyShared"),
                refused("a", "alreadyShared"), "alreadyShared", "alreadyShared", "done", "invalidArguments", "done",
                refused("x", "serverRejectedRequest"),
            ])
    }

    @Test func `F-23, R-988, R-523: edits below a share that ended are refused once, and the other list stays`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            try await Lists.make(of: alice)
            let urls = [try await Lists.share("a", of: alice), try await Lists.share("b", of: alice)]
            let zoneID = try await SharingConformanceTests.join(bob, urls[0])
            _ = try await SharingConformanceTests.join(bob, urls[1])
            let app = Device(bob.container, .shared, automatically: false)
            var seen = [try await Lists.fetched(app)]
            try await alice.database.deleteRecord(withID: Lists.id("share-a"))
            app.write("late", to: "a1", in: zoneID)
            app.write("in time", to: "b1", in: zoneID)
            for _ in 0..<3 { _ = await Both.code { try await app.engine?.sendChanges() } }
            #expect(app.engine?.state.pendingRecordZoneChanges.isEmpty == true)
            seen.append(try await Lists.fetched(app))
            // All of it ends, with an edit that is pending.
            try await alice.database.deleteRecord(withID: Lists.id("share-b"))
            app.write("too late", to: "b1", in: zoneID)
            for _ in 0..<3 { _ = await Both.code { try await app.engine?.sendChanges() } }
            #expect(app.engine?.state.pendingRecordZoneChanges.isEmpty == true)
            try await app.engine?.fetchChanges()
            let kept = try await alice.database.record(for: Lists.id("b1"))
            seen.append(Both.text(kept))
            return seen + app.heard.filter { $0.hasPrefix("sent") || $0.hasPrefix("zones -") }
        }
        #expect(
            seen == [
                "a=a a1=a1 b=b b1=b1 share-a share-b", "b=b b1=in time share-b", "text=in time",
                "sent records b1=in time a1=late unknownItem", "sent records b1=too late zoneNotFound",
                "zones -Notes deleted",
            ])
    }

    @Test func `R-306, R-986: an engine saves a list and its share, whichever is pending first`() async throws {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let app = Device(alice.container, automatically: false)
            app.makeZone(Both.notes)
            let root = Lists.note("list")
            let share = CKShare(rootRecord: root, shareID: Lists.id("share"))
            share.publicPermission = .readOnly
            app.save(share)
            app.save(Lists.note("item", under: "list"))
            app.save(root)
            try await app.engine?.sendChanges()
            let saved = try #require(app.record(share.recordID) as? CKShare)
            #expect(app.record(root.recordID)?.share?.recordID == share.recordID)
            let guest = Device(bob.container, .shared, automatically: false)
            _ = try await SharingConformanceTests.join(bob, try #require(saved.url))
            return [try await Lists.fetched(guest)] + app.heard.filter { $0.hasPrefix("sent") }
        }
        #expect(seen == ["item=item list=list share", "sent zones Notes", "sent records item=item list=list share="])
    }

    @Test func `R-315, R-316, R-987: metadata name the root, and bring it with the wanted keys`() async throws {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            try await Lists.make(of: alice)
            let list = try await alice.database.record(for: Lists.id("a"))
            list["colour"] = "red"
            try await alice.database.save(list)
            let url = try await Lists.share("a", of: alice)
            func metadata(_ keys: [CKRecord.FieldKey]?, wantsRoot: Bool = true) async throws -> CKShare.Metadata {
                let operation = CKFetchShareMetadataOperation(shareURLs: [url])
                operation.shouldFetchRootRecord = wantsRoot
                operation.rootRecordDesiredKeys = keys
                return try await withCheckedThrowingContinuation { waiter in
                    operation.perShareMetadataResultBlock = { _, result in waiter.resume(with: result) }
                    bob.container.add(operation)
                }
            }
            let plain = try await metadata(nil, wantsRoot: false)
            #expect(plain.hierarchicalRootRecordID?.recordName == "a" && plain.rootRecord == nil)
            #expect(plain.hierarchicalRootRecordID?.zoneID == plain.share.recordID.zoneID)
            var seen: [String] = []
            for keys in [nil, ["text"], []] as [[CKRecord.FieldKey]?] {
                let root = try #require(try await metadata(keys).rootRecord)
                #expect(root.recordID == plain.hierarchicalRootRecordID)
                seen.append(Both.text(root))
            }
            try await alice.database.deleteRecord(withID: Lists.id("share-a"))
            seen.append(await Both.code { _ = try await metadata(nil) })
            return seen
        }
        #expect(seen == ["colour=red text=a", "text=a", "", "unknownItem"])
    }
}
