// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A piece of work for a server, to be added to a queue, a container or a database.
public class CKOperation: Operation, @unchecked Sendable {
    /// Names an operation in logs.
    public typealias ID = String

    /// This operation's name: new for each.
    public let operationID: CKOperation.ID = UUID().uuidString

    private let settings = Locked((configuration: Configuration(), group: CKOperationGroup?.none))

    /// An operation with the default configuration.
    public override init() {
        super.init()
    }

    /// How the work is to be done. Nil sets the default.
    public var configuration: CKOperation.Configuration! {
        get { settings.withLock { $0.configuration } }
        set { settings.withLock { $0.configuration = newValue ?? Configuration() } }
    }

    /// The operations that this one belongs to.
    public var group: CKOperationGroup? {
        get { settings.withLock { $0.group } }
        set { settings.withLock { $0.group = newValue } }
    }
}
