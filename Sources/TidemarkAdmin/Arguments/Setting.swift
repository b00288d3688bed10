// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A setting from an option, or if that is absent, from the environment variable of the same name: `--log-level` is also
/// `TIDEMARK_LOG_LEVEL`.
package enum Setting {
    /// The environment variable of an option.
    package static func variable(of flag: String) -> String {
        "TIDEMARK_" + flag.drop { $0 == "-" }.uppercased().replacing("-", with: "_")
    }

    /// - Throws: ``AdminFailure``, with a text that names both, if neither is set.
    package static func required(_ option: String?, _ flag: String) throws(AdminFailure) -> String {
        guard let value = optional(option, flag) else {
            throw AdminFailure(.usage, "Missing \(flag): give it, or set \(variable(of: flag)).")
        }
        return value
    }

    /// An empty variable counts as absent.
    package static func optional(_ option: String?, _ flag: String) -> String? {
        if let option { return option }
        guard let value = ProcessInfo.processInfo.environment[variable(of: flag)], !value.isEmpty else { return nil }
        return value
    }

    package static func number(
        _ option: Int?, _ flag: String, default standard: Int, in range: ClosedRange<Int>
    ) throws(AdminFailure) -> Int {
        let value: Int
        if let option {
            value = option
        } else if let text = optional(nil, flag) {
            guard let number = Int(text) else {
                throw AdminFailure(.usage, "\(variable(of: flag)) must be a number, not \(text).")
            }
            value = number
        } else {
            value = standard
        }
        guard range.contains(value) else {
            throw AdminFailure(
                .usage, "\(flag) must be between \(range.lowerBound) and \(range.upperBound), not \(value).")
        }
        return value
    }

    /// `1`, `true`, `yes` and `on` are true. Unset and any other value are false.
    package static func flag(_ option: Bool, _ flag: String) -> Bool {
        option || ["1", "true", "yes", "on"].contains(optional(nil, flag)?.lowercased() ?? "")
    }
}
