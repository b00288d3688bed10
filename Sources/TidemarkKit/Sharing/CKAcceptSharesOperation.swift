// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Joins shares.
///
/// Servers of this version do not share: the whole fails with `serverRejectedRequest`, without a word on each item.
public class CKAcceptSharesOperation: CKOperation, @unchecked Sendable {
    /// The shares to join.
    public final var shareMetadatas: [CKShare.Metadata]?

    /// Each share that was joined, or why not.
    @preconcurrency public final var perShareResultBlock:
        (@Sendable (CKShare.Metadata, Result<CKShare, any Error>) -> Void)?
    /// What became of the whole.
    @preconcurrency public final var acceptSharesResultBlock: (@Sendable (Result<Void, any Error>) -> Void)?

    private var perItem: (@Sendable (CKShare.Metadata, CKShare?, (any Error)?) -> Void)?
    private var completion: (@Sendable ((any Error)?) -> Void)?

    /// Each share that was joined.
    @available(*, deprecated, message: "Use perShareResultBlock")
    @preconcurrency public final var perShareCompletionBlock:
        (@Sendable (CKShare.Metadata, CKShare?, (any Error)?) -> Void)?
    {
        get { perItem }
        set { perItem = newValue }
    }

    /// The error of the whole.
    @available(*, deprecated, message: "Use acceptSharesResultBlock")
    @preconcurrency public final var acceptSharesCompletionBlock: (@Sendable ((any Error)?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// With nothing to join yet.
    public override init() {
        super.init()
    }

    /// With shares to join.
    public convenience init(shareMetadatas: [CKShare.Metadata]) {
        self.init()
        self.shareMetadatas = shareMetadatas
    }

    override func perform() async {
        let outcome = sharingOutcome(itemCount: shareMetadatas?.count ?? 0)
        acceptSharesResultBlock?(outcome)
        completion?(outcome.error)
    }
}
