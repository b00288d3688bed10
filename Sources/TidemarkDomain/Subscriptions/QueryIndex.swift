// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

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
        package let members: ArraySlice<WatchingSubscription>

        /// What its predicate compares of a record.
        package var parts: [RecordTexts.Part] { evaluator.parts }
    }

    /// How long a predicate takes, about. Short ones are evaluated first, so that they have their turn whatever others there are.
    private enum Weight: Int, CaseIterable {
        case short, long, longest
        /// It looks for words in all strings of a record.
        case search

        init(_ query: SubscriptionQuery) {
            if query.predicate.searchesWords {
                self = .search
            } else {
                self =
                    query.predicateBytes.count <= 512 ? .short : query.predicateBytes.count <= 2_048 ? .long : .longest
            }
        }
    }

    /// Subscriptions with one predicate.
    private struct Group: Sendable {
        let evaluator: QueryEvaluator
        let weight: Weight
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
        /// Those of them that each record may have.
        private var systemKeys: Set<QueryKey> = []
        /// Groups in no bucket, by weight.
        private var rest: [[Int]] = Weight.allCases.map { _ in [] }

        mutating func add(_ watching: WatchingSubscription, _ query: SubscriptionQuery, _ fields: QueryFields) {
            if let place = places[query.predicate] {
                groups[place].members.append(watching)
                return
            }
            let place = groups.count
            places[query.predicate] = place
            let weight = Weight(query)
            groups.append(
                Group(evaluator: QueryEvaluator(query.predicate, fields: fields), weight: weight, members: [watching]))
            guard let (key, value) = query.predicate.equality else { return rest[weight.rawValue].append(place) }
            keys.insert(key)
            if case .system = key { systemKeys.insert(key) }
            buckets[Equality(key: key, value: value), default: []].append(place)
        }

        /// The groups that may match one of the two versions, each once: two lists for each weight.
        ///
        /// NB: there may be very many groups, so those that every record may match are not copied.
        func candidates(_ old: RecordState?, _ new: RecordState?, _ texts: inout VersionTexts) -> [[Int]] {
            var found: [[Int]] = Weight.allCases.map { _ in [] }
            for key in presentKeys(old, new) {
                let before = old.flatMap { texts.old.value(of: key, for: .equality, of: $0) }
                let after = new.flatMap { texts.new.value(of: key, for: .equality, of: $0) }
                for value in Set([before, after].compactMap(\.self)) {
                    for place in buckets[Equality(key: key, value: value)] ?? [] {
                        found[groups[place].weight.rawValue].append(place)
                    }
                }
            }
            return zip(found, rest).flatMap { [$0.sorted(), $1] }
        }

        /// All groups, in the same form.
        var all: [[Int]] {
            Weight.allCases.flatMap { weight in [groups.indices.filter { groups[$0].weight == weight }, []] }
        }

        /// Those of ``keys`` that one of the versions may have.
        func presentKeys(_ old: RecordState?, _ new: RecordState?) -> Set<QueryKey> {
            guard !keys.isEmpty else { return [] }
            var present = systemKeys
            for version in [old, new] {
                guard let version else { continue }
                for name in version.fields.keys where keys.contains(.field(name)) { present.insert(.field(name)) }
            }
            return present
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
    /// Whether it has subscriptions in a public database. Then all are: an index is of one database.
    package private(set) var isPublic = false
    /// The ``mark(of:by:)`` of each subscription.
    package private(set) var marks: Set<Int> = []

    /// The approximate memory of a subscription beside its texts, and of its prepared predicate.
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
            marks.insert(Self.mark(of: subscription, by: watching.user))
            if subscription.scope == .public { isPublic = true }
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

    /// A number by which a process finds out whether it has known a subscription, and the same query of it. It is much
    /// smaller than the subscription. Of 2⁶⁴ pairs that differ, one has the same number.
    package static func mark(of subscription: Subscription, by user: UserID) -> Int {
        var hasher = Hasher()
        hasher.combine(SubscriberKey(user: user, key: subscription.key))
        hasher.combine(subscription.recordType)
        hasher.combine(subscription.zoneName)
        hasher.combine(subscription.query?.predicate)
        hasher.combine(subscription.query?.options)
        return hasher.finalize()
    }

    package var isEmpty: Bool { count == 0 }

    /// Whether a subscription looks at records of the type.
    package func watches(_ recordType: String) -> Bool { types[recordType] != nil }

    /// All subscriptions that look at these record types, some at a time. Nil: at any.
    package func slices(of recordTypes: Set<String>? = nil) -> [ArraySlice<WatchingSubscription>] {
        slices { recordTypes?.contains($0) ?? true }
    }

    package func slices(where isWanted: (_ recordType: String) -> Bool) -> [ArraySlice<WatchingSubscription>] {
        types.filter { isWanted($0.key) }.values.flatMap { shelves in
            ([shelves.ofAllZones] + shelves.byZone.values).flatMap(\.groups).flatMap { Self.slices(of: $0.members) }
        }
    }

    private static func slices(of members: [WatchingSubscription]) -> [ArraySlice<WatchingSubscription>] {
        stride(from: 0, to: members.count, by: membersMax).map { start in
            members[start..<min(start + membersMax, members.count)]
        }
    }

    /// The changes of a record between two versions that may not follow each other. If it was deleted and created again, or has another
    /// type, there are two changes.
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

    /// The subscriptions that a change may fire, in parts that can each be evaluated in a moment. Those with short predicates come first.
    ///
    /// - Parameters:
    ///   - old: the version before; nil: there was none.
    ///   - new: the version afterwards, or the tombstone.
    ///   - zoneName: the zone of both.
    ///   - isOldUnread: whether the fields of the old version were not read. Then it counts as one that matches: a push too
    ///     many, and never one too few.
    ///   - texts: those of both versions. Of these ``partsLookedUp(from:to:in:)`` are compared.
    package func candidates(
        from old: RecordState?, to new: RecordState, in zoneName: String, isOldUnread: Bool = false,
        texts: inout VersionTexts
    ) -> some Sequence<Candidate> {
        let (old, living) = (old?.ifLiving, new.ifLiving)
        let shelves = shelves(from: old, to: living, ofType: new.type, in: zoneName)
        var places: [[[Int]]] = []
        for shelf in shelves { places.append(isOldUnread ? shelf.all : shelf.candidates(old, living, &texts)) }
        return (0..<2 * Weight.allCases.count).lazy.flatMap { list in
            zip(shelves, places).lazy.flatMap { shelf, lists in
                lists[list].lazy.flatMap { place in
                    let group = shelf.groups[place]
                    return Self.slices(of: group.members).lazy.map {
                        Candidate(evaluator: group.evaluator, members: $0)
                    }
                }
            }
        }
    }

    private func shelves(
        from old: RecordState?, to new: RecordState?, ofType type: String, in zoneName: String
    ) -> [Shelf] {
        guard old != nil || new != nil, let all = types[type] else { return [] }
        return [all.ofAllZones, all.byZone[zoneName]].compactMap(\.self)
    }

    /// What is compared of both versions to find the candidates.
    package func partsLookedUp(
        from old: RecordState?, to new: RecordState, in zoneName: String
    ) -> Set<RecordTexts.Part> {
        let (old, living) = (old?.ifLiving, new.ifLiving)
        return shelves(from: old, to: living, ofType: new.type, in: zoneName).reduce(into: []) { parts, shelf in
            for key in shelf.presentKeys(old, living) { parts.insert(.value(key, .equality)) }
        }
    }

    /// Those of a candidate that the change fires.
    ///
    /// - Parameter texts: those of both versions, kept from one candidate to the next.
    package static func firings(
        of candidate: Candidate, from old: RecordState?, to new: RecordState, in zoneName: String,
        isOldUnread: Bool = false, texts: inout VersionTexts
    ) -> [Firing] {
        let (old, living) = (old?.ifLiving, new.ifLiving)
        func match(_ record: RecordState?, _ texts: inout RecordTexts) -> SubscriptionQuery.Match {
            guard let record else { return .absent }
            return candidate.evaluator.matches(record, in: zoneName, texts: &texts) ? .matches : .differs
        }
        let before = isOldUnread && old != nil ? .matches : match(old, &texts.old)
        let after = match(living, &texts.new)
        return candidate.members.compactMap { watching in
            watching.subscription.query?.reason(old: before, new: after).map { Firing(watching: watching, reason: $0) }
        }
    }

    /// All subscriptions that a change fires, by user, scope and ID.
    package func firings(
        from old: RecordState?, to new: RecordState, in zoneName: String, isOldUnread: Bool = false
    ) -> [Firing] {
        var texts = VersionTexts()
        var firings: [Firing] = []
        for candidate in candidates(from: old, to: new, in: zoneName, isOldUnread: isOldUnread, texts: &texts) {
            firings += Self.firings(
                of: candidate, from: old, to: new, in: zoneName, isOldUnread: isOldUnread, texts: &texts)
        }
        return firings.sorted { $0.watching.key < $1.watching.key }
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
