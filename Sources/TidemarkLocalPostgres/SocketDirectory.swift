// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The private directory of PostgreSQL's Unix socket. Its path is short, because a socket's path has at most 107 bytes.
/// Only its owner can open it, because everybody who reaches the socket is trusted.
struct SocketDirectory {
    let path: String
    /// A symbolic link to it in the home of the server. A start after a crash uses the directory again, and /tmp stays
    /// clean.
    private let link: String

    static let linkName = "run"
    /// sockaddr_un(7): 108 bytes with the zero at the end. `/.s.PGSQL.5432` follows the directory.
    private static let pathBytesMax = 107 - "/.s.PGSQL.5432".utf8.count

    static func prepare(home: String, user: PostgresUser) throws(LocalPostgresError) -> SocketDirectory {
        let link = home + "/" + linkName
        if let path = Directory.target(ofLink: link), isPrivate(path, of: user) {
            return SocketDirectory(path: path, link: link)
        }
        let path = try create(for: user)
        unlink(link)
        guard symlink(path, link) == 0 else {
            let text = systemErrorText()
            rmdir(path)
            throw LocalPostgresError(
                .directoryNotUsable, "\(home) cannot be written. Choose another one.", detail: text)
        }
        return SocketDirectory(path: path, link: link)
    }

    func remove() {
        for name in [".s.PGSQL.5432", ".s.PGSQL.5432.lock"] { unlink(path + "/" + name) }
        rmdir(path)
        unlink(link)
    }

    private static func isPrivate(_ path: String, of user: PostgresUser) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_mode & 0o077 == 0
            && status.st_uid == user.id
    }

    private static func create(for user: PostgresUser) throws(LocalPostgresError) -> String {
        let runtime = user.isSwitchNeeded ? nil : ProcessEnvironment.value("XDG_RUNTIME_DIR")
        let parents = [runtime, "/tmp"].compactMap { $0 }
        for parent in parents where parent.hasPrefix("/") {
            var template = Array("\(parent)/tidemark-XXXXXX".utf8CString)
            guard template.count - 1 <= pathBytesMax, mkdtemp(&template) != nil else { continue }
            let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
            if !user.isSwitchNeeded || chown(path, user.id, user.group) == 0 { return path }
            rmdir(path)
        }
        throw LocalPostgresError(
            .directoryNotUsable,
            "No directory for PostgreSQL's socket can be made in \(parents.joined(separator: ", ")). Check who may write there.",
            detail: systemErrorText())
    }
}
