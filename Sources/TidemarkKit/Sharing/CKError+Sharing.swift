// SPDX-License-Identifier: Apache-2.0

extension CKError {
    /// The error of every request about shares: servers of this version have none. `serverRejectedRequest` is
    /// CloudKit's code for a request that will fail again however often it is sent, and engines leave it to the app
    ///
    static let sharingUnavailable = CKError(
        .serverRejectedRequest, text: "This version of Tidemark does not share records yet: no server keeps shares.")
}

extension CKContainer {
    /// The error of a request about shares. Without an account: that there is none.
    var sharingRefusal: CKError { context.absence.map(CKError.noAccount) ?? .sharingUnavailable }
}

extension CKOperation {
    /// The result of an operation about this many shares or people. An operation with nothing to do succeeds.
    func sharingOutcome(itemCount: Int) -> Result<Void, any Error> {
        if isCancelled { return .failure(CKError(.operationCancelled)) }
        guard itemCount > 0 else { return .success(()) }
        return .failure((effectiveConfiguration.container ?? .default()).sharingRefusal)
    }
}
