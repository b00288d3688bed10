// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Joins shares.
///
/// Servers of this version have no sharing: the operation fails with `serverRejectedRequest`, without results for
/// single items.
open class CKAcceptSharesOperation: CKOperation, @unchecked Sendable {
    /// The shares to join.
    public final var shareMetadatas: [CKShare.Metadata]?

    /// Each joined share, or why it was not joined.
    public final var perShareResultBlock: ((CKShare.Metadata, Result<CKShare, any Error>) -> Void)?
    /// The result of the operation.
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

    /// The error of the operation.
    @available(*, deprecated, message: "Use acceptSharesResultBlock")
    public final var acceptSharesCompletionBlock: (((any Error)?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// An operation without shares.
    public override init() {
        super.init()
    }

    /// An operation that joins these shares.
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
