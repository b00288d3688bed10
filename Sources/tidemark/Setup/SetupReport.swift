// SPDX-License-Identifier: Apache-2.0

/// What a run of `tidemark setup` made, and what it found.
struct SetupReport {
    private var lines: [String] = []
    private var warnings: [String] = []
    private(set) var isChange = false

    mutating func note(_ what: String, isNew: Bool) {
        lines.append(isNew ? "made \(what)" : "\(what): there already")
        if isNew { isChange = true }
    }

    mutating func warn(_ text: String) { warnings.append(text) }

    var text: String {
        (lines + (isChange ? [] : ["Nothing was changed."]) + warnings).map { $0 + "\n" }.joined()
    }
}
