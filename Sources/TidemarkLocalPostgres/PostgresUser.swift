// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The operating system's user that runs PostgreSQL, which refuses to run as root.
struct PostgresUser: Equatable {
    /// The user for a new data directory if this process is root. Debian's package creates this user.
    static let nameForRoot = "postgres"

    let id: uid_t
    let group: gid_t

    /// The user of this process.
    static var current: PostgresUser { PostgresUser(id: geteuid(), group: getegid()) }

    var isSwitchNeeded: Bool { id != geteuid() }

    /// The user for a new data directory.
    static func forNewData() throws(LocalPostgresError) -> PostgresUser {
        guard geteuid() == 0 else { return current }
        guard let entry = getpwnam(nameForRoot) else {
            throw LocalPostgresError(
                .userNotFound,
                "PostgreSQL does not run as root, and there is no user \(nameForRoot) to run it as. Run deploy/setup.")
        }
        return PostgresUser(id: entry.pointee.pw_uid, group: entry.pointee.pw_gid)
    }

    /// The user for the data in `path`: its owner.
    static func ofData(at path: String) throws(LocalPostgresError) -> PostgresUser {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw LocalPostgresError(.directoryNotUsable, "\(path) cannot be read.", detail: systemErrorText())
        }
        let owner = PostgresUser(id: status.st_uid, group: status.st_gid)
        guard owner.id != 0, !owner.isSwitchNeeded || geteuid() == 0 else {
            throw LocalPostgresError(
                .directoryNotUsable,
                "\(path) belongs to another user. Start as that user, or choose another data directory.")
        }
        return owner
    }
}

/// The text of this thread's errno.
func systemErrorText() -> String {
    String(cString: strerror(errno))
}
