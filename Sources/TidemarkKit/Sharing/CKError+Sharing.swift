// SPDX-License-Identifier: Apache-2.0

extension CKError {
    /// What every request about shares fails with: servers of this version have none. `serverRejectedRequest` is CloudKit's
    /// code for a request that will not be better for being sent again, and engines leave it to the app.
    static let sharingUnavailable = CKError(
        .serverRejectedRequest, text: "This version of Tidemark does not share records yet: no server keeps shares.")
}

extension CKContainer {
    /// What a request about shares fails with: without an account, that there is none.
    var sharingRefusal: CKError { context.absence.map(CKError.noAccount) ?? .sharingUnavailable }
}

extension CKOperation {
    /// What comes of an operation that asks a server about so many shares or people: nothing to do succeeds.
    func sharingOutcome(itemCount: Int) -> Result<Void, any Error> {
        if isCancelled { return .failure(CKError(.operationCancelled)) }
        guard itemCount > 0 else { return .success(()) }
        return .failure((effectiveConfiguration.container ?? .default()).sharingRefusal)
    }
}
