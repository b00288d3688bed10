// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// An app's data on a server: one public database, and for each user a private and a shared one.
public class CKContainer: NSObject, @unchecked Sendable {
    package let identifier: String?

    /// The container of that name.
    public init(identifier containerIdentifier: String) {
        identifier = containerIdentifier
        super.init()
    }

    /// The container's name, such as `iCloud.com.example.app`.
    public var containerIdentifier: String? { identifier }
}
