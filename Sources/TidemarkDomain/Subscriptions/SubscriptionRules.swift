// SPDX-License-Identifier: Apache-2.0

extension Subscription {
    /// Why it cannot be saved, nil if it can. The first that applies wins; all of them are `subscriptionInvalid`.
    ///
    /// R-241 says which kinds a database may have. A query subscription and a zone subscription name a predicate and a
    /// zone, which the protocol does not carry: they are refused rather than kept and never fired. R-243: without
    /// notification info its pushes are silent, so that may be empty.
    package func refusal(within limits: Limits) -> FailureReason? {
        guard kind == .database, scope == .private || scope == .shared else { return .subscriptionInvalid }
        guard Self.isID(id, limits: limits) else { return .subscriptionInvalid }
        if let recordType, !RecordType.isValid(recordType, limits: limits) { return .subscriptionInvalid }
        return notificationInfo.count <= limits.notificationInfoBytesMax ? nil : .subscriptionInvalid
    }

    /// Printable ASCII. No other string is ever stored, so none needs to be looked up.
    package static func isID(_ id: String, limits: Limits = Limits()) -> Bool {
        (1...limits.nameCharactersMax).contains(id.utf8.count) && id.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// Whether a change in this zone of its database fires it. An empty name stands for a change to the set of
    /// zones.
    ///
    /// A notice does not say which record types changed, so one that is narrowed to a type fires as well: a push too many
    /// costs a fetch that finds nothing, one too few would cost latency (I-4).
    package func fires(forZoneNamed zoneName: String) -> Bool {
        kind == .database && zoneName != ZoneName.default
    }
}

extension Sequence<Subscription> {
    /// Those that a change in a zone of the database of this scope fires.
    package func fired(byZoneNamed zoneName: String, in scope: DatabaseScope) -> [Subscription] {
        filter { $0.scope == scope && $0.fires(forZoneNamed: zoneName) }
    }
}
