// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Joins shares. When it ends, their zones are in the shared database.
open class CKAcceptSharesOperation: CKOperation, @unchecked Sendable {
    /// The shares to join.
    public final var shareMetadatas: [CKShare.Metadata]?

    /// Each joined share, or why it was not joined.
    public final var perShareResultBlock: ((CKShare.Metadata, Result<CKShare, any Error>) -> Void)?
    /// The result of the operation: success if the server was asked, whatever became of single shares.
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
        let metadatas = shareMetadatas ?? []
        guard !metadatas.isEmpty else { return end(outcome(of: [:])) }
        switch await withContainerCloud({ cloud throws(CKError) in try await cloud.acceptShares(metadatas) }) {
        case .failure(let error): end(.failure(error))
        case .success(let results): tell(results, metadatas)
        }
    }

    private func tell(_ results: [CKShare.Metadata: Result<CKShare, CKError>], _ metadatas: [CKShare.Metadata]) {
        var errors: [AnyHashable: any Error] = [:]
        var remaining = results
        for metadata in metadatas where !isCancelled {
            guard let result = remaining.removeValue(forKey: metadata) else { continue }
            errors[metadata] = result.error
            perItem?(metadata, try? result.get(), result.error)
            perShareResultBlock?(metadata, result.erased)
        }
        end(outcome(of: errors))
    }

    private func end(_ outcome: Result<Void, any Error>) {
        acceptSharesResultBlock?(outcome.ofWhole)
        completion?(outcome.error)
    }
}
