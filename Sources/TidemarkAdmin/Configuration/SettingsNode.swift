// SPDX-License-Identifier: Apache-2.0

/// A place in a settings file. Lines and columns begin with 1.
struct FilePlace: Sendable, Equatable {
    let line: Int
    let column: Int

    static let start = FilePlace(line: 1, column: 1)
}

/// What is at one place of a settings file, before anybody knows what it means.
struct SettingsNode: Sendable, Equatable {
    /// What it is.
    indirect enum Content: Sendable, Equatable {
        /// - Parameter isQuoted: whether the file says that it is a text.
        case scalar(String, isQuoted: Bool)
        case list([SettingsNode])
        case map([Entry])
    }

    /// A key with its value.
    struct Entry: Sendable, Equatable {
        let key: SettingsNode
        let value: SettingsNode
    }

    let content: Content
    let place: FilePlace
}

/// What is wrong in a settings file.
struct SettingsProblem: Error, Sendable, Equatable {
    /// Nil: of the whole file.
    let place: FilePlace?
    /// One sentence on what is wrong, and what to do.
    let text: String

    /// As compilers say it: `FILE:LINE:COLUMN: TEXT`.
    func line(of path: String) -> String {
        place.map { "\(path):\($0.line):\($0.column): \(text)" } ?? "\(path): \(text)"
    }
}
