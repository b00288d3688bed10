// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Saves and deletes subscriptions, each with its own result.
open class CKModifySubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The subscriptions to save.
    public final var subscriptionsToSave: [CKSubscription]?
    /// The subscriptions to delete.
    public final var subscriptionIDsToDelete: [CKSubscription.ID]?

    /// The result of each subscription to save.
    public final var perSubscriptionSaveBlock: ((CKSubscription.ID, Result<CKSubscription, any Error>) -> Void)?
    /// The result of each subscription to delete.
    public final var perSubscriptionDeleteBlock: ((CKSubscription.ID, Result<Void, any Error>) -> Void)?
    /// The result of the operation: success if the server was asked, whatever became of single subscriptions.
    public final var modifySubscriptionsResultBlock: ((Result<Void, any Error>) -> Void)?

    private var completion: (([CKSubscription]?, [CKSubscription.ID]?, (any Error)?) -> Void)?

    /// The saved and deleted subscriptions, and the error of the operation.
    @available(*, deprecated, message: "Use modifySubscriptionsResultBlock")
    public final var modifySubscriptionsCompletionBlock:
        (([CKSubscription]?, [CKSubscription.ID]?, (any Error)?) -> Void)?
    {
        get { completion }
        set { completion = newValue }
    }

    /// An operation without subscriptions.
    public override init() {
        super.init()
    }

    /// An operation that saves and deletes these subscriptions.
    public convenience init(
        subscriptionsToSave: [CKSubscription]? = nil, subscriptionIDsToDelete: [CKSubscription.ID]? = nil
    ) {
        self.init()
        self.subscriptionsToSave = subscriptionsToSave
        self.subscriptionIDsToDelete = subscriptionIDsToDelete
    }

    override func perform() async {
        let (subscriptions, ids) = (subscriptionsToSave ?? [], subscriptionIDsToDelete ?? [])
        let answer = await withCloud { cloud throws(CKError) in
            let results = try await cloud.modifySubscriptions(saving: subscriptions, deleting: ids)
            return (results.saves, results.deletes)
        }
        switch answer {
        case .failure(let error): end([], [], .failure(error))
        case .success((let saves, let deletes)): tell(saves, deletes, subscriptions.map(\.subscriptionID), ids)
        }
    }

    private func tell(
        _ saves: [CKSubscription.ID: Result<CKSubscription, CKError>],
        _ deletes: [CKSubscription.ID: Result<Void, CKError>], _ savedIDs: [CKSubscription.ID],
        _ deletedIDs: [CKSubscription.ID]
    ) {
        var errors: [AnyHashable: any Error] = [:]
        var saved: [CKSubscription] = []
        for id in savedIDs where !isCancelled {
            guard let result = saves[id] else { continue }
            switch result {
            case .success(let subscription): saved.append(subscription)
            case .failure(let error): errors[id] = error
            }
            perSubscriptionSaveBlock?(id, result.erased)
        }
        var deleted: [CKSubscription.ID] = []
        for id in deletedIDs where !isCancelled {
            guard let result = deletes[id] else { continue }
            if case .failure(let error) = result { errors[id] = error } else { deleted.append(id) }
            perSubscriptionDeleteBlock?(id, result.erased)
        }
        end(saved, deleted, outcome(of: errors))
    }

    private func end(_ saved: [CKSubscription], _ deleted: [CKSubscription.ID], _ outcome: Result<Void, any Error>) {
        modifySubscriptionsResultBlock?(outcome.ofWhole)
        switch outcome {
        case .success: completion?(saved, deleted, nil)
        case .failure(let error): completion?(saved, deleted, error)
        }
    }
}
