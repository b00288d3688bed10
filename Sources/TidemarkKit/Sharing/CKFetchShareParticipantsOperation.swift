// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Looks up whom to invite.
///
/// Servers of this version do not share: the whole fails with `serverRejectedRequest`, without a word on each item.
public class CKFetchShareParticipantsOperation: CKOperation, @unchecked Sendable {
    /// Whom to look up.
    public final var userIdentityLookupInfos: [CKUserIdentity.LookupInfo]?

    /// Each person that was found, or why not.
    @preconcurrency public final var perShareParticipantResultBlock:
        (@Sendable (CKUserIdentity.LookupInfo, Result<CKShare.Participant, any Error>) -> Void)?
    /// What became of the whole.
    @preconcurrency public final var fetchShareParticipantsResultBlock: (@Sendable (Result<Void, any Error>) -> Void)?

    private var perItem: (@Sendable (CKShare.Participant) -> Void)?
    private var completion: (@Sendable ((any Error)?) -> Void)?

    /// Each person that was found.
    @available(*, deprecated, message: "Use perShareParticipantResultBlock")
    @preconcurrency public final var shareParticipantFetchedBlock: (@Sendable (CKShare.Participant) -> Void)? {
        get { perItem }
        set { perItem = newValue }
    }

    /// The error of the whole.
    @available(*, deprecated, message: "Use fetchShareParticipantsResultBlock")
    @preconcurrency public final var fetchShareParticipantsCompletionBlock: (@Sendable ((any Error)?) -> Void)? {
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
