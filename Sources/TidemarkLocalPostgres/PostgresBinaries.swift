// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The directory with PostgreSQL's server programs.
struct PostgresBinaries {
    /// The variable that names the directory if no flag does.
    static let environmentVariable = "TIDEMARK_POSTGRES_BINARIES"

    let directory: String

    var initdb: String { directory + "/initdb" }
    var postgres: String { directory + "/postgres" }

    /// Finds the programs: only in the directory that the caller or the environment names, if any. Otherwise where
    /// `pg_config` says, in the newest of Debian's directories, and last in `PATH`, where Debian does not put them.
    static func find(explicit: String?) throws(LocalPostgresError) -> PostgresBinaries {
        if let named = explicit ?? ProcessEnvironment.value(environmentVariable), !named.isEmpty {
            if isComplete(named) { return PostgresBinaries(directory: named) }
            throw LocalPostgresError(
                .binariesNotFound, "\(named) does not have both initdb and postgres. Name another directory.")
        }
        guard let found = directories.first(where: isComplete) else {
            throw LocalPostgresError(
                .binariesNotFound,
                "PostgreSQL's server programs were not found. Run deploy/setup, or install the package postgresql, or "
                    + "name their directory in \(environmentVariable).")
        }
        return PostgresBinaries(directory: found)
    }

    private static func isComplete(_ directory: String) -> Bool {
        access(directory + "/initdb", X_OK) == 0 && access(directory + "/postgres", X_OK) == 0
    }

    /// The directories in which programs of PostgreSQL may be, each version's own before those of `PATH`.
    static var directories: [String] {
        let searchPath = (ProcessEnvironment.value("PATH") ?? "/usr/bin:/bin").split(separator: ":").map(String.init)
        return [configured(searchPath)].compactMap { $0 } + versioned() + searchPath
    }

    private static func configured(_ searchPath: [String]) -> String? {
        let programs = searchPath.map { $0 + "/pg_config" }
        guard let program = programs.first(where: { access($0, X_OK) == 0 }),
            let output = try? ChildProcess.output(of: program, arguments: ["--bindir"])
        else { return nil }
        return output.split(separator: "\n").first.map(String.init)
    }

    /// Debian's `/usr/lib/postgresql/VERSION/bin`, the highest version first.
    private static func versioned() -> [String] {
        let root = "/usr/lib/postgresql"
        return Directory.names(in: root).compactMap(Int.init).sorted(by: >).map { "\(root)/\($0)/bin" }
    }
}

/// The process's own environment.
enum ProcessEnvironment {
    static func value(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
