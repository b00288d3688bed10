// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// One of a container's three databases.
public class CKDatabase: NSObject, @unchecked Sendable {
    package let container: CKContainer
    package let scope: Scope
    /// The settings from ``configuredWith(configuration:group:body:)``; nil for the defaults.
    private let configuration: CKOperation.Configuration?
    /// The group for added operations that have none.
    private let group: CKOperationGroup?
    private let operations = OperationQueue()

    package init(
        container: CKContainer, scope: Scope, configuration: CKOperation.Configuration? = nil,
        group: CKOperationGroup? = nil
    ) {
        self.container = container
        self.scope = scope
        self.configuration = configuration
        self.group = group
        super.init()
    }

    /// The requests of this database. Without an account, there are no requests for private and shared data.
    var cloud: CloudDatabase {
        get throws(CKError) {
            let configuration = (configuration ?? CKOperation.Configuration()).merged(over: group?.defaultConfiguration)
            return try cloud(
                with: configuration, group: group, qualityOfService: configuration.qualityOfService)
        }
    }

    /// The requests of this database, with a configuration. The time for all of them begins now.
    ///
    /// - Parameters:
    ///   - group: the operation's group, for the server's log.
    ///   - qualityOfService: the operation's own, or else the configuration's.
    func cloud(
        with configuration: CKOperation.Configuration, group: CKOperationGroup?, qualityOfService: QualityOfService
    ) throws(CKError) -> CloudDatabase {
        if scope != .public, let absence = container.context.absence { throw CKError.noAccount(absence) }
        var cloud = container.context.database(scope)
        cloud.group = group
        cloud.timeout = configuration.requestTimeout
        cloud.deadline = cloud.connection.now + configuration.resourceTimeout
        cloud.isPatient = qualityOfService == .utility || qualityOfService == .background
        return cloud
    }

    /// Which of the three databases this is.
    public var databaseScope: CKDatabase.Scope { scope }

    // MARK: Operations

    /// Runs the operation on this database.
    public func add(_ operation: CKDatabaseOperation) {
        operation.database = self
        operation.group = operation.group ?? group
        if let configuration { operation.configuration = operation.configuration.merged(over: configuration) }
        operations.addOperation(operation)
    }

    /// Passes `body` this database with other settings. This object does not change.
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: (CKDatabase) throws -> R
    ) rethrows -> R {
        try body(configured(configuration, group))
    }

    /// Passes `body` this database with other settings. This object does not change.
    @discardableResult
    @preconcurrency
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: @Sendable (CKDatabase) async throws -> R
    ) async rethrows -> R {
        try await body(configured(configuration, group))
    }

    private func configured(_ configuration: CKOperation.Configuration?, _ group: CKOperationGroup?) -> CKDatabase {
        // Without the group's defaults: they come last, and an operation may belong to another group.
        let own = (configuration ?? CKOperation.Configuration()).merged(over: self.configuration)
        return CKDatabase(container: container, scope: scope, configuration: own, group: group ?? self.group)
    }
}
