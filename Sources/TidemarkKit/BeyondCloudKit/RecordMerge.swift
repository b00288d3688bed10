// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields

/// One merge of three records, in their state at one moment.
struct RecordMerge {
    typealias Space = WritableKeyPath<RecordContents, RecordContents.KeySpace>

    let rules: TidemarkMerge
    /// The record from which `client` was taken, for the app to look at.
    let clientRecord: CKRecord
    let zoneID: CKRecordZone.ID
    let ancestor: RecordContents
    let server: RecordContents
    let client: RecordContents

    /// The fields of one key space whose merged value differs from the server's, by key.
    func changes(in space: Space) -> [(key: CKRecord.FieldKey, object: NSObject?)] {
        let other: Space = space == \.plain ? \.encrypted : \.plain
        let keys = Set(server[keyPath: space].values.keys).union(client[keyPath: space].values.keys)
            .union(ancestor[keyPath: space].values.keys)
        return keys.sorted().compactMap { key in
            // A key cannot be both plain and encrypted.
            guard server[keyPath: other].values[key] == nil else { return nil }
            let merged = value(of: key, in: space)
            return same(merged, server[keyPath: space].values[key]) ? nil : (key, merged)
        }
    }

    private func value(of key: CKRecord.FieldKey, in space: Space) -> NSObject? {
        let before = isAcrossZones ? nil : ancestor[keyPath: space].values[key]
        let (theirs, ours) = (server[keyPath: space].values[key], client[keyPath: space].values[key])
        switch serverOrder {
        case .older, .wentBack:
            // nobody made a difference there as an edit. A value that only the server has may not have been
            // fetched here.
            return ours == nil && client[keyPath: space].changes[key] == nil ? theirs : ours
        case .unrelated where isAcrossLives || isAcrossZones:
            // The server's version may not follow from the ancestor, so every difference is in dispute.
            if ours == nil && client[keyPath: space].changes[key] == nil || same(ours, theirs) { return theirs }
            return decide(key, in: space, before, theirs, ours)
        default:
            break
        }
        // A value that was not set is unchanged, even if the server stores it differently from the client (assets).
        if client[keyPath: space].changes[key] == nil || same(ours, theirs) { return theirs }
        // A value that was set to nil is removed, unless it is known that there was nothing to remove.
        if same(ours, before), ours != nil || knowsAncestor { return theirs }
        if same(theirs, before) { return ours }
        return decide(key, in: space, before, theirs, ours)
    }

    /// Decides a field that both sides changed differently.
    private func decide(
        _ key: CKRecord.FieldKey, in space: Space, _ before: NSObject?, _ theirs: NSObject?, _ ours: NSObject?
    ) -> NSObject? {
        switch rules.fields[key] ?? rules.policy {
        case .serverWins: return theirs
        case .clientWins: return ours
        case .newest(let dateKey): return isClientNewer(by: dateKey) ? ours : theirs
        case .newestEdit(let date): return isClientNewer(than: date(clientRecord)) ? ours : theirs
        case .listElements: return list(before, theirs, ours) ?? theirs
        case .custom(let decide):
            let conflict = TidemarkMerge.Conflict(
                key: key, isEncrypted: space == \.encrypted, ancestorObject: before, serverObject: theirs,
                clientObject: ours)
            guard let decision = decide(conflict) else { return nil }
            let object = RecordObject.make(of: decision)
            //
            precondition(
                object != nil, "A record cannot hold a \(type(of: decision)): return a value that a field can hold.")
            return object
        }
    }

    /// The parent is not a field, but is merged like one.
    var parent: CKRecord.Reference? {
        if [.older, .wentBack].contains(serverOrder) { return client.parent }
        if client.parentChange == nil || server.parent == client.parent { return server.parent }
        // Archives of system fields contain the parent, so it is known even without fields.
        if client.parent == ancestor.parent, client.parent != nil || ancestor.metadata != nil { return server.parent }
        if server.parent == ancestor.parent { return client.parent }
        switch rules.policy {
        case .serverWins, .listElements, .custom: return server.parent
        case .clientWins: return client.parent
        case .newest(let dateKey): return isClientNewer(by: dateKey) ? client.parent : server.parent
        case .newestEdit(let date): return isClientNewer(than: date(clientRecord)) ? client.parent : server.parent
        }
    }

    /// A share that the client has made, and that is still to be saved with the record. If somebody else has shared
    /// the record meanwhile, their share stays.
    var newShare: CKRecord.Reference? { client.shareChange == nil || server.share != nil ? nil : client.share }

    /// Whether the ancestor's fields are known. An archive of system fields alone does not have them.
    private var knowsAncestor: Bool { !ancestor.plain.values.isEmpty || !ancestor.encrypted.values.isEmpty }

