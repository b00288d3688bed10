// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkBytes
internal import TidemarkWire

extension WireSubscription {
    /// The most bytes of a predicate that a server reads. It accepts fewer, and says how many.
    private static let predicateBytesMax = 131_072

    /// The word `now` in a predicate becomes the present time.
    ///
    /// - Throws: `invalidArguments` for a predicate that cannot be sent.
    init(_ subscription: CKSubscription) throws(CKError) {
        self.init()
        id = subscription.subscriptionID
        kind = WireSubscriptionKind(rawValue: Int32(clamping: subscription.subscriptionType.rawValue))
        switch subscription {
        case let subscription as CKDatabaseSubscription: recordType = subscription.recordType ?? ""
        case let subscription as CKRecordZoneSubscription:
            recordType = subscription.recordType ?? ""
            zone = WireZoneID(subscription.zoneID)
        case let subscription as CKQuerySubscription:
            recordType = subscription.recordType ?? ""
            if let zoneID = subscription.zoneID { zone = WireZoneID(zoneID) }
            predicate = try Self.bytes(of: subscription.predicate)
            options = UInt32(clamping: subscription.querySubscriptionOptions.rawValue)
        default: break
        }
        if let info = subscription.notificationInfo { notificationInfo = WireNotificationInfo(info) }
    }

    private static func bytes(of predicate: NSPredicate) throws(CKError) -> [UInt8] {
        let bytes: [UInt8]
        do throws(PredicateMistake) {
            bytes = try PredicateNode(predicate).wire(now: Date()).encoded
        } catch {
            throw CKError(.invalidArguments, message: error.message)
        }
        guard bytes.count <= predicateBytesMax else {
            throw CKError(
                .invalidArguments,
                message: """
                    The predicate has \(bytes.count) bytes. A subscription takes at most \(predicateBytesMax), and a server may \
                    take fewer. Use a shorter condition.
                    """)
        }
        return bytes
    }
}

extension CKSubscription {
    /// A subscription as it was saved, by whichever version.
    static func make(_ wire: WireSubscription) -> Result<CKSubscription, CKError> {
        let recordType = wire.recordType.isEmpty ? nil : wire.recordType
        let subscription: CKSubscription
        switch wire.kind {
        case .database:
            let database = CKDatabaseSubscription(subscriptionID: wire.id)
            database.recordType = recordType
            subscription = database
        case .recordZone:
            let zone = CKRecordZoneSubscription(zoneID: CKRecordZone.ID(wire.zone), subscriptionID: wire.id)
            zone.recordType = recordType
            subscription = zone
        case .query:
            guard let predicate = NSPredicate.make(encoded: wire.predicate) else {
                return .failure(unknown("The condition of the subscription \(wire.id) is one"))
            }
            subscription = CKQuerySubscription(
                wire.id, predicate, CKQuerySubscription.Options(rawValue: UInt(wire.options)),
                wire.hasZone ? CKRecordZone.ID(wire.zone) : nil, Settings(recordType: recordType))
        default:
            return .failure(unknown("The subscription \(wire.id) is of a kind"))
        }
        if wire.hasNotificationInfo { subscription.notificationInfo = NotificationInfo(wire.notificationInfo) }
        return .success(subscription)
    }

    private static func unknown(_ subject: String) -> CKError {
        CKError(.incompatibleVersion, message: "\(subject) that this version does not know. Update the app.")
    }
}

extension NSPredicate {
    /// The predicate of a subscription; nil for what this version does not know.
    ///
    /// - Parameter encoded: a `Predicate` of the protocol. Empty: all records.
    fileprivate static func make(encoded: [UInt8]) -> NSPredicate? {
        guard !encoded.isEmpty else { return NSPredicate(value: true) }
        return (try? WirePredicate(reading: encoded)).flatMap { make($0) }
    }

    /// Nil for what this version does not know.
    static func make(_ wire: WirePredicate) -> NSPredicate? {
        guard let node = PredicateNode(wire) else { return nil }
        return if case .always(let result) = node { NSPredicate(value: result) } else { _CKPredicate(node) }
    }
}
