// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The file of contexts, which only its owner can read: `$XDG_CONFIG_HOME/tidemark/contexts.json`, or in `~/.config`.
package struct ContextFile: Sendable {
    /// Nil: there is no home.
    package let path: String?

    /// - Parameter variables: of the environment.
    package init(variables: [String: String]) {
        // XDG Base Directory Specification: a relative path is invalid and counts as unset.
        if let home = variables["XDG_CONFIG_HOME"], home.hasPrefix("/") {
            path = "\(home)/tidemark/contexts.json"
        } else if let home = variables["HOME"], home.hasPrefix("/") {
            path = "\(home)/.config/tidemark/contexts.json"
        } else {
            path = nil
        }
    }

    /// Empty if there is no file.
    ///
    /// - Throws: ``AdminFailure`` if it holds anything else.
    package func read() throws(AdminFailure) -> ContextList {
        try file.read(ContextList.self) ?? ContextList()
    }

    private var file: OwnJSONFile {
        OwnJSONFile(path: path, content: "contexts", remedy: "add them again: tidemark admin context add")
    }

    /// Changes the contexts. Other programs wait meanwhile, and see the file before or after it.
    package func change<Value>(_ body: (inout ContextList) throws(AdminFailure) -> Value) throws(AdminFailure) -> Value
    {
        let path = try file.makeFolder()
        let lock = open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0, flock(lock, LOCK_EX) == 0 else {
            if lock >= 0 { close(lock) }
            throw AdminFailure(.refused, "The contexts in \(path) cannot be locked. Check who may write there.")
        }
        defer { close(lock) }
        var list = try read()
        let value = try body(&list)
        try file.write(list, to: path)
        return value
    }
}
