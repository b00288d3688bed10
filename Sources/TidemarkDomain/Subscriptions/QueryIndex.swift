// SPDX-License-Identifier: Apache-2.0

/// The query subscriptions of one database, so that a change finds those that it fires without asking all.
///
/// They are kept by record type, and then by the zone that they look at, or all. Equal predicates are evaluated once,
/// however many subscriptions have them. A predicate that needs a key to equal one value is only evaluated if the record has
/// that value before or after its change. A pure value.
package struct QueryIndex: Sendable {
    /// A subscription that a change fires.
    package struct Firing: Sendable, Equatable {
        package let watching: WatchingSubscription
        package let reason: QueryReason
    }

    /// Some subscriptions with one predicate, which a change may fire: a part of the work to find out.
    package struct Candidate: Sendable {
        fileprivate let evaluator: QueryEvaluator
        fileprivate let members: ArraySlice<WatchingSubscription>
    }

    /// Subscriptions with one predicate.
    private struct Group: Sendable {
        let evaluator: QueryEvaluator
        var members: [WatchingSubscription] = []
    }

    /// A key that must equal a value.
    private struct Equality: Hashable {
        let key: QueryKey
        let value: IndexValue
    }

    /// The subscriptions of one record type and zone.
    private struct Shelf: Sendable {
        private(set) var groups: [Group] = []
        private var places: [QueryPredicate: Int] = [:]
        private var buckets: [Equality: [Int]] = [:]
        /// The keys of ``buckets``.
        private var keys: Set<QueryKey> = []
        /// Groups in no bucket.
        private var rest: [Int] = []

        mutating func add(_ watching: WatchingSubscription, _ query: SubscriptionQuery, _ fields: QueryFields) {
            if let place = places[query.predicate] {
                groups[place].members.append(watching)
                return
            }
            let place = groups.count
            places[query.predicate] = place
            groups.append(Group(evaluator: QueryEvaluator(query.predicate, fields: fields), members: [watching]))
            guard let (key, value) = query.predicate.equality else { return rest.append(place) }
            keys.insert(key)
            buckets[Equality(key: key, value: value), default: []].append(place)
        }

        /// The groups that may match one of the two versions, each once.
        func candidates(_ old: RecordState?, _ new: RecordState?) -> [Group] {
            var found = rest
            for key in keys {
                let before = old.flatMap { $0.indexValue(of: key, for: .equality) }
                let after = new.flatMap { $0.indexValue(of: key, for: .equality) }
                for value in Set([before, after].compactMap(\.self)) {
                    found += buckets[Equality(key: key, value: value)] ?? []
                }
            }
            return found.sorted().map { groups[$0] }
        }
    }

    private struct Shelves: Sendable {
        var ofAllZones = Shelf()
        var byZone: [String: Shelf] = [:]
    }

    private var types: [String: Shelves] = [:]
    /// The approximate memory of the index.
    package private(set) var byteCount = 0
    package private(set) var count = 0

    /// The approximate memory of a subscription beside its texts, and of its predicate made ready.
    private static let bytesPerSubscription = 512
    /// The most members of a candidate.
    private static let membersMax = 500

    /// - Parameter fields: as in ``add(_:fields:)``.
    package init(_ all: [WatchingSubscription] = [], fields: (String) -> QueryFields = { _ in .unknown }) {
        add(all, fields: fields)
    }

    /// - Parameter fields: what the schema says of a record type, for predicates that search all fields.
    package mutating func add(_ some: [WatchingSubscription], fields: (String) -> QueryFields = { _ in .unknown }) {
        for watching in some {
            let subscription = watching.subscription
            guard let query = subscription.query, let type = subscription.recordType else { continue }
            count += 1
            byteCount +=
                Self.bytesPerSubscription + 8 * query.predicateBytes.count + subscription.notificationInfo.count
                + subscription.id.utf8.count + type.utf8.count
            if let zoneName = subscription.zoneName {
                types[type, default: Shelves()].byZone[zoneName, default: Shelf()].add(watching, query, fields(type))
            } else {
                types[type, default: Shelves()].ofAllZones.add(watching, query, fields(type))
            }
        }
    }

    package var isEmpty: Bool { count == 0 }

    /// Whether a subscription looks at records of the type.
    package func watches(_ recordType: String) -> Bool { types[recordType] != nil }

    /// All subscriptions, some at a time.
    package var slices: [ArraySlice<WatchingSubscription>] {
        types.values.flatMap { shelves in
            ([shelves.ofAllZones] + shelves.byZone.values).flatMap(\.groups).flatMap { Self.slices(of: $0.members) }
        }
    }

    private static func slices(of members: [WatchingSubscription]) -> [ArraySlice<WatchingSubscription>] {
        stride(from: 0, to: members.count, by: membersMax).map { start in
            members[start..<min(start + membersMax, members.count)]
        }
    }

    /// What happened to a record between two versions that are not one after another. Of one that was deleted and created again,
    /// or has another type, it is two changes.
    package static func changes(
        from old: RecordState?, to new: RecordState
    ) -> [(old: RecordState?, new: RecordState)] {
        guard let before = old?.ifLiving, !new.isDeleted,
            before.type != new.type || before.createdAt != new.createdAt
        else { return [(old, new)] }
        let end = before.tombstone(at: new.modifiedAt, by: new.modifiedBy)
        end.place(at: new.changeNumber, batchEnd: new.batchEnd, cause: new.cause)
        return [(before, end), (nil, new)]
    }

    /// The subscriptions that a change may fire, in parts of which each is evaluated in a moment.
    ///
    /// - Parameters:
    ///   - old: the version before; nil: there was none.
    ///   - new: the version afterwards, or the tombstone.
    ///   - zoneName: the zone of both.
    ///   - isOldUnread: whether the fields of the old version were not read. Then it counts as one that matches: a push too
    ///     many, and never one too few.
    package func candidates(
        from old: RecordState?, to new: RecordState, in zoneName: String, isOldUnread: Bool = false
    ) -> [Candidate] {
        let (old, living) = (old?.ifLiving, new.ifLiving)
        guard let shelves = types[new.type], old != nil || living != nil else { return [] }
        return [shelves.ofAllZones, shelves.byZone[zoneName]].compactMap(\.self).flatMap { shelf in
            isOldUnread ? shelf.groups : shelf.candidates(old, living)
        }.flatMap { group in
            Self.slices(of: group.members).map { Candidate(evaluator: group.evaluator, members: $0) }
        }
    }

    /// Those of a candidate that the change fires.
    package static func firings(
        of candidate: Candidate, from old: RecordState?, to new: RecordState, in zoneName: String,
        isOldUnread: Bool = false
    ) -> [Firing] {
        let (old, living) = (old?.ifLiving, new.ifLiving)
        func match(_ record: RecordState?) -> SubscriptionQuery.Match {
            record.map { candidate.evaluator.matches($0, in: zoneName) ? .matches : .differs } ?? .absent
        }
        let before = isOldUnread && old != nil ? .matches : match(old)
        let after = match(living)
        return candidate.members.compactMap { watching in
            watching.subscription.query?.reason(old: before, new: after).map { Firing(watching: watching, reason: $0) }
        }
    }

    /// All subscriptions that a change fires, by user, scope and ID.
    package func firings(
        from old: RecordState?, to new: RecordState, in zoneName: String, isOldUnread: Bool = false
    ) -> [Firing] {
        candidates(from: old, to: new, in: zoneName, isOldUnread: isOldUnread).flatMap {
            Self.firings(of: $0, from: old, to: new, in: zoneName, isOldUnread: isOldUnread)
        }.sorted { $0.watching.key < $1.watching.key }
    }
}

extension RecordState {
    /// Nil for a tombstone.
    fileprivate var ifLiving: RecordState? { isDeleted ? nil : self }
}

extension QueryPredicate {
    /// A key and a value that every record has which matches; nil if the predicate needs none. Both are compared as the
    /// evaluator compares them. A reference may lead to another zone and a list has elements, so these are not looked for.
    fileprivate var equality: (key: QueryKey, value: IndexValue)? {
        switch self {
        case .compare(_, .equal, .reference): return nil
        case .compare(let key, .equal, let value):
            return IndexValue(value, for: .equality, in: "").map { (key, $0) }
        case .and(let parts): return parts.lazy.compactMap(\.equality).first
        default: return nil
        }
    }

    /// Whether it looks for words in all fields of a record, so that it depends on the schema which these are.
    package var searchesWords: Bool {
        switch self {
        case .search: true
        case .and(let parts): parts.contains(where: \.searchesWords)
        case .not(let part): part.searchesWords
        default: false
        }
    }
}

extension SubscriberKey: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        (left.user.rawValue, left.key.scope.rawValue, left.key.id)
            < (right.user.rawValue, right.key.scope.rawValue, right.key.id)
    }
}
