// SPDX-License-Identifier: Apache-2.0

extension Subscription {
    /// Why the subscription cannot be saved; nil if it can. Every refusal is `subscriptionInvalid`.
    ///
    /// R-241 says which kinds a database may have, and that a zone subscription needs a custom zone. A query
    /// subscription has a predicate, which the protocol does not carry. So it is refused rather than stored without
    /// ever firing. R-243: without notification info pushes are silent, so it may be empty.
    package func refusal(within limits: Limits) -> FailureReason? {
        switch kind {
        case .query: return .subscriptionInvalid
        case .recordZone:
            guard scope == .private, let zoneName, zoneName != ZoneName.default,
                ZoneName.isValid(zoneName, limits: limits)
            else { return .subscriptionInvalid }
        case .database:
            guard scope == .private || scope == .shared, zoneName == nil else { return .subscriptionInvalid }
        }
        guard Self.isID(id, limits: limits) else { return .subscriptionInvalid }
        if let recordType, !RecordType.isValid(recordType, limits: limits) { return .subscriptionInvalid }
        return notificationInfo.count <= limits.notificationInfoBytesMax ? nil : .subscriptionInvalid
    }

    /// Printable ASCII. No other string is ever stored, so a lookup of another one can be skipped.
    package static func isID(_ id: String, limits: Limits) -> Bool {
        (1...limits.nameCharactersMax).contains(id.utf8.count) && id.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// The zones that a push names when these zones may have changed. Both lists are empty if that is not known. Nil if
    /// the subscription fires on none of them.
    package func zonesPushed(ofMoved zoneNames: [String]) -> [String]? {
        guard kind == .recordZone, let zoneName else { return zoneNames.contains("") ? [] : zoneNames }
        return zoneNames.isEmpty || zoneNames.contains(zoneName) ? [zoneName] : nil
    }
}
