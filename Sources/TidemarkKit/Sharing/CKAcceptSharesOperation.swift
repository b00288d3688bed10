// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Joins shares.
///
/// Servers of this version do not share: the whole fails with `serverRejectedRequest`, without a word on each item.
open class CKAcceptSharesOperation: CKOperation, @unchecked Sendable {
    /// The shares to join.
    public final var shareMetadatas: [CKShare.Metadata]?

    /// Each share that was joined, or why not.
    public final var perShareResultBlock: ((CKShare.Metadata, Result<CKShare, any Error>) -> Void)?
    /// What became of the whole.
    public final var acceptSharesResultBlock: ((Result<Void, any Error>) -> Void)?

    private var perItem: ((CKShare.Metadata, CKShare?, (any Error)?) -> Void)?
    private var completion: (((any Error)?) -> Void)?

    /// Each share that was joined.
    @available(*, deprecated, message: "Use perShareResultBlock")
    public final var perShareCompletionBlock: ((CKShare.Metadata, CKShare?, (any Error)?) -> Void)?
    {
        get { perItem }
        set { perItem = newValue }
    }

    /// The error of the whole.
    @available(*, deprecated, message: "Use acceptSharesResultBlock")
    public final var acceptSharesCompletionBlock: (((any Error)?) -> Void)? {
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
