// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A setting from an option, or if that is absent, from an environment variable.
enum Setting {
    static let databaseURL = "TIDEMARK_DATABASE_URL"

    /// - Throws: ``CommandError``, with a text that names both, if neither is set.
    static func required(_ option: String?, _ flag: String, _ variable: String) throws(CommandError) -> String {
        guard let value = optional(option, variable) else {
            throw CommandError("Missing \(flag): give it, or set \(variable).")
        }
        return value
    }

    /// An empty variable counts as absent.
    static func optional(_ option: String?, _ variable: String) -> String? {
        if let option { return option }
        guard let value = ProcessInfo.processInfo.environment[variable], !value.isEmpty else { return nil }
        return value
    }

    static func number(
        _ option: Int?, _ flag: String, _ variable: String, default standard: Int, in range: ClosedRange<Int>
    ) throws(CommandError) -> Int {
        let value: Int
        if let option {
            value = option
        } else if let text = optional(nil, variable) {
            guard let number = Int(text) else { throw CommandError("\(variable) must be a number, not \(text).") }
            value = number
        } else {
            value = standard
        }
        guard range.contains(value) else {
            throw CommandError("\(flag) must be between \(range.lowerBound) and \(range.upperBound), not \(value).")
        }
        return value
    }

    /// `1`, `true`, `yes` and `on` are true. Unset and any other value are false.
    static func flag(_ option: Bool, _ variable: String) -> Bool {
        option || ["1", "true", "yes", "on"].contains(optional(nil, variable)?.lowercased() ?? "")
    }
}
