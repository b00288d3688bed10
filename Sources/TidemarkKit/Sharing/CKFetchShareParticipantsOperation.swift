// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Looks up whom to invite.
///
/// Servers of this version do not share: the whole fails with `serverRejectedRequest`, without a word on each item.
open class CKFetchShareParticipantsOperation: CKOperation, @unchecked Sendable {
    /// Whom to look up.
    public final var userIdentityLookupInfos: [CKUserIdentity.LookupInfo]?

    /// Each person that was found, or why not.
    public final var perShareParticipantResultBlock:
        ((CKUserIdentity.LookupInfo, Result<CKShare.Participant, any Error>) -> Void)?
    /// What became of the whole.
    public final var fetchShareParticipantsResultBlock: ((Result<Void, any Error>) -> Void)?

    private var perItem: ((CKShare.Participant) -> Void)?
    private var completion: (((any Error)?) -> Void)?

    /// Each person that was found.
    @available(*, deprecated, message: "Use perShareParticipantResultBlock")
    public final var shareParticipantFetchedBlock: ((CKShare.Participant) -> Void)? {
        get { perItem }
        set { perItem = newValue }
    }

    /// The error of the whole.
    @available(*, deprecated, message: "Use fetchShareParticipantsResultBlock")
    public final var fetchShareParticipantsCompletionBlock: (((any Error)?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// With nobody to look up yet.
    public override init() {
        super.init()
    }

    /// With people to look up.
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
