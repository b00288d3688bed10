// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import Synchronization

/// An app's data on a server: a public, a private and a shared database.
public class CKContainer: NSObject, @unchecked Sendable {
    private let identifier: String
    package let context: CloudContext
    /// The settings from ``configuredWith(configuration:group:body:)``; nil for the defaults.
    private let configuration: CKOperation.Configuration?
    /// The group for added operations that have none.
    private let group: CKOperationGroup?
    private let operations = OperationQueue()
    private let databases: Mutex<[CKDatabase.Scope: WeakDatabase]> = Mutex([:])

    /// A database retains its container, and not the other way round, so that both are freed when nobody uses them.
    private struct WeakDatabase {
        weak var object: CKDatabase?
    }

    /// The container of that name, on the server in its configuration.
    public required convenience init(identifier containerIdentifier: String) {
        self.init(context: CloudContext.shared(for: containerIdentifier))
    }

    /// A container with another transport than its configuration says.
    package init(
        context: CloudContext, configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil
    ) {
        identifier = context.containerIdentifier
        self.context = context
        self.configuration = configuration
        self.group = group
        super.init()
    }

    private static let defaultContainer = CKContainer(
        identifier: TidemarkConfiguration.current.defaultContainerIdentifier)

    /// The container of `TIDEMARK_CONTAINER` or of the configuration. Always the same object.
    public class func `default`() -> CKContainer {
        defaultContainer
    }

    /// The identifier with which the container was made.
    public var containerIdentifier: String? { identifier }

    /// The current user's own data.
    public var privateCloudDatabase: CKDatabase { database(with: .private) }

    /// Data that all users of the app share.
    public var publicCloudDatabase: CKDatabase { database(with: .public) }

    /// Data that other users have shared with the current one.
    public var sharedCloudDatabase: CKDatabase { database(with: .shared) }

    /// One of the three databases. The same object each time, as long as anybody holds it.
    public func database(with databaseScope: CKDatabase.Scope) -> CKDatabase {
        databases.withLock { databases in
            if let database = databases[databaseScope]?.object { return database }
            let database = CKDatabase(
                container: self, scope: databaseScope, configuration: configuration, group: group)
            databases[databaseScope] = WeakDatabase(object: database)
            return database
        }
    }

    /// Runs the operation for this container. A database operation without a database works on this container's private
    /// one.
    public func add(_ operation: CKOperation) {
        let own = CKOperation.Configuration()
        own.container = self
        operation.configuration = own.merged(over: operation.configuration).merged(over: configuration)
        operation.group = operation.group ?? group
        if let operation = operation as? CKDatabaseOperation, operation.database == nil {
            operation.database = privateCloudDatabase
        }
        operations.addOperation(operation)
    }

    /// Passes `body` this container with other settings, for its databases' calls and for operations that are added to
    /// it. This object does not change.
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: (CKContainer) throws -> R
    ) rethrows -> R {
        try body(configured(configuration, group))
    }

    /// Passes `body` this container with other settings. This object does not change.
    @discardableResult
    @preconcurrency
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: @Sendable (CKContainer) async throws -> R
    ) async rethrows -> R {
        try await body(configured(configuration, group))
    }

    private func configured(_ configuration: CKOperation.Configuration?, _ group: CKOperationGroup?) -> CKContainer {
        // Without the group's defaults: they come last, and an operation may belong to another group.
        let own = (configuration ?? CKOperation.Configuration()).merged(over: self.configuration)
        return CKContainer(context: context, configuration: own, group: group ?? self.group)
    }

    /// The user who is signed in according to the server; an empty name without an account. It may take as long as
    /// ``configuredWith(configuration:group:body:)`` allows.
    func identify() async throws(CKError) -> String {
        let settings = (configuration ?? CKOperation.Configuration()).merged(over: group?.defaultConfiguration)
        return try await context.connection.identify(timeout: min(settings.requestTimeout, settings.resourceTimeout))
    }
}