    /// Whether the server would store the same for both.
    private func same(_ left: NSObject?, _ right: NSObject?) -> Bool {
        FieldObjects.areStoredAlike(left, right, zoneID)
    }

    // MARK: Which is newer

    /// The order of the server's version relative to the version in which the client made its edits.
    private var serverOrder: TidemarkVersionOrder {
        guard let server = serverVersion, let client = clientVersion else { return .unrelated }
        return server.order(relativeTo: client)
    }

    /// Whether the store was restored between the two versions.
    private var isAcrossLives: Bool {
        guard let server = serverVersion, let client = clientVersion else { return false }
        return server.life != client.life
    }

    /// Whether the zone ended between the two versions, and was made again. Nobody has removed what the server's version
    /// lacks: whoever made it may never have had the ancestor.
    private var isAcrossZones: Bool {
        guard let server = serverVersion, let client = clientVersion else { return false }
        return server.zone != client.zone
    }

    private var serverVersion: RecordVersion? { server.metadata?.version }
    private var clientVersion: RecordVersion? { client.metadata?.version }

    private func isClientNewer(by key: CKRecord.FieldKey) -> Bool {
        func date(_ state: RecordContents) -> Date? {
            ((state.plain.values[key] ?? state.encrypted.values[key]) as? NSDate).map {
                Date(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate)
            }
        }
        guard let ours = date(client) else { return false }
        return date(server).map { ours > $0 } ?? true
    }

    private func isClientNewer(than date: Date) -> Bool {
        guard let savedAt = server.metadata?.modifiedAt else { return true }
        return date.timeIntervalSince1970 * 1_000 > Double(savedAt)
    }

    // MARK: Lists

    /// Nil unless all values that exist are lists.
    private func list(_ before: NSObject?, _ theirs: NSObject?, _ ours: NSObject?) -> NSObject? {
        guard let theirs = elements(theirs), let ours = elements(ours), let before = elements(before) else {
            return nil
        }
        let merged = ListMerge(ancestor: before, server: theirs, client: ours).elements
        return NSArray(array: merged.map(\.object))
    }

    /// A missing list counts as empty.
    private func elements(_ object: NSObject?) -> [ListElement]? {
        guard let object else { return [] }
        guard let array = object as? NSArray else { return nil }
        let elements = array.compactMap(RecordObject.make).map { ListElement($0, zoneID: zoneID) }
        return elements.count == array.count ? elements : nil
    }
}

/// An element of a record's list. Elements are equal if the server would store them alike.
private struct ListElement: Hashable {
    private enum StoredForm: Hashable {
        case value(FieldValue)
        /// A file that was never saved, or an object that cannot be stored.
        case object(NSObject)
    }

    private let identity: StoredForm
    let object: NSObject

    init(_ object: NSObject, zoneID: CKRecordZone.ID) {
        // Not-a-number is not equal to itself, and would be lost.
        guard let value = try? FieldObjects.value(of: object, zoneID: zoneID), value == value else {
            (identity, self.object) = (.object(object), object)
            return
        }
        identity = .value(value)
        // An asset is more than its value, because it may have a file. Everything else is as the server returns it.
        let stored = object is CKAsset ? nil : FieldObjects.object(of: value, zoneID: zoneID)
        self.object = stored ?? object
    }

    static func == (left: Self, right: Self) -> Bool { left.identity == right.identity }

    func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

/// The three-way merge of lists, element by element. It counts how often each element is in the result, wherever it
/// stood.
struct ListMerge<Element: Hashable> {
    let ancestor: [Element]
    let server: [Element]
    let client: [Element]

    var elements: [Element] {
        var rest = counts
        var merged: [Element] = []
        for element in server + client {
            guard let count = rest[element], count > 0 else { continue }
            rest[element] = count - 1
            merged.append(element)
        }
        return merged
    }

    /// How often each element is in the result.
    private var counts: [Element: Int] {
        let (before, theirs, ours) = (Self.counts(of: ancestor), Self.counts(of: server), Self.counts(of: client))
        var counts: [Element: Int] = [:]
        for element in Set(theirs.keys).union(ours.keys) {
            counts[element] = Self.count(before[element] ?? 0, theirs[element] ?? 0, ours[element] ?? 0)
        }
        return counts
    }

    private static func counts(of elements: [Element]) -> [Element: Int] {
        elements.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    /// As for a field: a change of one side counts. If both added, the larger number counts, so that the same addition
    /// on both sides is one. If both removed, the smaller. If one added and one removed, both count.
    private static func count(_ before: Int, _ theirs: Int, _ ours: Int) -> Int {
        if theirs >= before && ours >= before { return max(theirs, ours) }
        if theirs <= before && ours <= before { return min(theirs, ours) }
        return max(theirs + ours - before, 0)
    }
}
