// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// The settings of this process: from options, or if these are absent, from environment variables or the settings file.
/// `--log-level` is also `TIDEMARK_LOG_LEVEL` and `log-level` in the file. The first of the three that is there counts.
package enum Setting {
    private static let file = Mutex<SettingsFile?>(nil)

    /// Call it where a program begins that has a settings file.
    package static func use(_ settings: SettingsFile?) { file.withLock { $0 = settings } }

    private static var sources: SettingSources {
        SettingSources(variables: ProcessInfo.processInfo.environment, file: file.withLock { $0 })
    }

    /// The environment variable of an option.
    package static func variable(of flag: String) -> String {
        "TIDEMARK_" + flag.drop { $0 == "-" }.uppercased().replacing("-", with: "_")
    }

    /// - Throws: ``AdminFailure``, with a text that names both, if neither is set.
    package static func required(_ option: String?, _ flag: String) throws(AdminFailure) -> String {
        guard let value = try optional(option, flag) else {
            throw AdminFailure(.usage, "Missing \(flag): give it, or set \(variable(of: flag)).")
        }
        return value
    }

    /// An empty variable counts as absent.
    package static func optional(_ option: String?, _ flag: String) throws(AdminFailure) -> String? {
        try sources.find(option, ServeSetting(flag: flag))?.text
    }

    /// - Parameter range: narrower bounds than those of the list, if others of the settings narrow them.
    package static func number(
        _ option: Int?, _ flag: String, default standard: Int, in range: ClosedRange<Int>? = nil
    ) throws(AdminFailure) -> Int {
        try sources.number(option, ServeSetting(flag: flag), default: standard, in: range)
    }

    /// In the environment, `1`, `true`, `yes` and `on` are true. `0`, `false`, `no` and `off` are false.
    package static func flag(_ option: Bool, _ flag: String) throws(AdminFailure) -> Bool {
        try sources.flag(option, ServeSetting(flag: flag))
    }

    /// The values of an option that may be repeated. Elsewhere, several are separated by commas.
    package static func list(_ options: [String], _ flag: String) throws(AdminFailure) -> [String] {
        let joined = options.isEmpty ? nil : options.joined(separator: ",")
        return ServeSetting.parts(of: try optional(joined, flag) ?? "")
    }
}

extension ServeSetting {
    fileprivate init(flag: String) { self = .named(String(flag.dropFirst(2))) }
}
