// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Whether the user's private and shared data can be reached.
public enum CKAccountStatus: Int, Sendable {
    /// No credential is configured, or the server could not be reached. Nobody has signed out.
    case couldNotDetermine = 0
    /// There is an account and it works.
    case available = 1
    /// The account may not be used here.
    case restricted = 2
    /// Somebody has signed out.
    case noAccount = 3
    /// The credentials have expired and have not been refreshed yet.
    case temporarilyUnavailable = 4
}

/// The name that stands for the current user, as a zone's owner and as a user record's name.
public let CKCurrentUserDefaultName = "__defaultOwner__"

/// The older name of ``CKCurrentUserDefaultName``.
@available(*, deprecated, renamed: "CKCurrentUserDefaultName")
public let CKOwnerDefaultName = CKCurrentUserDefaultName

extension NSNotification.Name {
    /// Posted when the account's status may have changed. Ask for it again.
    public static let CKAccountChanged = NSNotification.Name("CKAccountChangedNotification")
}
