// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTelemetry
internal import TidemarkWire

extension CloudDatabase {
    struct SubscriptionResults {
        var saves: [CKSubscription.ID: Result<CKSubscription, CKError>] = [:]
        var deletes: [CKSubscription.ID: Result<Void, CKError>] = [:]
    }

    func modifySubscriptions(
        saving subscriptions: [CKSubscription], deleting ids: [CKSubscription.ID]
    ) async throws(CKError) -> SubscriptionResults {
        // what the app changes afterwards changes neither the request nor the results.
        let subscriptions = subscriptions.map(\.copied)
        var results = SubscriptionResults()
        var request = WireModifySubscriptions()
        request.database = wireScope
        var sent: [CKSubscription] = []
        for subscription in subscriptions {
            do throws(CKError) {
                request.saves.append(try WireSubscription(subscription))
                sent.append(subscription)
            } catch {
                // Other saves still take place: each has its own result.
                results.saves[subscription.subscriptionID] = .failure(error)
            }
        }
        request.deletes = ids
        guard !sent.isEmpty || !ids.isEmpty else { return results }
        let cutCount = connection.cutCount
        let reply = try await self.request { [request] _ in .modifySubscriptions(request) }
        guard case .modifySubscriptions(let answer) = reply.answer, answer.saves.count == sent.count,
            answer.deletes.count == ids.count
        else { throw Self.wrongAnswer(to: .modifySubscriptions) }
        for (subscription, result) in zip(sent, answer.saves) {
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
