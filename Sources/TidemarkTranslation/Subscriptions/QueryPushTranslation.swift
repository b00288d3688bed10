// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
package import TidemarkDomain
internal import TidemarkFields
package import TidemarkWire

extension WirePush {
    /// The push of a query subscription (R-250 … R-258).
    ///
    /// - Parameters:
    ///   - reason: nil: records of the query may have changed.
    ///   - version: the record after the change, or before its deletion. Nil: it is not known here.
    package init(
        _ subscription: Subscription, reason: QueryReason?, of record: QueryNotification.Record?,
        version: RecordState?
    ) {
        self.init(subscription)
        guard let reason, let record else {
            isPruned = true
            return
        }
        let info = WireNotificationInfo(of: subscription).map { NotificationInfo($0) } ?? NotificationInfo()
        let notification = QueryNotification(info, reason: reason, of: record, version: version)
        query = WireQueryNews()
        if let reason = notification.reason { query.reason = WireQueryNewsReason(reason) }
        if let record = notification.record {
            query.recordName = record.name
            query.zone = WireZoneID(ownZone: record.zoneName)
        }
        // Fields that come out of a record go into one.
        query.fields = (try? FieldMap(notification.fields.map { Field($0.key, $0.value) }, keys: .share))?.bytes ?? []
        if let shown = notification.alert { alert = WireNotificationInfo(shown) }
        isPruned = notification.isPruned
    }

    /// The part that all pushes of a subscription have.
    init(_ subscription: Subscription) {
        self.init()
        subscriptionID = subscription.id
        database = WireDatabaseScope(subscription.scope)
        kind = WireSubscriptionKind(subscription.kind)
    }
}

extension WireQueryNewsReason {
    fileprivate init(_ reason: QueryReason) {
        switch reason {
        case .created: self = .recordCreated
        case .updated: self = .recordUpdated
        case .deleted: self = .recordDeleted
        }
    }
}

extension WireNotificationInfo {
    /// Nil if there is none, or if what is stored cannot be read. Then pushes are silent.
    init?(of subscription: Subscription) {
        guard !subscription.notificationInfo.isEmpty,
            let info = try? WireNotificationInfo(reading: subscription.notificationInfo)
        else { return nil }
        self = info
    }

    init(_ info: NotificationInfo) {
        self.init()
        alertBody = info.alertBody
        alertLocalizationKey = info.alertLocalizationKey
        alertLocalizationArgs = info.alertLocalizationArgs
        alertActionLocalizationKey = info.alertActionLocalizationKey
        alertLaunchImage = info.alertLaunchImage
        soundName = info.soundName
        shouldBadge = info.shouldBadge
        shouldSendContentAvailable = info.shouldSendContentAvailable
        shouldSendMutableContent = info.shouldSendMutableContent
        title = info.title
        titleLocalizationKey = info.titleLocalizationKey
        titleLocalizationArgs = info.titleLocalizationArgs
        subtitle = info.subtitle
        subtitleLocalizationKey = info.subtitleLocalizationKey
        subtitleLocalizationArgs = info.subtitleLocalizationArgs
        category = info.category
        collapseIDKey = info.collapseIDKey
        desiredKeys = info.desiredKeys
    }
}

extension NotificationInfo {
    init(_ info: WireNotificationInfo) {
        self.init()
        alertBody = info.alertBody
        alertLocalizationKey = info.alertLocalizationKey
        alertLocalizationArgs = info.alertLocalizationArgs
        alertActionLocalizationKey = info.alertActionLocalizationKey
        alertLaunchImage = info.alertLaunchImage
        soundName = info.soundName
        shouldBadge = info.shouldBadge
        shouldSendContentAvailable = info.shouldSendContentAvailable
        shouldSendMutableContent = info.shouldSendMutableContent
        title = info.title
        titleLocalizationKey = info.titleLocalizationKey
        titleLocalizationArgs = info.titleLocalizationArgs
        subtitle = info.subtitle
        subtitleLocalizationKey = info.subtitleLocalizationKey
        subtitleLocalizationArgs = info.subtitleLocalizationArgs
        category = info.category
        collapseIDKey = info.collapseIDKey
        desiredKeys = info.desiredKeys
    }
}
