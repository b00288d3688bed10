// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTelemetry
internal import TidemarkWire

extension CloudDatabase {
    /// What became of each subscription.
    struct SubscriptionResults {
        var saves: [CKSubscription.ID: Result<CKSubscription, CKError>] = [:]
        var deletes: [CKSubscription.ID: Result<Void, CKError>] = [:]
    }

    func modifySubscriptions(
        saving subscriptions: [CKSubscription], deleting ids: [CKSubscription.ID]
    ) async throws(CKError) -> SubscriptionResults {
        guard !subscriptions.isEmpty || !ids.isEmpty else { return SubscriptionResults() }
        var request = WireModifySubscriptions()
        request.database = wireScope
        request.saves = subscriptions.map(WireSubscription.init)
        request.deletes = ids
        let cutCount = connection.cutCount
        let reply = try await self.request { [request] _ in .modifySubscriptions(request) }
        guard case .modifySubscriptions(let answer) = reply.answer, answer.saves.count == subscriptions.count,
            answer.deletes.count == ids.count
        else { throw Self.wrongAnswer(to: .modifySubscriptions) }
        var results = SubscriptionResults()
        for (subscription, result) in zip(subscriptions, answer.saves) {
            let id = subscription.subscriptionID
            switch result.result {
            case .subscription, .done: results.saves[id] = .success(subscription)
            case .failure(let failure): results.saves[id] = .failure(CKError(failure, to: reply.request))
            case nil: results.saves[id] = .failure(Self.wrongAnswer(to: .modifySubscriptions))
            }
        }
        for (id, result) in zip(ids, answer.deletes) {
            switch result.result {
            case .done, .subscription: results.deletes[id] = .success(())
            case .failure(let failure):
                // after a cut the request is sent again, and may find its own work done.
                let isDone = failure.code == .unknownItem && connection.cutCount != cutCount
                results.deletes[id] = isDone ? .success(()) : .failure(CKError(failure, to: reply.request))
            case nil: results.deletes[id] = .failure(Self.wrongAnswer(to: .modifySubscriptions))
            }
        }
        return results
    }

    func subscriptions(
        for ids: [CKSubscription.ID]
    ) async throws(CKError) -> [CKSubscription.ID: Result<CKSubscription, CKError>] {
        guard !ids.isEmpty else { return [:] }
        var results: [CKSubscription.ID: Result<CKSubscription, CKError>] = [:]
        var rest = ids[...]
        while true {
            let (answer, request) = try await fetchSubscriptions(Array(rest))
            let answers = answer.subscriptions
            // An answer covers the first of the IDs, at least one. The others are asked for again.
            guard 1...rest.count ~= answers.count else { throw Self.wrongAnswer(to: .fetchSubscriptions) }
            for (id, answer) in zip(rest, answers) { results[id] = take(answer, of: request) }
            rest = rest.dropFirst(answers.count)
            guard !rest.isEmpty else { return results }
            try checkMayGoOn()
        }
    }

    /// They come in pages, by ID.
    func allSubscriptions() async throws(CKError) -> [CKSubscription] {
        var all: [CKSubscription] = []
        var (page, request) = try await fetchSubscriptions([])
        while true {
            for result in page.subscriptions {
                guard result.result != nil else { throw Self.wrongAnswer(to: .fetchSubscriptions) }
                if let subscription = try? take(result, of: request).get() { all.append(subscription) }
            }
            guard !page.cursor.isEmpty else { return all }
            // A server that sends nothing and says that there is more would be asked for ever.
            guard !page.subscriptions.isEmpty else { throw Self.wrongAnswer(to: .fetchSubscriptions) }
            try checkMayGoOn()
            (page, request) = try await fetchSubscriptions([], after: page.cursor)
        }
    }

    private func fetchSubscriptions(
        _ ids: [CKSubscription.ID], after cursor: [UInt8] = []
    ) async throws(CKError) -> (WireFetchSubscriptionsAnswer, to: RequestUUID?) {
        var request = WireFetchSubscriptions()
        request.database = wireScope
        request.ids = ids
        request.cursor = cursor
        request.inPages = true
        let reply = try await self.request { [request] _ in .fetchSubscriptions(request) }
        guard case .fetchSubscriptions(let answer) = reply.answer else {
            throw Self.wrongAnswer(to: .fetchSubscriptions)
        }
        return (answer, reply.request)
    }

