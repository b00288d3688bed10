// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import Synchronization

/// An app's data on a server: a public, a private and a shared database.
public class CKContainer: NSObject, @unchecked Sendable {
    private let identifier: String
    package let context: CloudContext
    private let operations = OperationQueue()
    private let databases: Mutex<[CKDatabase.Scope: CKDatabase]> = Mutex([:])

    /// The container of that name, on the server of `TidemarkConfiguration.current`.
    public convenience init(identifier containerIdentifier: String) {
        self.init(context: CloudContext.shared(for: containerIdentifier))
    }

    /// A container that is reached in another way than the configuration says: tests, simulations.
    package init(context: CloudContext) {
        identifier = context.containerIdentifier
        self.context = context
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

    /// One of the three; the same object each time.
    public func database(with databaseScope: CKDatabase.Scope) -> CKDatabase {
        databases.withLock { databases in
            if let database = databases[databaseScope] { return database }
            let database = CKDatabase(container: self, scope: databaseScope)
            databases[databaseScope] = database
            return database
        }
    }

    /// Does the operation; one for a database that names none works on this container's private database.
    public func add(_ operation: CKOperation) {
        if let operation = operation as? CKDatabaseOperation, operation.database == nil {
            operation.database = privateCloudDatabase
        }
        operations.addOperation(operation)
    }
}
