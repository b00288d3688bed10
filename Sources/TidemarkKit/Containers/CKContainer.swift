// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import Synchronization

/// An app's data on a server: a public, a private and a shared database.
public class CKContainer: NSObject, @unchecked Sendable {
    private let identifier: String
    package let context: CloudContext
    /// What ``configuredWith(configuration:group:body:)`` gave it; nil: the defaults.
    private let configuration: CKOperation.Configuration?
    /// The group of operations that are added, if they have none.
    private let group: CKOperationGroup?
    private let operations = OperationQueue()
    private let databases: Mutex<[CKDatabase.Scope: WeakDatabase]> = Mutex([:])

    /// A database holds its container, and not the other way round, so that both go when nobody has them any more.
    private struct WeakDatabase {
        weak var object: CKDatabase?
    }

    /// The container of that name, on the server that its configuration names.
    public required convenience init(identifier containerIdentifier: String) {
        self.init(context: CloudContext.shared(for: containerIdentifier))
    }

    /// A container that is reached in another way than the configuration says: tests, simulations.
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

    /// The container that `TIDEMARK_CONTAINER` or the configuration names; the same object each time.
    public class func `default`() -> CKContainer {
        defaultContainer
    }

    /// As it was given when the container was made.
    public var containerIdentifier: String? { identifier }

    /// The current user's own data.
    public var privateCloudDatabase: CKDatabase { database(with: .private) }

    /// What all users of the app share.
    public var publicCloudDatabase: CKDatabase { database(with: .public) }

    /// What other users have shared with the current one.
    public var sharedCloudDatabase: CKDatabase { database(with: .shared) }

    /// One of the three; the same object each time, as long as anybody has it.
    public func database(with databaseScope: CKDatabase.Scope) -> CKDatabase {
        databases.withLock { databases in
            if let database = databases[databaseScope]?.object { return database }
            let database = CKDatabase(
                container: self, scope: databaseScope, configuration: configuration, group: group)
            databases[databaseScope] = WeakDatabase(object: database)
            return database
        }
    }

    /// Does the operation for this container; one for a database that names none works on this container's private
    /// database.
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

    /// Hands `body` this container with other settings: those of its databases' calls, and of operations that are added to
    /// it. This one is left as it is.
    @discardableResult
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: (CKContainer) throws -> R
    ) rethrows -> R {
        try body(configured(configuration, group))
    }

    /// Hands `body` this container with other settings; this one is left as it is.
    @discardableResult
    @preconcurrency
    public func configuredWith<R>(
        configuration: CKOperation.Configuration? = nil, group: CKOperationGroup? = nil,
        body: @Sendable (CKContainer) async throws -> R
    ) async rethrows -> R {
        try await body(configured(configuration, group))
    }

    private func configured(_ configuration: CKOperation.Configuration?, _ group: CKOperationGroup?) -> CKContainer {
        // Without the group's defaults: they come last, and an operation may be of another group.
        let own = (configuration ?? CKOperation.Configuration()).merged(over: self.configuration)
        return CKContainer(context: context, configuration: own, group: group ?? self.group)
    }

    /// Who is signed in, as the server says; an empty name without an account. As ``configuredWith(configuration:group:body:)``
    /// gave the time for it.
    func identify() async throws(CKError) -> String {
        let settings = (configuration ?? CKOperation.Configuration()).merged(over: group?.defaultConfiguration)
        return try await context.connection.identify(timeout: min(settings.requestTimeout, settings.resourceTimeout))
    }
}
