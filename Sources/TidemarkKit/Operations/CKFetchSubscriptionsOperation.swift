// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Fetches subscriptions.
open class CKFetchSubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The subscriptions to fetch; nil for all (see ``fetchAllSubscriptionsOperation()``).
    public final var subscriptionIDs: [CKSubscription.ID]?

    /// Each subscription, or why it could not be fetched.
    public final var perSubscriptionResultBlock: ((CKSubscription.ID, Result<CKSubscription, any Error>) -> Void)?
    /// The result of the operation; `partialFailure` has the errors of those that failed.
    public final var fetchSubscriptionsResultBlock: ((Result<Void, any Error>) -> Void)?

    private var completion: (([CKSubscription.ID: CKSubscription]?, (any Error)?) -> Void)?

    /// The fetched subscriptions, and the error of the operation.
    @available(*, deprecated, message: "Use fetchSubscriptionsResultBlock")
    public final var fetchSubscriptionCompletionBlock: (([CKSubscription.ID: CKSubscription]?, (any Error)?) -> Void)?
    {
        get { completion }
        set { completion = newValue }
    }

    /// Fetches all subscriptions.
    public override init() {
        super.init()
    }

    /// Fetches the named subscriptions.
    public convenience init(subscriptionIDs: [CKSubscription.ID]) {
        self.init()
        self.subscriptionIDs = subscriptionIDs
    }

    /// Fetches all of the user's subscriptions to the database.
    ///
    /// The operation is of exactly this class, so that subclasses do not have to have its `init()`.
    public class func fetchAllSubscriptionsOperation() -> CKFetchSubscriptionsOperation {
        CKFetchSubscriptionsOperation()
    }

    override func perform() async {
        let ids = subscriptionIDs
        let answer = await withCloud { cloud throws(CKError) in
            guard let ids else {
                let all = try await cloud.allSubscriptions()
                return all.map { ($0.subscriptionID, Result<CKSubscription, CKError>.success($0)) }
            }
            let results = try await cloud.subscriptions(for: ids)
            var seen: Set<CKSubscription.ID> = []
            return ids.filter { seen.insert($0).inserted }.compactMap { id in results[id].map { (id, $0) } }
        }
        switch answer {
        case .failure(let error): end([:], .failure(error))
        case .success(let results): tell(results)
        }
    }

    private func tell(_ results: [(CKSubscription.ID, Result<CKSubscription, CKError>)]) {
        var errors: [AnyHashable: any Error] = [:]
        var subscriptions: [CKSubscription.ID: CKSubscription] = [:]
        for (id, result) in results where !isCancelled {
            switch result {
            case .success(let subscription): subscriptions[id] = subscription
            case .failure(let error): errors[id] = error
            }
            perSubscriptionResultBlock?(id, result.erased)
        }
        end(subscriptions, outcome(of: errors))
    }

    private func end(_ subscriptions: [CKSubscription.ID: CKSubscription], _ outcome: Result<Void, any Error>) {
        fetchSubscriptionsResultBlock?(outcome)
        switch outcome {
        case .success: completion?(subscriptions, nil)
        case .failure(let error): completion?(subscriptions, error)
        }
    }
}
