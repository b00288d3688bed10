// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A program of PostgreSQL's that works on a server and then ends, such as `pg_dump`.
///
/// A newer one works with an older server, and not the reverse. `pg_restore` of 17 and later is an exception.
package struct PostgresTool: Sendable, Equatable {
    package let name: String
    package let path: String
    /// The major version of the program.
    package let major: Int

    init(name: String, path: String, major: Int) {
        (self.name, self.path, self.major) = (name, path, major)
    }

    /// Finds the program: only in the directory that the caller or the environment names, if any. Otherwise of all that
    /// are installed, the oldest that is new enough: that of the server's own version, if it is there.
    ///
    /// - Parameters:
    ///   - major: the version that it must have at least.
    ///   - binaries: the directory of PostgreSQL's programs.
    /// - Throws: ``LocalPostgresError`` with `toolNotFound`.
    package static func find(
        _ name: String, atLeast major: Int, binaries: String? = nil
    ) throws(LocalPostgresError) -> PostgresTool {
        let named = binaries ?? ProcessEnvironment.value(PostgresBinaries.environmentVariable)
        let directories = named.flatMap { $0.isEmpty ? nil : [$0] } ?? PostgresBinaries.directories
        let tools = directories.compactMap { tool(name, in: $0) }
        guard let best = best(of: tools, atLeast: major) else { throw missing(name, atLeast: major, among: tools) }
        return best
    }

    /// The oldest that is new enough; of equal ones the first.
    static func best(of tools: [PostgresTool], atLeast major: Int) -> PostgresTool? {
        var best: PostgresTool?
        for tool in tools where tool.major >= major && tool.major < best?.major ?? .max { best = tool }
        return best
    }

    private static func tool(_ name: String, in directory: String) -> PostgresTool? {
        let path = "\(directory)/\(name)"
        guard access(path, X_OK) == 0,
            let text = try? ChildProcess.output(of: path, arguments: ["--version"]), let major = major(of: text)
        else { return nil }
        return PostgresTool(name: name, path: path, major: major)
    }

    /// The number in `pg_dump (PostgreSQL) 15.6 (Debian 15.6-0+deb12u1)`, or `16beta1`, or `17devel`.
    static func major(of text: String) -> Int? {
        guard let start = text.firstRange(of: "(PostgreSQL) ")?.upperBound else { return nil }
        let digits = text[start...].prefix { ("0"..."9").contains($0) }
        return Int(digits)
    }

    private static func missing(
        _ name: String, atLeast major: Int, among tools: [PostgresTool]
    ) -> LocalPostgresError {
        let newest = tools.map(\.major).max()
        let state =
            newest.map { "\(name) is of PostgreSQL \($0) here, and \(major) or later is needed." }
            ?? "\(name) was not found, and that of PostgreSQL \(major) or later is needed."
        return LocalPostgresError(
            .toolNotFound,
            "\(state) Install the package postgresql-client-\(major), or name the directory of PostgreSQL's programs in "
                + "\(PostgresBinaries.environmentVariable).")
    }
}
