// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Looks up people to invite.
///
/// Servers of this version have no sharing: the operation fails with `serverRejectedRequest`, without results for
/// single items.
open class CKFetchShareParticipantsOperation: CKOperation, @unchecked Sendable {
    /// The people to look up.
    public final var userIdentityLookupInfos: [CKUserIdentity.LookupInfo]?

    /// Each person that was found, or why one was not.
    public final var perShareParticipantResultBlock:
        ((CKUserIdentity.LookupInfo, Result<CKShare.Participant, any Error>) -> Void)?
    /// The result of the operation.
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
        let outcome = sharingOutcome(itemCount: userIdentityLookupInfos?.count ?? 0)
        fetchShareParticipantsResultBlock?(outcome)
        completion?(outcome.error)
    }
}
