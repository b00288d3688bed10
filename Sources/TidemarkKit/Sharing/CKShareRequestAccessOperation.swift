// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Asks the owners of shares for access: ``CKContainer/requestShareAccess(for:)`` as an operation.
open class CKShareRequestAccessOperation: CKOperation, @unchecked Sendable {
    /// The URLs of the shares.
    public final var shareURLs: [URL]?

    /// The result for each URL. It is a success alike whether there is such a share and whether it takes the request.
    public final var perShareAccessRequestResultBlock: ((URL, Result<Void, any Error>) -> Void)?
    /// The result of the operation: success if the server was asked, whatever became of single URLs.
    public final var shareAccessRequestResultBlock: ((Result<Void, any Error>) -> Void)?

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
        switch await withContainerCloud({ cloud throws(CKError) in try await cloud.requestAccess(to: urls) }) {
        case .failure(let error): end(.failure(error))
        case .success(let results): tell(results, urls)
        }
    }

    private func tell(_ results: [URL: Result<Void, CKError>], _ urls: [URL]) {
        var errors: [AnyHashable: any Error] = [:]
        var remaining = results
        for url in urls where !isCancelled {
            guard let result = remaining.removeValue(forKey: url) else { continue }
            errors[url] = result.error
            perShareAccessRequestResultBlock?(url, result.erased)
        }
        end(outcome(of: errors))
    }

    private func end(_ outcome: Result<Void, any Error>) {
        shareAccessRequestResultBlock?(outcome.ofWhole)
    }
}
