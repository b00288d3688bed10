// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Fetches the metadata of shares by their URLs.
open class CKFetchShareMetadataOperation: CKOperation, @unchecked Sendable {
    /// The URLs of the shares.
    public final var shareURLs: [URL]?
    /// Whether to fetch the shared roots too; default false. Whole zones have none.
    ///
    /// A root comes without encrypted values, because an invited person has no keys, and without the files of its assets.
    public final var shouldFetchRootRecord = false
    /// The keys of the roots to fetch; nil for all.
    public final var rootRecordDesiredKeys: [CKRecord.FieldKey]?

    /// The metadata for each URL, or why it could not be fetched.
    public final var perShareMetadataResultBlock: ((URL, Result<CKShare.Metadata, any Error>) -> Void)?
    /// The result of the operation: success if the server was asked, whatever became of single URLs.
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
        let urls = shareURLs ?? []
        guard !urls.isEmpty else { return end(outcome(of: [:])) }
        let roots = CloudDatabase.MetadataRoots(areWanted: shouldFetchRootRecord, keys: rootRecordDesiredKeys)
        let outcome = await withContainerCloud { cloud throws(CKError) in
            try await cloud.shareMetadata(of: urls, roots: roots)
        }
        switch outcome {
        case .failure(let error): end(.failure(error))
        case .success(let results): tell(results, urls)
        }
    }

    private func tell(_ results: [URL: Result<CKShare.Metadata, CKError>], _ urls: [URL]) {
        var errors: [AnyHashable: any Error] = [:]
        var remaining = results
        for url in urls where !isCancelled {
            guard let result = remaining.removeValue(forKey: url) else { continue }
            errors[url] = result.error
            perItem?(url, try? result.get(), result.error)
            perShareMetadataResultBlock?(url, result.erased)
        }
        end(outcome(of: errors))
    }

    private func end(_ outcome: Result<Void, any Error>) {
        fetchShareMetadataResultBlock?(outcome.ofWhole)
        completion?(outcome.error)
    }
}
