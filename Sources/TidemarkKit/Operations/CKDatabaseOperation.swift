// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Work for one database.
open class CKDatabaseOperation: CKOperation, @unchecked Sendable {
    private let target = Locked<CKDatabase?>(nil)
    /// The deadline of the whole work, on the clock of the database's connection; nil before the first request.
    private let deadline = Locked<Duration?>(nil)

    /// The database to work on; nil: the private one of the configuration's container, or of the default one.
    public var database: CKDatabase? {
        get { target.withLock { $0 } }
        set { target.withLock { $0 = newValue } }
    }

    /// The requests of the database, with this operation's configuration.
    var cloud: CloudDatabase {
        get throws(CKError) {
            let configuration = effectiveConfiguration
            let database = database ?? (configuration.container ?? CKContainer.default()).privateCloudDatabase
            var cloud = try database.cloud(
                with: configuration, group: group, qualityOfService: effectiveQualityOfService)
            cloud.reportExecutor = executor
            // one deadline for all requests of all pages.
            cloud.deadline = deadline.withLock { deadline in
                let first = deadline ?? cloud.deadline
                deadline = first
                return first
            }
            return cloud
        }
    }

    /// Calls `body` with the requests of the database. A cancelled operation fails before it begins.
    func withCloud<Value>(
        _ body: (CloudDatabase) async throws(CKError) -> Value
    ) async -> Result<Value, CKError> {
        do throws(CKError) {
            guard !isCancelled else { throw CKError(.operationCancelled) }
            return .success(try await body(cloud))
        } catch {
            return .failure(error)
        }
    }
}

extension CKOperation {
    /// `partialFailure` with the errors of the items that failed, success if none did: for blocks of the older
    /// form. For a cancelled operation: that it was cancelled.
    func outcome(of errors: [AnyHashable: any Error]) -> Result<Void, any Error> {
        if isCancelled { return .failure(CKError(.operationCancelled)) }
        return errors.isEmpty ? .success(()) : .failure(CKError(partialErrors: errors))
    }
}

extension Result where Success == Void, Failure == any Error {
    /// For result blocks: the blocks of the items have told the errors of items. They are not told again as
    /// `partialFailure`.
    var ofWhole: Self {
        if case .failure(let error) = self, (error as? CKError)?.code == .partialFailure { return .success(()) }
        return self
    }
}

extension Result {
    /// For blocks of the older form, which take an optional error.
    var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension Result where Failure == CKError {
    /// For blocks, which take any error.
    var erased: Result<Success, any Error> { mapError { $0 } }
}
