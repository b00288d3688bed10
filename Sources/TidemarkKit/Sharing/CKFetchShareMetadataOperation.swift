// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Fetches the metadata of shares by their URLs.
///
/// Servers of this version have no sharing: the operation fails with `serverRejectedRequest`, without results for
/// single items.
open class CKFetchShareMetadataOperation: CKOperation, @unchecked Sendable {
    /// The URLs of the shares.
    public final var shareURLs: [URL]?
    /// Whether to fetch the shared roots too; default false.
    public final var shouldFetchRootRecord = false
    /// The keys of the roots to fetch; nil for all.
    public final var rootRecordDesiredKeys: [CKRecord.FieldKey]?

    /// The metadata for each URL, or why it could not be fetched.
    public final var perShareMetadataResultBlock: ((URL, Result<CKShare.Metadata, any Error>) -> Void)?
    /// The result of the operation.
    public final var fetchShareMetadataResultBlock: ((Result<Void, any Error>) -> Void)?

    private var perItem: ((URL, CKShare.Metadata?, (any Error)?) -> Void)?
    private var completion: (((any Error)?) -> Void)?

    /// The metadata for each URL.
    @available(*, deprecated, message: "Use perShareMetadataResultBlock")
    public final var perShareMetadataBlock: ((URL, CKShare.Metadata?, (any Error)?) -> Void)?
    {
        get { perItem }
        set { perItem = newValue }
    }

    /// The error of the operation.
    @available(*, deprecated, message: "Use fetchShareMetadataResultBlock")
    public final var fetchShareMetadataCompletionBlock: (((any Error)?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// An operation without URLs.
    public override init() {
        super.init()
    }

    /// An operation for these URLs.
    public convenience init(shareURLs: [URL]) {
        self.init()
        self.shareURLs = shareURLs
    }

    override func perform() async {
        let outcome = sharingOutcome(itemCount: shareURLs?.count ?? 0)
        fetchShareMetadataResultBlock?(outcome)
        completion?(outcome.error)
    }
}
