// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// One of a container's three databases.
public class CKDatabase: NSObject, @unchecked Sendable {
    package let container: CKContainer
    package let scope: Scope

    package init(container: CKContainer, scope: Scope) {
        self.container = container
        self.scope = scope
        super.init()
    }

    /// Which of the three this is.
    public var databaseScope: CKDatabase.Scope { scope }
}
