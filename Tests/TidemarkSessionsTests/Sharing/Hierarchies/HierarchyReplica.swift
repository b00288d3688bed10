// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import TidemarkDomain
import TidemarkFields
import TidemarkWire

/// One device's copy of the zone "lists", which follows the feeds a page at a time.
struct HierarchyReplica {
    /// A record, as far as the naive model tells of it.
    struct Copy: Equatable {
        var text: String
        var parent: String
        /// Of a root: its CKShare record. Of a CKShare record: its root.
        var share: String
    }

    let client: TestClient
    /// The records of a page.
    let pageSize: UInt32
    let isOwner: Bool
    private(set) var copies: [String: Copy] = [:]
    private var listToken: [UInt8] = []
    private var zoneToken: [UInt8] = []
    /// The zone, as long as it is in the list.
    private var zone: WireZoneID?
    /// Whether the list said that the zone has changed, and it was not read to its end since.
    private var isBehind = false
    private var listHasMore = true
    /// The view in which the fetch began whose token is here.
    private var lastView = 0
    /// How often the user had lost the zone when the list was last read to its end.
    private var lastLosses = 0
    /// Whether a token has expired, so that ends are asked for with the first page.
    private var wasExpired = false
    /// What comes in a fetch from the beginning, which replaces what is here.
    private var fresh: [String: Copy]?

    init(_ client: TestClient, pageSize: UInt32, isOwner: Bool) {
        self.client = client
        self.pageSize = pageSize
        self.isOwner = isOwner
    }

    /// Asks for one page.
    ///
    /// - Parameters:
    ///   - view: another number for each set of shares in which the user takes part.
    ///   - losses: how often the user has lost the zone.
    /// - Returns: what is wrong with the answer; nil: nothing.
    mutating func step(inView view: Int, losses: Int) throws -> String? {
        isBehind ? try fetchZone(inView: view) : try fetchList(losses)
    }

    /// Asks until there is nothing more.
    mutating func finish(inView view: Int, losses: Int) throws -> String? {
        listHasMore = true
        // Bounded: a feed that does not end is a fault.
        for _ in 0..<2_000 {
            guard isBehind || listHasMore else { return nil }
            if let fault = try step(inView: view, losses: losses) { return fault }
        }
        return "the feed does not end"
    }

    private mutating func fetchList(_ losses: Int) throws -> String? {
        var request = WireFetchDatabaseChanges()
        (request.database, request.token, request.limit) = (isOwner ? .private : .shared, listToken, 1)
        let answer = try client.ask(.fetchDatabaseChanges(request))
        guard case .fetchDatabaseChanges(let page)? = answer else {
            return "the list: \(String(describing: answer))"
        }
        for end in page.ended where end.zone.name == HierarchyRequests.zoneName {
            // an app drops what it has not sent to a zone that has ended.
            if losses == lastLosses { return "the zone has ended, though the user was always in one of its shares" }
            (copies, fresh, zoneToken, isBehind, zone) = ([:], nil, [], false, nil)
        }
        for changed in page.changed where changed.name == HierarchyRequests.zoneName {
            (zone, isBehind) = (changed, true)
        }
        (listToken, listHasMore) = (page.token, page.moreComing)
        if !listHasMore { lastLosses = losses }
        return nil
    }

    private mutating func fetchZone(inView view: Int) throws -> String? {
        guard let zone else { return "a zone without a name" }
        var request = WireFetchZoneChanges()
        request.withEnds = zoneToken.isEmpty && wasExpired
        (request.database, request.zone) = (isOwner ? .private : .shared, zone)
        (request.token, request.limit) = (zoneToken, pageSize)
        switch try client.ask(.fetchZoneChanges(request)) {
        case .fetchZoneChanges(let page)?:
            // A page that was read ahead may still be of the view before.
            if zoneToken.isEmpty { lastView = view }
            return take(page)
        case .failure(let failure)? where failure.code == .changeTokenExpired && !zoneToken.isEmpty && lastView != view:
            // all that is visible comes again, and what does not is gone.
            (zoneToken, wasExpired) = ([], true)
            return nil
        case .failure(let failure)? where failure.code == .zoneNotFound:
            // the list tells it.
            isBehind = false
            listHasMore = true
            return nil
        case let answer:
            // Nobody's token expires for what others do.
            return "the zone: \(String(describing: answer))"
        }
    }

    private mutating func take(_ page: WireFetchZoneChangesAnswer) -> String? {
        if page.changes.count > Int(pageSize) { return "a page of \(page.changes.count) with \(pageSize) at most" }
        if zoneToken.isEmpty { fresh = [:] }
        for change in page.changes {
            switch change.change {
            case .record(let record)?: set(record.name, Copy(record))
            case .deleted(let end)?: set(end.name, nil)
            case nil: return "an empty change"
            }
        }
        zoneToken = page.token
        guard !page.moreComing else { return nil }
        isBehind = false
        if let fresh { (copies, self.fresh) = (fresh, nil) }
        return nil
    }

    private mutating func set(_ name: String, _ copy: Copy?) {
        if fresh == nil { copies[name] = copy } else { fresh?[name] = copy }
    }
}

extension HierarchyReplica.Copy {
    init(_ record: WireRecord) {
        let fields = try? FieldMap(validating: record.fields, keys: record.type == Share.recordType ? .share : .app)
        var text = ""
        for entry in fields ?? FieldMap() where entry.key == "text" {
            if case .string(let value)? = try? entry.value() { text = value }
        }
        self.init(text: text, parent: record.parent, share: record.hasShare ? record.share.root : record.shareName)
    }
}

extension NaiveHierarchies {
    /// What a device of the user must have. The parent of a root is not shown to whoever does not see it.
    func copies(for user: String) -> [String: HierarchyReplica.Copy] {
        var copies: [String: HierarchyReplica.Copy] = [:]
        for name in visible(to: user) {
            if let note = notes[name] {
                let parent = note.parent.flatMap { mayRead(user, $0) ? $0 : nil }
                copies[name] = HierarchyReplica.Copy(
                    text: note.text, parent: parent ?? "", share: share(of: name) ?? "")
            } else if let party = shares[name] {
                copies[name] = HierarchyReplica.Copy(text: "", parent: "", share: party.root)
            }
        }
        return copies
    }
}
