// SPDX-License-Identifier: Apache-2.0

/// One of a container's three databases (R-004; raw values are CloudKit's).
package enum DatabaseScope: Int16, Sendable {
    case `public` = 1
    case `private` = 2
    case shared = 3
}

/// Development or production: fully separate data. Raw values are stored.
package enum ContainerEnvironment: Int16, Sendable {
    case development = 1
    case production = 2
}
