// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Asks what is behind URLs of shares.
///
/// Servers of this version do not share: the whole fails with `serverRejectedRequest`, without a word on each item.
open class CKFetchShareMetadataOperation: CKOperation, @unchecked Sendable {
    /// The URLs to ask for.
    public final var shareURLs: [URL]?
    /// Whether the shared roots are to be fetched too; default false.
    public final var shouldFetchRootRecord = false
    /// The keys of the roots to fetch; nil for all.
    public final var rootRecordDesiredKeys: [CKRecord.FieldKey]?

    /// What is behind each URL, or why that is not known.
    public final var perShareMetadataResultBlock: ((URL, Result<CKShare.Metadata, any Error>) -> Void)?
    /// What became of the whole.
    public final var fetchShareMetadataResultBlock: ((Result<Void, any Error>) -> Void)?

    private var perItem: ((URL, CKShare.Metadata?, (any Error)?) -> Void)?
    private var completion: (((any Error)?) -> Void)?

    /// What is behind each URL.
    @available(*, deprecated, message: "Use perShareMetadataResultBlock")
    public final var perShareMetadataBlock: ((URL, CKShare.Metadata?, (any Error)?) -> Void)?
    {
        get { perItem }
        set { perItem = newValue }
    }

    /// The error of the whole.
    @available(*, deprecated, message: "Use fetchShareMetadataResultBlock")
    public final var fetchShareMetadataCompletionBlock: (((any Error)?) -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// With nothing to ask for yet.
    public override init() {
        super.init()
    }

    /// With URLs to ask for.
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
