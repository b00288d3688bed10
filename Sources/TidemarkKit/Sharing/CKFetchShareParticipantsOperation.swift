// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Looks up people to invite.
open class CKFetchShareParticipantsOperation: CKOperation, @unchecked Sendable {
    /// The people to look up.
    public final var userIdentityLookupInfos: [CKUserIdentity.LookupInfo]?

    /// Each person that was found, or why one was not.
    public final var perShareParticipantResultBlock:
        ((CKUserIdentity.LookupInfo, Result<CKShare.Participant, any Error>) -> Void)?
    /// The result of the operation: success if the server answered, even if people were not found.
    public final var fetchShareParticipantsResultBlock: ((Result<Void, any Error>) -> Void)?

    private var perItem: ((CKShare.Participant) -> Void)?
    private var completion: (((any Error)?) -> Void)?

    /// Each person that was found.
    @available(*, deprecated, message: "Use perShareParticipantResultBlock")
    public final var shareParticipantFetchedBlock: ((CKShare.Participant) -> Void)? {
        get { perItem }
        set { perItem = newValue }
    }

    /// The error of the operation.
    @available(*, deprecated, message: "Use fetchShareParticipantsResultBlock")
    public final var fetchShareParticipantsCompletionBlock: (((any Error)?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// An operation without people.
    public override init() {
        super.init()
    }

    /// An operation that looks up these people.
    public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
        self.init()
        self.userIdentityLookupInfos = userIdentityLookupInfos
    }

    override func perform() async {
        let lookups = userIdentityLookupInfos ?? []
        guard !lookups.isEmpty else { return end(outcome(of: [:])) }
        switch await withContainerCloud({ cloud throws(CKError) in try await cloud.shareParticipants(for: lookups) }) {
        case .failure(let error): end(.failure(error))
        case .success(let results): tell(results, lookups)
        }
    }

    private func tell(
        _ results: [CKUserIdentity.LookupInfo: Result<CKShare.Participant, CKError>],
        _ lookups: [CKUserIdentity.LookupInfo]
    ) {
        var errors: [AnyHashable: any Error] = [:]
        var remaining = results
        for lookup in lookups where !isCancelled {
            guard let result = remaining.removeValue(forKey: lookup) else { continue }
            errors[lookup] = result.error
            if case .success(let participant) = result { perItem?(participant) }
            perShareParticipantResultBlock?(lookup, result.erased)
        }
        end(outcome(of: errors))
    }

    private func end(_ outcome: Result<Void, any Error>) {
        fetchShareParticipantsResultBlock?(outcome.ofWhole)
        completion?(outcome.error)
    }
}
