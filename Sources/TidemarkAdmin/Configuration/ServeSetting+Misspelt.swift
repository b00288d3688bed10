// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

extension ServeSetting {
    private static let prefix = "TIDEMARK_"
    /// Variables of other commands and scripts, with names near to those of settings.
    private static let otherVariables: Set<String> = [
        "ASSETS", "CA", "CERTIFICATES", "CONFIG", "CONTAINER", "CONTEXT", "CREDENTIAL_FILE", "ENVIRONMENT", "KEY_FILE",
        "TOKEN", "URL",
    ]

    /// Variables that are no settings, with the setting that each probably means. One that is near to none is of another use.
    package static func misspelt(in variables: [String: String]) -> [String] {
        let names = all.map { String($0.variable.dropFirst(prefix.count)) }
        let known = otherVariables.union(names)
        return variables.keys.filter { $0.hasPrefix(prefix) }.sorted().compactMap { variable in
            let name = String(variable.dropFirst(prefix.count))
            guard !known.contains(name), let nearest = NearestName.of(name, among: names) else { return nil }
            return "\(shown(variable)) is no setting. Did you mean \(prefix)\(nearest)?"
        }
    }
}