    private func take(
        _ result: WireSubscriptionResult, of request: RequestUUID?
    ) -> Result<CKSubscription, CKError> {
        switch result.result {
        case .subscription(let wire): CKSubscription.make(wire)
        case .failure(let failure): .failure(CKError(failure, to: request))
        case .done, nil: .failure(Self.wrongAnswer(to: .fetchSubscriptions))
        }
    }
}

extension WireSubscription {
    init(_ subscription: CKSubscription) {
        self.init()
        id = subscription.subscriptionID
        kind = WireSubscriptionKind(rawValue: Int32(clamping: subscription.subscriptionType.rawValue))
        switch subscription {
        case let subscription as CKDatabaseSubscription: recordType = subscription.recordType ?? ""
        case let subscription as CKRecordZoneSubscription:
            recordType = subscription.recordType ?? ""
            zone = WireZoneID(subscription.zoneID)
        default: break
        }
        if let info = subscription.notificationInfo { notificationInfo = WireNotificationInfo(info) }
    }
}

extension CKSubscription {
    /// A database or zone subscription; other kinds cannot have been saved by this version.
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
        default:
            return .failure(
                CKError(
                    .incompatibleVersion,
                    message: "The subscription \(wire.id) is of a kind that this version does not know. Update the app."
                ))
        }
        if wire.hasNotificationInfo { subscription.notificationInfo = NotificationInfo(wire.notificationInfo) }
        return .success(subscription)
    }
}

extension WireNotificationInfo {
    init(_ info: CKSubscription.NotificationInfo) {
        self.init()
        alertBody = info.alertBody ?? ""
        alertLocalizationKey = info.alertLocalizationKey ?? ""
        alertLocalizationArgs = info.alertLocalizationArgs ?? []
        alertActionLocalizationKey = info.alertActionLocalizationKey ?? ""
        alertLaunchImage = info.alertLaunchImage ?? ""
        soundName = info.soundName ?? ""
        shouldBadge = info.shouldBadge
        shouldSendContentAvailable = info.shouldSendContentAvailable
        shouldSendMutableContent = info.shouldSendMutableContent
        title = info.title ?? ""
        titleLocalizationKey = info.titleLocalizationKey ?? ""
        titleLocalizationArgs = info.titleLocalizationArgs ?? []
        subtitle = info.subtitle ?? ""
        subtitleLocalizationKey = info.subtitleLocalizationKey ?? ""
        subtitleLocalizationArgs = info.subtitleLocalizationArgs ?? []
        category = info.category ?? ""
        collapseIDKey = info.collapseIDKey ?? ""
        desiredKeys = info.desiredKeys ?? []
    }
}

extension CKSubscription.NotificationInfo {
    convenience init(_ wire: WireNotificationInfo) {
        func present(_ text: String) -> String? { text.isEmpty ? nil : text }
        func present(_ list: [String]) -> [String]? { list.isEmpty ? nil : list }
        self.init()
        alertBody = present(wire.alertBody)
        alertLocalizationKey = present(wire.alertLocalizationKey)
        alertLocalizationArgs = present(wire.alertLocalizationArgs)
        alertActionLocalizationKey = present(wire.alertActionLocalizationKey)
        alertLaunchImage = present(wire.alertLaunchImage)
        soundName = present(wire.soundName)
        shouldBadge = wire.shouldBadge
        shouldSendContentAvailable = wire.shouldSendContentAvailable
        shouldSendMutableContent = wire.shouldSendMutableContent
        title = present(wire.title)
        titleLocalizationKey = present(wire.titleLocalizationKey)
        titleLocalizationArgs = present(wire.titleLocalizationArgs)
        subtitle = present(wire.subtitle)
        subtitleLocalizationKey = present(wire.subtitleLocalizationKey)
        subtitleLocalizationArgs = present(wire.subtitleLocalizationArgs)
        category = present(wire.category)
        collapseIDKey = present(wire.collapseIDKey)
        desiredKeys = present(wire.desiredKeys)
    }
}
